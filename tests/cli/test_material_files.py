"""Resumes and job descriptions from files: text and PDF, and what is said where a file cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from interviewer.cli import app
from interviewer.material_files import MaterialError, read_material
from tests.adapters.pdfs import pdf


def test_text_and_pdf_are_read(tmp_path: Path) -> None:
    (tmp_path / "me.txt").write_text(" Led a team.\n", encoding="utf-8")
    (tmp_path / "me.pdf").write_bytes(pdf(["Led a team of 5"]))
    assert read_material(tmp_path / "me.txt") == "Led a team."
    assert read_material(tmp_path / "me.pdf") == "Led a team of 5"


@pytest.mark.parametrize(
    ("data", "says"),
    [(b"", "is empty"), (b"x" * 20_001, "at most 20000"), (b"\xff\xfe\x00", "neither UTF-8 text nor a PDF"),
     (b"%PDF-1.7 broken", "export it again")],
)  # fmt: skip
def test_a_file_that_cannot_be_used_says_why(tmp_path: Path, data: bytes, says: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(MaterialError, match=says):
        read_material(path)


def test_chat_stops_before_it_calls_anybody(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["chat", "--resume-file", str(tmp_path / "none.txt")])
    assert result.exit_code != 0 and "cannot be read" in " ".join(result.output.split())
