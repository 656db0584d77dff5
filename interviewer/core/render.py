"""Reports as Markdown, for people who read them outside the page."""

from __future__ import annotations

from interviewer.core.code import CodeReport
from interviewer.core.debrief_rows import CriterionRow, Debrief, DrillRow, ScenarioRow
from interviewer.core.diff import ProbeDiff, ReplayDiff
from interviewer.core.facts import Finding, FindingKind
from interviewer.core.flags import RAISED, STRENGTHS
from interviewer.core.resume import Cited
from interviewer.core.text import capital, label

LEVEL_WORDS = ("not shown", "named", "reasoned", "usable as a decision")


def report_markdown(packet: Debrief) -> str:
    """Write a debrief as Markdown; every section of the JSON is in it, of the coaching the main things alone."""
    verdict = packet.verdict
    step = label(verdict.step) if verdict.step else "no verdict"
    also = f" (too close to call: {label(verdict.also_possible)})" if verdict.also_possible else ""
    lines = [
        f"# Debrief: {label(packet.round)}, {packet.level} level",
        "",
        f"**Verdict: {step}{also}**",
        "",
        *(f"- {reason}" for reason in verdict.reasons),
    ]
    if verdict.better_role:
        lines += ["", f"A role that would fit: {verdict.better_role}"]
    lines += ["", "What would change it:", "", *(f"- {change}" for change in verdict.would_change)]
    lines += ["", "## Work on next", ""]
    if packet.main:
        lines += [
            f"**The main thing** (turn {packet.main.turn}, {label(packet.main.criterion)}): {_one(packet.main.line)}",
            "",
        ]
    for number, step_ in enumerate(packet.next_steps, 1):
        lines += [f"{number}. **{label(step_.criterion)}** - {step_.why}", f"   Drill: {step_.drill}. {step_.how}"]
        if step_.bad and step_.good:
            lines += [f"   - Usually: {step_.bad}", f"   - Better: {step_.good}"]
    if not packet.next_steps:
        lines.append("Nothing was assessed below the top level.")
    lines += ["", "## Criteria", ""]
    for row in packet.criteria:
        lines += _criterion(row)
    lines += ["", "## Flags", ""]
    for flag in packet.flags:
        kind = "strength" if flag.flag in STRENGTHS else "concern"
        state = "raised" if flag.probability >= RAISED else "not raised"
        lines.append(f"- {label(flag.flag)} ({kind}, {state}): probability {flag.probability:.2f}")
    if not packet.flags:
        lines.append("None.")
    if packet.facts:
        lines += ["", "## Claims that can be checked", "", *(line for f in packet.facts for line in _fact(f))]
    if packet.scenario:
        lines += ["", "## The situation", "", *_scenario(packet.scenario)]
    if packet.drill:
        lines += ["", "## The drill", "", *_drill(packet.drill)]
    if packet.code:
        lines += ["", "## Code", "", *(line for row in packet.code for line in code_lines(row.report, row.turn))]
    if packet.contradictions:
        lines += ["", "## Statements that differ", "", "Asked about and not held against any level.", ""]
        lines += [f"- {cited(c.first)} / {cited(c.second)}" for c in packet.contradictions]
    if packet.job:
        lines += ["", "## For this job", ""]
        lines += [
            f"- {label(s.criterion)} was pursued more (x{s.factor:g}): " + ", ".join(f'"{q.text}"' for q in s.because)
            for s in packet.job
        ]
    lines += ["", "## Why each question was asked", ""]
    for probe in packet.probes:
        lines += [f"{probe.turn}. {probe.asked}", f"   - {probe.reason}"]
        if probe.replaced:
            lines.append("   - The answer was given again later; that one counts, at one level less.")
        lines += [f"   - {cited(c)}" for c in probe.cited]
        if probe.unscored:
            lines.append(f"   - Not scored: {probe.unscored}")
        if probe.coaching and probe.coaching.first:
            lines.append(f"   - Work on: {_one(probe.coaching.first.line)}")
    receipt = packet.receipt
    lines += [
        "",
        "## The interviewer's receipt",
        "",
        f"{receipt.questions} questions, {receipt.follow_ups} of them follow-ups; {receipt.generated} worded by the "
        f"model, {receipt.fell_back} fell back to authored wording; {receipt.hints} hints; "
        f"{receipt.unscored} answers not scored; "
        f"not brought out: {', '.join(label(c) for c in receipt.missed) or 'nothing'}.",
        "",
        f"{receipt.tied} of {receipt.tied + len(receipt.untied)} follow-ups picked up the answer"
        f"{_turns(receipt.untied, 'not in turn')}; {len(receipt.leaks)} gave a known fact away"
        f"{_turns(receipt.leaks)}; {len(receipt.repeats)} repeated an earlier question{_turns(receipt.repeats)}; "
        "weak and not dug into: "
        f"{', '.join(label(c) for c in receipt.gaps) or 'nothing'}.",
    ]
    if packet.notices:
        lines += ["", "## Notices", "", *(f"- {notice.message}" for notice in packet.notices)]
    versions = packet.versions
    lines += [
        "",
        f"Rubric {versions.rubric}, persona {versions.persona}, prompt {versions.prompt}, model {versions.model}, "
        f"adapter {versions.adapter or 'none'}, judge {versions.judge}.",
    ]
    return "\n".join(lines) + "\n"


def _one(line: str) -> str:
    """Return ``line`` without breaks: a quote may hold some, and they would end its place in the list."""
    return " ".join(line.split())


def _drill(row: DrillRow) -> list[str]:
    limit = f" Longest answer: {row.longest} of {row.words} words." if row.words else ""
    lines = [
        f"{row.title}. {row.how}",
        "",
        f"{row.minutes_used:.0f} of {row.minutes} minutes; {row.asked} of {row.questions} questions.{limit}",
        "",
    ]
    for criterion, level in row.trained:
        lines.append(f"- {label(criterion)}: {'not assessed' if level is None else f'{level} {LEVEL_WORDS[level]}'}")
    for news in row.news:
        when = f"told in turn {news.told_in}" if news.told_in else "the session ended before it was told"
        lines.append(f"- Minute {news.minute} ({when}): {news.says or 'not told yet'}")
    return lines


def cited(found: Cited) -> str:
    """Write where some words stand, and the words."""
    where = (
        f"answer {found.quote.turn}"
        if found.source == "answer"
        else f"{found.source} {found.quote.start}-{found.quote.end}"
    )
    return f'{where}: "{_one(found.quote.text)}"'


def diff_markdown(found: ReplayDiff) -> str:
    """Write a replay's diff as Markdown; everything of the JSON is in it."""
    lines = [
        f"# Replay: {label(found.persona[0])} -> {label(found.persona[1])}",
        "",
        f"{found.moved} of {sum(p.only is None for p in found.probes)} questions differ. "
        f"Round: {label(found.rubric[0])} -> {label(found.rubric[1])}. "
        f"Verdict: {label(found.verdict[0] or 'none')} -> {label(found.verdict[1] or 'none')}.",
        "",
        f"Judge: {found.judge[0]} -> {found.judge[1]}.",
        "",
        *(f"- {remark}" for remark in found.remarks),
        *([""] if found.remarks else []),
    ]
    for probe in found.probes:
        lines += _probe(probe)
    lines += ["", "| criterion | before | after |", "|---|---|---|"]
    lines += [f"| {label(d.criterion)} | {_level(d.before)} | {_level(d.after)} |" for d in found.levels]
    if found.flags:
        lines += ["", "| flag | before | after |", "|---|---|---|"]
        lines += [f"| {label(d.flag)} | {_probability(d.before)} | {_probability(d.after)} |" for d in found.flags]
    return "\n".join(lines) + "\n"


def _criterion(row: CriterionRow) -> list[str]:
    name = label(row.criterion)
    if row.level is None or row.confidence is None:
        return [f"- **{name}**: not assessed. {row.why_not_assessed}"]
    hint = f", {row.hints} hint(s) used" if row.hints else ""
    sure = f"confidence {row.confidence:.2f}{hint}"
    lines = [f"- **{name}**: level {row.level}, {LEVEL_WORDS[row.level]} ({sure}). {row.anchor}"]
    lines += [f'  > "{quote.text}" (turn {quote.turn})' for quote in row.quotes]
    return lines


def _scenario(found: ScenarioRow) -> list[str]:
    earned = [f for f in found.facts if f.asked_in is not None]
    never = [f for f in found.facts if f.asked_in is None]
    lines = [f"{found.title}. {len(earned)} of {len(found.facts)} facts were asked for.", ""]
    lines += [f"- Asked for in turn {f.asked_in}: {f.about}. {f.says}" for f in earned]
    return lines + [f"- Never asked for: {f.about}.{f' {f.says}' if f.says else ''}" for f in never]


CODE_WORDS = {True: "works", False: "does not", None: "open"}


def code_lines(found: CodeReport, turn: int) -> list[str]:
    """Write what was found out about the code of one answer, a line for each thing."""
    how = "run on a tiny model" if found.ran else "read"
    lines = [f"- {capital(label(found.task))} of turn {turn}, {found.lines} lines, {how}:"]
    lines += [f"  - {label(c.check)} ({CODE_WORDS[c.ok]}, as {c.how}): {c.says}" for c in found.checks]
    return [*lines, f"  - {found.notice}"] if found.notice else lines


def _fact(found: Finding) -> list[str]:
    where = f'"{found.quote.text}" (turn {found.quote.turn})'
    state = "right" if found.kind == FindingKind.CHECKED else "not right"
    return [f"- {where}: {state}. {found.right}"]


def _turns(numbers: tuple[int, ...], which: str = "turn") -> str:
    return f" ({which} {', '.join(map(str, numbers))})" if numbers else ""


def _probe(found: ProbeDiff) -> list[str]:
    lines = [f"{found.turn}. Asked{_aim(found.asked_criterion, found.asked_move, found.minute)}: {found.asked}"]
    if found.asked is None:
        lines = [f"{found.turn}. Not in the original"]
    if found.asked_why:
        lines.append(f"   - why: {found.asked_why}")
    if found.answer_changed:
        lines.append("   - the answer is another one")
    if found.same:
        return [*lines, "   - the same"]
    if found.only == "original":
        return [*lines, "   - not in the replay"]
    if found.ends:
        return [*lines, f"   - instead: {found.why}"]
    aim = _aim(found.instead_criterion, found.instead_move, found.instead_minute)
    return [*lines, f"   - instead{aim}: {found.instead}", *([f"   - why: {found.why}"] if found.why else [])]


def _aim(criterion: str | None, move: str | None, minute: float | None) -> str:
    said = [label(word) for word in (criterion, move) if word]
    if minute is not None:
        said.append(f"minute {minute:g}")
    return f" ({', '.join(said)})" if said else ""


def _probability(value: float | None) -> str:
    return "not found" if value is None else f"{value:.2f}{', raised' if value >= RAISED else ''}"


def _level(level: int | None) -> str:
    return "not assessed" if level is None else str(level)
