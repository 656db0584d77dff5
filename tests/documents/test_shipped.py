"""The documents that ship with the project: complete, consistent and described by the schemas beside them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from ruamel.yaml import YAML

from interviewer.adapters.documents import packaged, schemas
from interviewer.core.library import Library
from interviewer.core.rubric import Move

ROUNDS = ("behavioral", "coding_design", "deep_dive", "hiring_manager", "recruiter")
KINDS = {
    "rubrics/rubric.schema.json": [packaged("rubrics") / f"{name}.yaml" for name in ROUNDS],
    "rubrics/criteria.schema.json": [packaged("rubrics") / "criteria.yaml"],
    "rubrics/scenarios/scenario.schema.json": sorted(packaged("rubrics").glob("scenarios/*.yaml")),
    "rubrics/drills.schema.json": [packaged("rubrics") / "drills.yaml"],
    "personas/persona.schema.json": [packaged("personas") / name / "persona.yaml" for name in ROUNDS],
}


def test_every_document_loads_and_is_hashed(library: Library) -> None:
    assert tuple(library.rubrics) == ROUNDS
    assert set(library.personas) == set(ROUNDS)
    known = {f"{kind}:{name}" for kind in ("rubric", "persona") for name in ROUNDS}
    assert set(library.hashes) == known | {f"scenario:{name}" for name in library.scenarios}
    on_disk = set(packaged("rubrics").glob("**/*.yaml")) | set(packaged("personas").glob("*/persona.yaml"))
    assert on_disk == {path for paths in KINDS.values() for path in paths}


@pytest.mark.parametrize("round_id", ROUNDS)
def test_a_round_has_enough_to_ask(library: Library, round_id: str) -> None:
    rubric = library.rubrics[round_id]
    assert rubric.id == round_id and library.personas[rubric.persona].rubric == round_id
    assert len(rubric.questions) >= 12
    for question in rubric.questions:
        assert 3 <= len(question.targets) <= 5
        assert question.facts and question.wrong_claims and len(question.hints) == 3
        for target in question.targets:
            assert len(target.probes) >= 3
            assert len({probe.move for probe in target.probes}) >= 3


@pytest.mark.parametrize("round_id", ROUNDS)
def test_what_a_round_must_ask_it_can_ask(library: Library, round_id: str) -> None:
    rubric = library.rubrics[round_id]
    targets = [t.criterion for q in rubric.questions for t in q.targets]
    for criterion in (*rubric.must_ask, *rubric.veto):
        assert targets.count(criterion) >= 3, criterion
    assert set(targets) <= set(rubric.weights)


@pytest.mark.parametrize("round_id", ROUNDS)
def test_no_wording_is_used_twice_in_a_round(library: Library, round_id: str) -> None:
    rubric = library.rubrics[round_id]
    probes = [p for q in rubric.questions for t in q.targets for p in t.probes]
    wordings = [*(p.text for p in probes), *(p.senior for p in probes if p.senior), *(q.text for q in rubric.questions)]
    assert len(set(wordings)) == len(wordings)


def test_question_ids_are_unique_over_all_rounds(library: Library) -> None:
    ids = [q.id for r in library.rubrics.values() for q in r.questions]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("round_id", ROUNDS)
def test_a_persona_has_a_liking_for_every_move_and_its_own_voice(library: Library, round_id: str) -> None:
    persona = library.personas[round_id]
    assert set(persona.moves) == set(Move)
    assert persona.phases[-1].until == 1
    assert [p.until for p in persona.phases] == sorted(p.until for p in persona.phases)
    assert not any("?" in phrase for phrase in (*persona.openings, *persona.closings, *persona.leads))
    for other in library.personas.values():
        if other is not persona:
            assert persona.moves != other.moves
            assert len({*persona.leads, *persona.transitions} & {*other.leads, *other.transitions}) <= 1


def test_every_criterion_of_a_round_can_be_practised(library: Library) -> None:
    for rubric in library.rubrics.values():
        for criterion in rubric.weights:
            drill = library.drills.best_for(criterion)
            assert drill is not None and criterion in drill.trains


def root_of(path: str) -> Path:
    folder, _, name = path.partition("/")
    return packaged(folder) / name


def document(path: Path) -> Any:
    """Read YAML as JSON data: keys become strings, as an editor sees them."""
    return json.loads(json.dumps(YAML(typ="safe").load(path.read_text(encoding="utf-8"))))


def errors(schema: str, data: Any) -> Iterator[str]:
    validator = Draft202012Validator(json.loads(root_of(schema).read_text(encoding="utf-8")))
    return (error.message for error in validator.iter_errors(data))


@pytest.mark.parametrize("schema", sorted(KINDS))
def test_a_schema_beside_the_documents_is_the_generated_one(schema: str) -> None:
    assert json.loads(root_of(schema).read_text(encoding="utf-8")) == json.loads(json.dumps(schemas()[schema]))
    Draft202012Validator.check_schema(schemas()[schema])
    assert set(schemas()) == set(KINDS)


PAIRS = [(schema, path) for schema, paths in KINDS.items() for path in paths]


@pytest.mark.parametrize(("schema", "path"), PAIRS, ids=[f"{p.parent.name}/{p.name}" for _, p in PAIRS])
def test_a_document_fits_its_schema_and_nothing_else_does(schema: str, path: Path) -> None:
    data = document(path)
    assert list(errors(schema, data)) == []
    assert any("nonsense" in error for error in errors(schema, {**data, "nonsense": 1}))
    assert any(
        "'version' is a required" in e for e in errors(schema, {k: v for k, v in data.items() if k != "version"})
    )


@pytest.mark.parametrize(("schema", "path"), PAIRS, ids=lambda value: str(value)[-24:])
def test_a_document_names_its_schema_for_editors(schema: str, path: Path) -> None:
    first = path.read_text(encoding="utf-8").splitlines()[0]
    prefix = "# yaml-language-server: $schema="
    assert first.startswith(prefix)
    assert (path.parent / first.removeprefix(prefix)).resolve() == root_of(schema).resolve()
