"""Whatever stands in a file, the loader returns a document or says what is wrong with it, in bounded time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interviewer.adapters.documents import MOST_BYTES, MOST_NESTED, DocumentError, load, packaged
from interviewer.core.rubric import Rubric, Vocabulary

BOUNDED = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
CRITERIA = (packaged("rubrics") / "criteria.yaml").read_bytes()[:6000]
PIECES = st.sampled_from(
    "a: ,- ,? ,: ,[,],{,},&a ,*a,!!int x,!!timestamp 0000-00-00,!!binary =,<<: ,|\n,>-\n,\n  ,\n,\t,---\n,...\n,"
    "%YAML 9.9\n,#,',\",\\,version: 1\n,criteria:\n,2001-99-99,.nan,.inf,0x,1e999,~,null,@,`,\x00,"
    "\ufeff,\u2028,é".split(",")
)


def outcome(path: Path, content: bytes) -> str | None:
    """Load ``content`` and return what is wrong with it; ``None`` when it is a document."""
    path.write_bytes(content)
    try:
        load(path, Vocabulary)
    except DocumentError as error:
        assert re.match(rf"{re.escape(str(path))}:\d+: .", str(error), re.DOTALL)
        return str(error)
    return None


@given(content=st.binary(max_size=400))
@BOUNDED
def test_any_bytes(tmp_path: Path, content: bytes) -> None:
    assert outcome(tmp_path / "any.yaml", content) is not None


@given(pieces=st.lists(PIECES, max_size=30))
@BOUNDED
def test_any_pieces_of_yaml(tmp_path: Path, pieces: list[str]) -> None:
    assert outcome(tmp_path / "any.yaml", "".join(pieces).encode()) is not None


@given(at=st.integers(0, len(CRITERIA) - 1), gone=st.integers(0, 40), put=st.binary(max_size=6))
@BOUNDED
def test_a_real_document_with_a_wound(tmp_path: Path, at: int, gone: int, put: bytes) -> None:
    outcome(tmp_path / "any.yaml", CRITERIA[:at] + put + CRITERIA[at + gone :])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"version: 2001-99-99\n", "not valid YAML"),
        (b"version: 2001-12-14t21:59:43.10-99:00\n", "not valid YAML"),
        (b"version: " + b"9" * 6000, "not valid YAML"),
        (b"version: !!float x\n", "not valid YAML"),
        (b"".join(b"  " * n + b"a:\n" for n in range(400)), "not valid YAML"),
        (b"a: 1\nb: " + b"[" * 500_000, f":2: brackets within brackets, more than {MOST_NESTED}"),
        (b"a: " + b"x" * MOST_BYTES, f"larger than {MOST_BYTES} bytes"),
        (b"&a {version: *a}\n", "version: Input should be 1"),
        (b"version: 1\ncriteria: &a {x: *a}\n", "criteria.x"),
    ],
    ids=["date", "zone", "digits", "float", "indented", "brackets", "large", "itself", "within itself"],
)
def test_what_the_parser_does_not_expect_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    found = outcome(tmp_path / "any.yaml", content)
    assert found is not None and message in found


def test_aliases_of_aliases_are_not_unrolled(tmp_path: Path) -> None:
    lines = ["version: 1", "a0: &a0 [x, x]"] + [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 64)]
    path = tmp_path / "any.yaml"
    path.write_text("\n".join([*lines, "listens_for: *a63", ""]), encoding="utf-8")
    with pytest.raises(DocumentError):
        load(path, Rubric)
