"""What a replay changed: probes, levels, flags and verdict, as data."""

from __future__ import annotations

from typing import Literal

from interviewer.core.assessment import Assessment, Frozen
from interviewer.core.debrief_rows import Debrief
from interviewer.core.events import ProbeChosen
from interviewer.core.session import SessionState, Turn
from interviewer.core.text import label


class ProbeDiff(Frozen):
    """One turn: what was asked, and what the replay's persona asked or would have asked there."""

    turn: int
    minute: float | None
    """Minutes into the round at which the original chose it; ``None`` when only the replay has the turn."""
    asked: str | None
    asked_criterion: str | None
    asked_move: str | None
    asked_why: str | None
    instead: str | None
    """Authored wording of the other choice; ``None`` when it is the same, there is none, or the round would end."""
    instead_criterion: str | None
    instead_move: str | None
    instead_minute: float | None
    why: str | None
    same: bool
    ends: bool = False
    """The replay's persona would have ended the round here."""
    only: Literal["original", "replay"] | None = None
    """Which of the two has this turn, when only one has; it is not counted as a difference."""
    answer_changed: bool = False
    """The answer of this turn is another one, as it was edited or given after an edit."""


class LevelDiff(Frozen):
    """One criterion before and after; ``None`` is "not assessed"."""

    criterion: str
    before: int | None
    after: int | None


class FlagDiff(Frozen):
    """Probability of one flag before and after; ``None`` is "not found"."""

    flag: str
    before: float | None
    after: float | None


class ReplayDiff(Frozen):
    """A parent session against its replay."""

    parent: str
    child: str
    persona: tuple[str, str]
    rubric: tuple[str, str]
    judge: tuple[str, str]
    """Who read the answers: identity of the model, the adapter and the calibration."""
    probes: tuple[ProbeDiff, ...]
    levels: tuple[LevelDiff, ...]
    flags: tuple[FlagDiff, ...] = ()
    verdict: tuple[str | None, str | None]
    remarks: tuple[str, ...] = ()
    """What else has to be known to read the comparison, a sentence each."""

    @property
    def moved(self) -> int:
        """How many probes differ."""
        return sum(not p.same and p.only is None for p in self.probes)


def diff(parent: SessionState, before: Debrief, child: SessionState, after: Debrief) -> ReplayDiff:
    """Compare two sessions turn by turn; a turn that was chosen but never asked is left out."""
    old, new = ({t.number: t for t in s.turns if t.question} for s in (parent, child))
    # A replay as somebody else looks at every turn of the original; no choice beside one means to end there.
    replayed = child.ended is not None and child.ended.reason == "replayed"
    found = [
        _turn(old[n], new[n], child, replayed) if n in old and n in new else _lone(old.get(n), new.get(n), child)
        for n in sorted({*old, *new})
    ]
    earlier = {row.criterion: row.level for row in before.criteria}
    later = {row.criterion: row.level for row in after.criteria}
    flags = tuple({f.flag: f.probability for f in packet.flags} for packet in (before, after))
    made = ReplayDiff(
        parent=parent.id,
        child=child.id,
        persona=(parent.started.persona, child.started.persona),
        rubric=(before.round, after.round),
        judge=(_judge(parent), _judge(child)),
        probes=tuple(found),
        levels=tuple(
            LevelDiff(criterion=c, before=earlier.get(c), after=later.get(c)) for c in dict.fromkeys((*earlier, *later))
        ),
        flags=tuple(
            FlagDiff(flag=f, before=flags[0].get(f), after=flags[1].get(f))
            for f in dict.fromkeys((*flags[0], *flags[1]))
        ),
        verdict=(before.verdict.step, after.verdict.step),
    )
    return made.model_copy(update={"remarks": (*_judges(made), *_changed(parent, child))})


def _turn(old: Turn, new: Turn, child: SessionState, replayed: bool) -> ProbeDiff:
    was = old.probe
    other = new.alternative or (new.probe if new.probe and was and new.probe.probe != was.probe else None)
    ends = replayed and new.alternative is None
    same = not ends and (other is None or (was is not None and other.probe == was.probe))
    row = _row(old, new, None if same or ends else other, child, same=same)
    why = other.reason if other else None
    if ends:
        why = "Nothing was left that they would have asked; they would have ended the round here."
    changed = (old.answer.text if old.answer else None) != (new.answer.text if new.answer else None)
    return row.model_copy(update={"why": why, "ends": ends, "answer_changed": changed})


def _lone(old: Turn | None, new: Turn | None, child: SessionState) -> ProbeDiff:
    """Return the row of a turn that only one of the two has."""
    row = _row(old, new, new.probe if new else None, child, same=False)
    return row.model_copy(update={"only": "original" if old else "replay"})


def _row(
    old: Turn | None, new: Turn | None, instead: ProbeChosen | None, child: SessionState, *, same: bool
) -> ProbeDiff:
    """Return what was asked in a turn beside ``instead``; one of the two turns is there."""
    was = old.probe if old else None
    return ProbeDiff(
        turn=(old or new).number,  # type: ignore[union-attr] # one of them is there
        minute=_minute(old, child),
        asked=old.question.text if old and old.question else None,
        asked_criterion=was.criterion if was else None,
        asked_move=was.move if was else None,
        asked_why=was.reason if was else None,
        instead=instead.probe if instead else None,
        instead_criterion=instead.criterion if instead else None,
        instead_move=instead.move if instead else None,
        instead_minute=_minute(new, child),
        why=instead.reason if instead else None,
        same=same,
    )


def _minute(turn: Turn | None, state: SessionState) -> float | None:
    return round(turn.probe.elapsed * state.started.minutes, 1) if turn and turn.probe else None


def _judge(state: SessionState) -> str:
    """Return who read the answers, by the readings themselves; who was to read them when there are none."""
    names = dict.fromkeys(t.result.judge for t in state.turns if isinstance(t.result, Assessment))
    return " and ".join(names) or state.started.versions.judge


def _judges(found: ReplayDiff) -> list[str]:
    rows: tuple[LevelDiff | FlagDiff, ...] = (*found.levels, *found.flags)
    moved = any(row.before != row.after for row in rows) or found.verdict[0] != found.verdict[1]
    still = "" if moved else " Levels, flags and verdict are the same."
    if found.judge[0] != found.judge[1]:
        return [f"The answers were read by {found.judge[0]}, and in the replay by {found.judge[1]}.{still}"]
    return [] if moved else [f"Both have the readings of one judge ({found.judge[0]}).{still}"]


def _changed(parent: SessionState, child: SessionState) -> list[str]:
    """Name the documents that are no longer those of the original, as far as both use the same one."""
    then, now = parent.started, child.started
    shared = {"persona": then.persona == now.persona, "rubric": then.rubric == now.rubric, "prompt": True}
    return [
        f"The {label(name)} has changed since the original was recorded ({before} then, {after} now)."
        for name, both in shared.items()
        if both and (before := getattr(then.versions, name)) != (after := getattr(now.versions, name))
    ]
