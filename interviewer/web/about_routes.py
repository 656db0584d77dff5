"""What runs here, read-only: engine, interviewers, judge with its measured accuracy, and what is kept."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter

from interviewer import __version__
from interviewer.core.assessment import Frozen
from interviewer.core.facts import VERSION as FACTS
from interviewer.core.prompts import VERSION as PROMPTS
from interviewer.service.about import WEAK, Engine, Measured, public
from interviewer.web.state import Srv

router = APIRouter()


class ServedPersona(Frozen):
    """Who asks, and as what."""

    id: str
    name: str
    title: str
    adapter: str | None
    """Name of its adapter with the version; ``None``: the base model with a prompt."""


class VersionView(Frozen):
    """One version of an adapter that is there."""

    adapter: str
    version: str
    shipped: bool
    active: bool


class JudgeView(Frozen):
    """Who reads the answers, and how well that was measured."""

    identity: str
    model: str
    adapter: str | None
    calibration: str | None
    measured: Measured | None
    """On labelled answers to questions that it never saw; ``None``: nothing was measured of this very judge."""
    weak_below: float = WEAK
    """Kappa under which a criterion is called weak."""


class Turns(Frozen):
    """How a turn is made."""

    quote_first: bool
    """Whether a follow-up begins with an exact quote of the candidate; else the model words its own tie-in."""
    warm: bool
    """Whether the model reads ahead while the candidate thinks."""
    code: Literal["run", "read"]
    """What is done with code in answers."""


class Kept(Frozen):
    """What happens to sessions."""

    stored: bool
    """Whether they outlive the service's process."""
    days: int | None
    """Days without anything new after which one is deleted; ``None`` keeps it."""
    keys: bool
    """Whether everybody needs a key and sees only what is theirs."""


class DocumentVersions(Frozen):
    """Versions that are recorded with every session."""

    service: str
    prompt: str
    facts: str
    """Checks of facts that hold levels down."""
    documents: dict[str, str]
    """Content hash of each persona, rubric and scenario."""


class About(Frozen):
    """What runs here."""

    engine: Engine
    ready: bool
    personas: tuple[ServedPersona, ...]
    adapters: tuple[VersionView, ...]
    judge: JudgeView
    judges: dict[str, str]
    """Identity of each judge that a replay can be read by, by name."""
    turns: Turns
    kept: Kept
    versions: DocumentVersions


@router.get("/about")
async def about(service: Srv) -> About:
    """Return what runs here and how well its judge was measured; no secret, path or address is in it."""
    deps = service.deps
    stamp = deps.judging.stamp
    return About(
        engine=service.engine.model_copy(update={"model": public(service.engine.model)}),
        ready=all(check.ok for check in service.backend.checks().values()),
        personas=tuple(
            ServedPersona(id=p.id, name=p.name, title=p.title, adapter=_named(deps.served.get(p.id)))
            for p in deps.library.personas.values()
        ),
        adapters=tuple(
            VersionView(adapter=v.adapter, version=v.version, shipped=v.shipped, active=v.active)
            for v in service.backend.versions()
        ),
        judge=JudgeView(
            identity=public(deps.judging.identity),
            model=public(stamp.model),
            adapter=_named(stamp.adapter),
            calibration=_named(stamp.calibration),
            measured=service.measured(stamp),
        ),
        judges={name: public(judging.identity) for name, judging in deps.judges.items()},
        turns=Turns(quote_first=deps.limits.quote_first, warm=deps.limits.warm, code="run" if deps.runner else "read"),
        kept=Kept(stored=service.stored, days=service.keep_days, keys=service.accounts is not None),
        versions=DocumentVersions(
            service=__version__, prompt=PROMPTS, facts=FACTS, documents=dict(deps.library.hashes)
        ),
    )


def _named(name: str | None) -> str | None:
    """Return a name that may be shown; ``none`` is how a stamp says that a judge has no such part."""
    return None if name in (None, "none") else public(name or "")
