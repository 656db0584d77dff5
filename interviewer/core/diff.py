"""What a replay changed: probes, levels and verdict, as data."""

from __future__ import annotations

from interviewer.core.assessment import Frozen
from interviewer.core.debrief import Debrief
from interviewer.core.session import SessionState


class ProbeDiff(Frozen):
    """One turn: what was asked, and what the replay's persona would have asked there."""

    turn: int
    asked: str
    asked_criterion: str | None
    asked_move: str | None
    instead: str | None
    """Authored wording of the other choice; ``None`` when it would have asked the same or ended."""
    instead_criterion: str | None
    instead_move: str | None
    why: str | None
    same: bool


class LevelDiff(Frozen):
    """One criterion before and after; ``None`` is "not assessed"."""

    criterion: str
    before: int | None
    after: int | None


class ReplayDiff(Frozen):
    """A parent session against its replay."""

    parent: str
    child: str
    persona: tuple[str, str]
    rubric: tuple[str, str]
    judge: tuple[str, str]
    probes: tuple[ProbeDiff, ...]
    levels: tuple[LevelDiff, ...]
    verdict: tuple[str | None, str | None]

    @property
    def moved(self) -> int:
        """How many probes differ."""
        return sum(not p.same for p in self.probes)


def diff(parent: SessionState, before: Debrief, child: SessionState, after: Debrief) -> ReplayDiff:
    """Compare two sessions turn by turn; turns that only one of them has are left out of ``probes``."""
    probes = []
    for old, new in zip(parent.turns, child.turns, strict=False):
        if not old.question:
            continue
        was = old.probe
        other = new.alternative or (new.probe if new.probe and was and new.probe.probe != was.probe else None)
        same = other is None or (was is not None and other.probe == was.probe)
        probes.append(
            ProbeDiff(
                turn=old.number,
                asked=old.question.text,
                asked_criterion=was.criterion if was else None,
                asked_move=was.move if was else None,
                instead=None if same or other is None else other.probe,
                instead_criterion=None if same or other is None else other.criterion,
                instead_move=None if same or other is None else other.move,
                why=other.reason if other else None,
                same=same,
            )
        )
    earlier = {row.criterion: row.level for row in before.criteria}
    later = {row.criterion: row.level for row in after.criteria}
    return ReplayDiff(
        parent=parent.id,
        child=child.id,
        persona=(parent.started.persona, child.started.persona),
        rubric=(before.round, after.round),
        judge=(before.versions.judge, after.versions.judge),
        probes=tuple(probes),
        levels=tuple(
            LevelDiff(criterion=c, before=earlier.get(c), after=later.get(c)) for c in dict.fromkeys((*earlier, *later))
        ),
        verdict=(before.verdict.step, after.verdict.step),
    )
