"""Errors in documents name the file, the line and what to change."""

from __future__ import annotations

from pathlib import Path

import pytest

from interviewer.adapters.documents import DocumentError, load, load_rubric
from interviewer.core.drills import Drills
from interviewer.core.rubric import Vocabulary
from tests.documents.conftest import Folders

CLARIFY = "          - move: clarify\n            text: Which part of the day"

BROKEN = [
    ("unknown key", "recruiter.yaml", "minutes: 45", "minuets: 45\nminutes: 45", 0, "minuets: Extra inputs"),
    (
        "unknown key inside a probe",
        "recruiter.yaml",
        "            senior: What would you be",
        "            seniour: W",
        0,
        "seniour: Extra inputs",
    ),
    ("wrong type", "recruiter.yaml", "minutes: 45", "minutes: long", 0, "minutes: Input should be a valid integer"),
    ("out of range", "recruiter.yaml", "role_fit: 2.0", "role_fit: 9", 0, "weights.role_fit: Input should be less"),
    ("missing key", "recruiter.yaml", "title: Recruiter screen\n", "", None, "title: Field required"),
    (
        "unknown criterion",
        "recruiter.yaml",
        "  role_fit: 2.0",
        "  role_fit: 2.0\n  charm: 1.0",
        1,
        "unknown criterion 'charm'; known: tradeoff_reasoning",
    ),
    (
        "unknown must-ask",
        "recruiter.yaml",
        "  - role_fit\n  - intellectual",
        "  - charm\n  - intellectual",
        0,
        "unknown criterion 'charm'",
    ),
    (
        "target without weight",
        "recruiter.yaml",
        "- criterion: role_fit",
        "- criterion: problem_framing",
        0,
        "'problem_framing' has no weight in this round; add it under weights",
    ),
    ("unknown move", "recruiter.yaml", CLARIFY, CLARIFY.replace("clarify", "press_on"), 0, "move: Input should be"),
    (
        "duplicate key",
        "recruiter.yaml",
        "minutes: 45",
        "minutes: 45\nminutes: 60",
        1,
        "not valid YAML: found duplicate",
    ),
    ("not YAML", "recruiter.yaml", "title: Recruiter screen", "title: 'Recruiter screen", None, "not valid YAML"),
    ("persona without moves", "persona.yaml", "moves:\n  clarify: 1.7\n", "liking:\n  clarify: 1.7\n", None, "moves"),
    (
        "persona with too few moves",
        "persona.yaml",
        "  clarify: 1.7\n",
        "",
        -1,
        "moves: Dictionary should have at least 7",
    ),
    (
        "persona with unknown rubric",
        "persona.yaml",
        "rubric: recruiter",
        "rubric: screening",
        0,
        "no rubric is called 'screening'",
    ),
    (
        "rubric with unknown persona",
        "recruiter.yaml",
        "persona: recruiter",
        "persona: nobody",
        None,
        "no persona is called 'nobody'",
    ),
    (
        "drill that trains nothing known",
        "drills.yaml",
        "[implementation_correctness,",
        "[charm,",
        None,
        "drill 'lora-from-memory' trains unknown ['charm']",
    ),
    (
        "criterion without an anchor",
        "criteria.yaml",
        "      3: Level 2, and the price",
        "      4: Level 2, and the price",
        None,
        "levels",
    ),
]


@pytest.mark.parametrize(
    ("name", "old", "new", "offset", "message"), [case[1:] for case in BROKEN], ids=[case[0] for case in BROKEN]
)
def test_an_error_names_file_line_and_reason(
    folders: Folders, name: str, old: str, new: str, offset: int | None, message: str
) -> None:
    line = folders.edit(name, old, new)
    with pytest.raises(DocumentError) as caught:
        folders.load()
    where, number, rest = str(caught.value).split(":", 2)
    assert where == str(folders.path(name))
    assert message in rest
    if offset is not None:
        assert int(number) == line + offset


@pytest.mark.parametrize(
    ("name", "copy", "message"),
    [("recruiter.yaml", "zz.yaml", "another document"), ("persona.yaml", "../zz/persona.yaml", "another persona")],
)
def test_an_id_used_twice_is_refused(folders: Folders, name: str, copy: str, message: str) -> None:
    again = (folders.path(name).parent / copy).resolve()
    again.parent.mkdir(exist_ok=True)
    again.write_text(folders.path(name).read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(DocumentError, match=rf"^{again}:\d+: {message} has the id 'recruiter' already"):
        folders.load()


def test_probes_of_one_kind_are_refused(folders: Folders) -> None:
    """A target that had four moves may lose one; with two left it is named."""
    folders.edit("recruiter.yaml", "move: other_side", "move: clarify")
    folders.load()
    folders.edit("recruiter.yaml", "move: move_constraint", "move: clarify")
    with pytest.raises(DocumentError, match=r"recruiter\.yaml:\d+: probes must use at least three different moves"):
        folders.load()


def test_more_problems_are_counted(folders: Folders) -> None:
    folders.edit("recruiter.yaml", "minutes: 45", "minutes: long")
    folders.edit("recruiter.yaml", "decides:", "decide:")
    with pytest.raises(DocumentError, match=r"\(and 2 more\)$"):
        folders.load()


def test_a_line_is_counted_in_the_file_as_it_is(folders: Folders) -> None:
    folders.edit("persona.yaml", "version: 1", "# a comment\n\nversion: 1")
    line = folders.edit("persona.yaml", "max_words: 40", "max_words: 400")
    with pytest.raises(DocumentError, match=rf"persona\.yaml:{line}: max_words: Input should be less than or equal"):
        folders.load()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"version: \xff\xfe\n", "cannot be read: 'utf-8' codec"),
        (b"version: 1\x01\n", "not valid YAML"),
        (b"", "document: Input should be a valid dictionary"),
        (b"- a list\n", "document: Input should be a valid dictionary"),
        (b"version: 2\ndrills: []\n", "version: Input should be 1"),
    ],
)
def test_what_is_not_a_document_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "drills.yaml"
    path.write_bytes(content)
    with pytest.raises(DocumentError) as caught:
        load(path, Drills)
    assert str(caught.value).startswith(f"{path}:1: ")
    assert message in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=r"criteria\.yaml:1: cannot be read"):
        load(tmp_path / "criteria.yaml", Vocabulary)


def test_the_hash_follows_the_content(folders: Folders) -> None:
    before = folders.load().hashes
    assert set(before) == {"rubric:recruiter", "persona:recruiter"}
    assert all(len(h) == 12 and int(h, 16) >= 0 for h in before.values())
    folders.edit("recruiter.yaml", "minutes: 45", "minutes: 46")
    after = folders.load().hashes
    assert after["rubric:recruiter"] != before["rubric:recruiter"]
    assert after["persona:recruiter"] == before["persona:recruiter"]


def test_one_round_loads_on_its_own(folders: Folders) -> None:
    vocabulary, _ = load(folders.path("criteria.yaml"), Vocabulary)
    rubric = load_rubric(folders.path("recruiter.yaml"), vocabulary)
    assert (rubric.id, rubric.minutes, len(rubric.questions)) == ("recruiter", 45, 2)
