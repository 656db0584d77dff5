"""Reports as Markdown hold what the data holds."""

from __future__ import annotations

from interviewer.core import events as ev
from interviewer.core.assessment import FlagReading
from interviewer.core.debrief import debrief
from interviewer.core.debrief_rows import Debrief
from interviewer.core.diff import diff
from interviewer.core.memo import memo
from interviewer.core.memo_render import memo_markdown
from interviewer.core.render import diff_markdown, report_markdown
from interviewer.core.rubric import Move
from interviewer.core.text import Quote
from interviewer.core.verdict import Step, Verdict
from tests.core.builders import HONEST, MEASURE, TRADE, Log, assessed, drills, found, rubric, unscored, vocabulary


def packet(log: Log) -> Debrief:
    return debrief(log.state, rubric(), vocabulary(), drills())


TOOLS = "There is vLLM, TensorRT-LLM, SGLang, TGI and Ollama, any of them will do."


def full() -> Debrief:
    """A round with a level, a hint, a failure, a flag and a notice."""
    quote = Quote(start=0, end=14, text="I use vLLM now", turn=1)
    log = Log().choose("cache", reason="It is open.").ask("What cache?").hint("cache", 1).answer(TOOLS)
    log.read(assessed(found(TRADE, (0.1, 0.8, 0.1, 0.0), 1, quote), **{MEASURE: 2}))
    log.choose("cache", MEASURE, Move.ASK_NUMBER, reason="It is low.").ask("How much?", source="fallback").answer()
    return packet(log.read(unscored()).add(ev.SessionNotice(code="slow", message="The model was slow.")).end())


def section(text: str, name: str) -> str:
    return text.split(f"## {name}\n")[1].split("\n## ")[0]


def test_a_report_holds_every_part_of_the_packet() -> None:
    made = full()
    text = report_markdown(made)
    assert text.startswith("# Debrief: deep dive, mid level\n")
    assert all(f"- {reason}" in text for reason in made.verdict.reasons)
    assert all(f"- {change}" in text for change in made.verdict.would_change)
    assert f"A role that would fit: {made.verdict.better_role}" in text
    for step in made.next_steps:
        block = section(text, "Work on next")
        assert step.why in block and step.how in block
        assert f"Usually: {step.bad}" in block and f"Better: {step.good}" in block
    criteria = section(text, "Criteria")
    assert (
        "- **tradeoff reasoning**: level 1, named (confidence 0.80, 1 hint(s) used). tradeoff_reasoning anchor 1"
        in criteria
    )
    assert '  > "I use vLLM now" (turn 1)' in criteria
    assert "- **intellectual honesty**: not assessed. No answer could be read on it (judge unavailable)." in criteria
    assert "- knows tools not tradeoffs (concern, raised): probability 0." in section(text, "Flags")
    why = section(text, "Why each question was asked")
    assert "1. What cache?\n   - It is open." in why
    assert "2. How much?\n   - It is low.\n   - Not scored: the judge could not be reached" in why
    receipt = section(text, "The interviewer's receipt")
    assert (
        "2 questions, 1 of them follow-ups; 0 worded by the model, 1 fell back to authored wording; 1 hints" in receipt
    )
    assert "1 answers not scored; not brought out: nothing." in receipt
    assert "- The model was slow." in section(text, "Notices")
    assert "Rubric r1, persona p1, prompt 1, model m, adapter a@1, judge scripted." in text


def test_a_report_on_nothing_says_so() -> None:
    text = report_markdown(packet(Log(level="senior")))
    assert "**Verdict: no verdict**" in text and "senior level" in text
    assert "Nothing was assessed below the top level." in section(text, "Work on next")
    assert section(text, "Criteria").count("not assessed. No question brought it out.") == 4
    assert "None." in section(text, "Flags")
    assert "not brought out: tradeoff reasoning, measurement." in text
    assert "## Notices" not in text and "A role that would fit" not in text


def test_a_close_call_strengths_and_missing_parts() -> None:
    made = full()
    verdict = Verdict(step=Step.HIRE, also_possible=Step.LEAN_HIRE, reasons=("r",), would_change=("c",))
    step = made.next_steps[0].model_copy(update={"bad": None, "good": None})
    flags = (FlagReading(flag="honest_about_limits", probability=0.3),)
    versions = made.versions.model_copy(update={"adapter": None})
    text = report_markdown(
        made.model_copy(update={"verdict": verdict, "next_steps": (step,), "flags": flags, "versions": versions})
    )
    assert "**Verdict: hire (too close to call: lean hire)**" in text
    assert "Usually:" not in text
    assert "honest about limits (strength, not raised): probability 0.30" in text
    assert "adapter none" in text


def test_a_replay_shows_what_moved() -> None:
    before = Log().turn_on("cache", assessed(**{TRADE: 1})).turn_on("cache", assessed(**{TRADE: 1}))
    after = Log(persona="recruiter").turn_on("cache", assessed(**{TRADE: 3, MEASURE: 3, HONEST: 3}))
    after.turn_on("batch", assessed(**{TRADE: 3}), probe="Else?", reason="It was open.")
    text = diff_markdown(diff(before.state, packet(before), after.state, packet(after)))
    assert text.startswith(
        "# Replay: deep dive -> recruiter\n\n"
        "1 of 2 questions differ. Round: deep dive -> deep dive. Verdict: no hire -> strong hire.\n\nJudge: "
    )
    assert "1. Asked (minute 0): Question 1?\n   - why: because\n   - the same\n" in text
    assert "2. Asked (minute 0): Question 2?\n   - why: because\n" in text
    assert "   - instead (minute 0): Else?\n   - why: It was open.\n" in text
    assert "| tradeoff reasoning | 1 | 3 |" in text
    assert "| measurement | not assessed | 3 |" in text


def test_a_replay_without_a_verdict() -> None:
    log = Log().turn_on("cache", unscored())
    text = diff_markdown(diff(log.state, packet(log), log.state, packet(log)))
    assert "0 of 1 questions differ. Round: deep dive -> deep dive. Verdict: none -> none." in text
    assert "- Both have the readings of one judge (" in text
    assert "| flag |" not in text


def test_a_replay_with_lone_turns_another_answer_an_end_and_flags() -> None:
    def packed(log: Log, probability: float) -> Debrief:
        flag = FlagReading(flag="bluffing", probability=probability)
        return packet(log).model_copy(update={"flags": (flag,)})

    one = Log().turn_on("cache", assessed(**{TRADE: 1})).turn_on("cache", assessed(**{TRADE: 1}))
    two = Log(origin="replay").turn_on("cache", assessed(**{TRADE: 1}), "Edited.")
    there = diff_markdown(diff(one.state, packed(one, 0.4), two.state, packed(two, 0.75)))
    assert "1. Asked (minute 0): Question 1?\n   - why: because\n   - the answer is another one\n   - the same" in there
    assert "2. Asked (minute 0): Question 2?\n   - why: because\n   - not in the replay" in there
    assert "| bluffing | 0.40 | 0.75, raised |" in there
    back = diff_markdown(diff(two.state, packet(two), one.state, packed(one, 0.4)))
    assert "2. Not in the original\n   - instead (minute 0): Probe 2?" in back
    assert "| bluffing | not found | 0.40 |" in back
    ended = Log(origin="replay").turn_on("cache", assessed(**{TRADE: 1})).add(ev.SessionEnded(reason="replayed"))
    text = diff_markdown(diff(two.state, packet(two), ended.state, packet(ended)))
    assert "   - instead: Nothing was left that they would have asked" in text


def test_a_memo_holds_decision_reasons_and_change() -> None:
    base = packet(Log())
    verdicts = [Verdict(step=s, reasons=("r.",), would_change=("Numbers.",)) for s in (Step.HIRE, Step.NO_HIRE)]
    text = memo_markdown(memo("loop", [base.model_copy(update={"verdict": v}) for v in verdicts]))
    assert text.startswith(
        "# Committee memo: no hire\n\nWe vote no hire, at the mid level.\n\n- **Deep dive: hire.** r.\n"
    )
    assert (
        "- The rounds are 3 steps apart: hire in the deep dive round, no hire in the deep dive round. (deep dive)"
        in text
    )
    assert "\n## What would change the vote\n\n" in text
    assert "- The deep dive round asks for: Numbers. (deep dive)" in text
    assert memo_markdown(memo("loop", [])) == "# Committee memo: no decision\n\n"
