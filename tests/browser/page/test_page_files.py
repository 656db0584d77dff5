"""The page's files keep the promises that a strict content security policy and a slow line ask of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

STATIC = Path(__file__).parents[3] / "interviewer" / "web" / "static"
SCRIPTS = sorted(STATIC.glob("*.js"))
LIMIT = 150_000
"""Bytes of everything that the first load needs; a view that is imported when it is opened comes later."""


def first_load() -> set[Path]:
    """Return what the document names, and what that imports in turn."""
    found: set[Path] = set()
    waiting = [STATIC / "index.html"]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            names = re.findall(r'(?:from "\./|/static/)([\w.-]+)"', path.read_text(encoding="utf-8"))
            waiting += [STATIC / name for name in names]
    return found


def test_the_first_load_stays_small() -> None:
    loaded = first_load()
    assert {"index.html", "style.css", "app.js", "dom.js", "interview.js"} <= {path.name for path in loaded}
    assert sum(path.stat().st_size for path in loaded) < LIMIT


def test_the_document_has_no_inline_script_style_or_foreign_address() -> None:
    text = (STATIC / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<style|\sstyle=|\son\w+=|https?:", text)
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", text))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_never_writes_markup_or_runs_text(path: Path) -> None:
    code = re.sub(r"/\*.*?\*/|^\s*//.*$|^const FORBIDDEN.*$", "", path.read_text(encoding="utf-8"), flags=re.S | re.M)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", code)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_imports_only_its_neighbours(path: Path) -> None:
    for name in re.findall(r'from "([^"]+)"', path.read_text(encoding="utf-8")):
        assert name.startswith("./")
        assert (STATIC / name).is_file()
