from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from interviewer.adapters.documents import load_library, packaged
from interviewer.core import events as ev
from interviewer.core.library import Library
from interviewer.core.prompts import history, persona_messages
from interviewer.core.session import Phase, SessionState, Turn
from interviewer.core.text import clip_words
from serving.train import PERSONAS, PROJECT, TrainError
from serving.train.config import PersonaSettings
from serving.train.data import Example, earlier_lines, held_out_questions, load_examples, render, speeches
from serving.train.persona import Material, mean_loss, speech_loss
from serving.train.tower import Tower
from tests.store import samples
from tests.train.conftest import CharTokenizer


@pytest.fixture(scope="module")
def library() -> Library:
    return load_library(packaged("rubrics"), packaged("personas"))


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    return load_examples([PROJECT / "personas" / "deep_dive" / "data" / "examples.jsonl"])


def test_the_prompt_is_the_live_one_and_ends_where_the_persona_speaks(
    library: Library, examples: list[Example], tokenizer: CharTokenizer
) -> None:
    persona = library.personas["deep_dive"]
    one = next(e for e in examples if e.kind == "follow_up")
    spoken = render(tokenizer, persona, one, ["you asked: a They said: b"])
    text = tokenizer.text(spoken.prompt)
    for message in persona_messages(persona, one.request(["you asked: a They said: b"])):
        assert f"<|im_start|>{message['role']}\n{message['content']}<|im_end|>" in text
    assert text.endswith("<|im_start|>assistant\n")
    assert one.utterance not in text
    assert tokenizer.text(spoken.answer) == f"{one.utterance}<|im_end|>"


def test_without_the_personas_prompt_only_the_task_is_left(
    library: Library, examples: list[Example], tokenizer: CharTokenizer
) -> None:
    persona = library.personas["deep_dive"]
    text = tokenizer.text(render(tokenizer, persona, examples[0], bare=True).prompt)
    assert persona.name not in text
    assert examples[0].probe in text


def test_a_transition_asks_a_new_main_question(library: Library, examples: list[Example]) -> None:
    one = next(e for e in examples if e.kind == "transition")
    assert one.request().move is None
    assert "Move on to a new question" in persona_messages(library.personas["deep_dive"], one.request())[1]["content"]


def test_only_the_utterance_and_its_end_count(
    library: Library, examples: list[Example], tokenizer: CharTokenizer
) -> None:
    spoken = [render(tokenizer, library.personas["deep_dive"], e) for e in examples[:5]]
    packed = list(speeches(spoken, group=3, max_len=9000))
    assert sum(len(s.tokens) for s in packed) == sum(len(e.utterance) + 1 for e in examples[:5])
    for speech in packed:
        texts = tokenizer.text(speech.tokens).split("<|im_end|>")[:-1]
        assert set(texts) <= {e.utterance for e in examples[:5]}
        header = [i for i, node in enumerate(speech.nodes) if chr(speech.packed.ids[node] - 2) == "\n"]
        assert len(header) == len(texts), "each utterance is predicted from the end of the assistant's header on"


def test_packing_examples_does_not_change_their_loss(
    library: Library, examples: list[Example], tokenizer: CharTokenizer, tower: Tower
) -> None:
    short = [e.model_copy(update={"said": "I would batch.", "question": "Why?", "level": "mid"}) for e in examples[:2]]
    spoken = [render(tokenizer, library.personas["deep_dive"], e) for e in short]
    together = list(speeches(spoken, group=2, max_len=20_000))
    alone = list(speeches(spoken, group=1, max_len=20_000))
    assert (len(together), len(alone)) == (1, 2)
    assert mean_loss(tower, together) == pytest.approx(mean_loss(tower, alone), abs=1e-5)


def test_the_loss_ignores_what_comes_before(
    examples: list[Example], tower: Tower, library: Library, tokenizer: CharTokenizer
) -> None:
    (speech,) = speeches([render(tokenizer, library.personas["deep_dive"], examples[0])], 1, 20_000)
    hidden = tower.hidden(speech.packed)
    hidden.retain_grad()
    torch.nn.functional.cross_entropy(tower.logits(hidden, speech.nodes), torch.tensor(speech.tokens)).backward()
    assert hidden.grad is not None
    touched = hidden.grad.abs().sum(-1).nonzero().flatten().tolist()
    assert touched == sorted(speech.nodes)
    assert speech_loss(tower, speech).requires_grad


def test_an_example_that_is_too_long_is_named(
    library: Library, examples: list[Example], tokenizer: CharTokenizer
) -> None:
    spoken = [render(tokenizer, library.personas["deep_dive"], examples[0])]
    with pytest.raises(TrainError, match=examples[0].id):
        list(speeches(spoken, 2, 200))


def test_the_split_depends_on_the_questions_only(examples: list[Example]) -> None:
    ids = [e.question_id for e in examples]
    assert held_out_questions(ids) == held_out_questions(reversed(sorted(set(ids))))
    assert held_out_questions(["only"]) == {"only"}
    assert len(held_out_questions(f"q{i}" for i in range(20))) == 3


@pytest.mark.parametrize("name", PERSONAS)
def test_no_question_is_on_both_sides(
    name: str, library: Library, tokenizer: CharTokenizer, settings: PersonaSettings
) -> None:
    found = load_examples([PROJECT / "personas" / name / "data" / "examples.jsonl"])
    persona = library.personas[name]
    data = Material(tokenizer, persona, library.rubrics[persona.rubric], found, settings)
    assert not {e.question_id for e in data.train_examples} & {e.question_id for e in data.held_examples}
    assert {e.question_id for e in data.held_examples} == data.held_questions
    assert 0.08 <= len(data.held_examples) / len(found) <= 0.25


def test_earlier_turns_look_like_the_live_history(library: Library, examples: list[Example]) -> None:
    rubric = library.rubrics["deep_dive"]
    same = [e for e in examples if e.question_id == examples[0].question_id]
    lines = [earlier_lines(e, same, rubric, 1.0, seed) for e in same for seed in range(4)]
    assert any(line[0].startswith("covered ") for line in lines)
    live = history(_session(same, rubric.id), rubric)
    assert live[0].startswith("covered ") and "; still open: " in live[0] and live[0].endswith(".")
    for line in lines:
        for text in line:
            if not text.startswith("covered "):
                assert text.startswith("you asked: ") and " They said: " in text
            else:
                assert "; still open: " in text and text.endswith(".")
    assert live[1] in [f"you asked: {' '.join(q)} They said: {' '.join(a)}" for q, a in _clipped(same)]


def _clipped(same: list[Example]) -> list[tuple[list[str], list[str]]]:
    return [(clip_words(e.utterance, 24).split(), clip_words(e.said, 30).split()) for e in same]


def _session(same: list[Example], rubric: str) -> SessionState:
    started = samples.started(rubric=rubric)
    turns = tuple(
        Turn(
            number=n,
            probe=ev.ProbeChosen(turn=n, question_id=e.question_id, probe=e.probe, reason="", elapsed=0.1),
            question=ev.QuestionAsked(turn=n, text=e.utterance, source="generated", persona="deep_dive"),
            answer=ev.AnswerGiven(turn=n, msg_id=f"m{n}", text=e.said),
        )
        for n, e in enumerate(same[:5], 1)
    )
    return SessionState(
        id="s",
        seq=1,
        started=started,
        started_at=samples.NOON,
        last_at=samples.NOON,
        persona="deep_dive",
        adapter=None,
        phase=Phase.CHOOSING,
        turns=turns,
    )


def test_no_earlier_turns_without_enough_examples(library: Library, examples: list[Example]) -> None:
    assert earlier_lines(examples[0], examples[:1], library.rubrics["deep_dive"], 1.0, 7) == []
    assert earlier_lines(examples[0], examples, library.rubrics["deep_dive"], 0.0, 7) == []


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    file = tmp_path / "examples.jsonl"
    file.write_text(json.dumps({"id": "x"}) + "\n", encoding="utf-8")
    with pytest.raises(TrainError, match=r"examples\.jsonl:1"):
        load_examples([file])
