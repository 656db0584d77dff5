"""The only place where things are put together: settings in, a service out."""

from __future__ import annotations

import logging
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from openai import AsyncOpenAI

from interviewer.adapters.about import embedded_engine, load_measured
from interviewer.adapters.audit import AuditLog
from interviewer.adapters.backend import EmbeddedBackend, ExternalBackend
from interviewer.adapters.documents import load_library, packaged
from interviewer.adapters.engine_load import engine_load
from interviewer.adapters.judges import BigJudge, CurrentJudge, SmallJudge
from interviewer.adapters.language import EnglishCheck
from interviewer.adapters.metrics import Metrics
from interviewer.adapters.openai_model import OpenAIChat, make_client
from interviewer.adapters.roster import Roster
from interviewer.adapters.sandbox import Sandbox, unavailable
from interviewer.adapters.store import SqlEventStore
from interviewer.adapters.store.keys import SqlKeyStore
from interviewer.adapters.system import SystemClock, new_id
from interviewer.adapters.tokens import TokenCounter, load_encoding, rough_count
from interviewer.core.calibration import UNCALIBRATED, Calibration
from interviewer.core.lexical import NO_WORDS, WordModel
from interviewer.core.prompts import Count
from interviewer.service.about import Engine, Measured
from interviewer.service.accounts import Accounts, Rules
from interviewer.service.deps import Deps, Limits
from interviewer.service.judging import Judging
from interviewer.service.metering import MeteredJudge, MeteredModel
from interviewer.service.ports import Judge, Stamp
from interviewer.service.telemetry import Telemetry
from interviewer.settings import Settings
from interviewer.web.state import Service, assemble
from serving.adapter_check import AdapterError, check_adapter
from serving.canary import adapter_name
from serving.catalogue import Entry, find_adapter, load_catalogue
from serving.cpu import cpu_flags, engine_on_cpu
from serving.engine_config import EngineConfig, free_port
from serving.versions import Version, VersionStore

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

_log = logging.getLogger(__name__)

EVALUATOR = "evaluator"
ADAPTERS = ("recruiter", "hiring_manager", "coding_design", "deep_dive", "behavioral", EVALUATOR)


@dataclass(frozen=True)
class _Watching:
    """Who is told what the service does."""

    metrics: Metrics
    telemetry: Telemetry
    """The metrics, with the traces before them where there are any."""
    headers: Callable[[], Mapping[str, str]]
    """What requests to the engine carry, so that its traces go on with ours."""


async def build(
    settings: Settings, progress: Callable[[str], None] = _log.info, traces: TracerProvider | None = None
) -> Service:
    """Build the service that ``settings`` describe; starts nothing yet.

    Args:
        settings: What is wanted.
        progress: Told what happens, in words.
        traces: Takes the spans of turns, where they were asked for.

    Raises:
        DocumentError: a rubric or persona document is wrong.
        StoreError: the database cannot be used.
    """
    metrics = Metrics()
    watching = _Watching(metrics, metrics, dict)
    if traces is not None:
        from interviewer.adapters.traces import Traces  # its packages are an extra

        traced = Traces(metrics, traces)
        watching = _Watching(metrics, traced, traced.headers)
    return await (_external(settings, watching) if settings.engine_url else _embedded(settings, watching, progress))


def adapters_folder(settings: Settings) -> Path:
    """Return the folder that holds ``<id>/adapter`` for each persona and the evaluator."""
    return settings.personas or packaged("personas")


def base_model(settings: Settings) -> Entry:
    """Return the base model of the embedded engine.

    Raises:
        CatalogueError: there is none of that name, or the folder is not a checkpoint.
    """
    return load_catalogue().get(settings.model)


def find_adapters(
    settings: Settings, progress: Callable[[str], None] = _log.info, entry: Entry | None = None
) -> dict[str, Path]:
    """Return the adapter folders that are there for a base model, by id.

    Args:
        settings: Where to look, and whether adapters are served at all.
        progress: Told what is missing.
        entry: The base model; the one in the settings when not given.
    """
    if not settings.adapters:
        return {}
    entry = entry or base_model(settings)
    found = {name: find_adapter(adapters_folder(settings), name, entry) for name in ADAPTERS}
    for reason in found.values():
        if isinstance(reason, str):
            progress(reason)
    return {name: path for name, path in found.items() if isinstance(path, Path)}


def version_store(
    settings: Settings, progress: Callable[[str], None] = _log.info, entry: Entry | None = None
) -> VersionStore:
    """Return the versions of a base model's adapters: those that ship and those that were installed here.

    Arguments are those of :func:`find_adapters`.
    """
    entry = entry or base_model(settings)
    folder = "adapters" if entry.embedded else f"adapters-{entry.name}"
    return VersionStore(settings.data_dir / folder, find_adapters(settings, progress, entry))


def usable(found: Mapping[str, Version], entry: Entry, model: Path) -> tuple[dict[str, Version], dict[str, str]]:
    """Return the versions that the engine can serve, and why it cannot serve the others, both by adapter."""
    good: dict[str, Version] = {}
    bad: dict[str, str] = {}
    base = model if (model / "config.json").is_file() else None
    for name, version in found.items():
        try:
            check_adapter(version.folder, entry, EngineConfig.max_lora_rank, base)
            good[name] = version
        except AdapterError as error:
            bad[name] = str(error)
    return good, bad


def load_calibration(folder: Path) -> Calibration:
    """Return the calibration that lies in an evaluator's folder, or none."""
    path = folder / "calibration.json"
    return Calibration.model_validate_json(path.read_text(encoding="utf-8")) if path.is_file() else UNCALIBRATED


def load_words(folder: Path) -> WordModel:
    """Return what was learnt about the words of answers, from an evaluator's folder, or nothing."""
    path = folder / "words.json"
    return WordModel.model_validate_json(path.read_text(encoding="utf-8")) if path.is_file() else NO_WORDS


async def _embedded(settings: Settings, watching: _Watching, progress: Callable[[str], None]) -> Service:
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    entry = base_model(settings)
    model = entry.folder(settings.cache)
    store = version_store(settings, progress, entry)
    found = {name: version for name in ADAPTERS if settings.adapters and (version := store.active(name))}
    active, refused = usable(found, entry, model)
    config = EngineConfig(
        model=model,
        adapters={version.name: version.folder for version in active.values()},
        port=free_port("127.0.0.1"),
        max_model_len=settings.context_tokens,
        kv_cache_bytes=(settings.kv_cache_mb or entry.cpu.kv_cache_mb) << 20,
        dtype=entry.dtype(engine_on_cpu(), cpu_flags()),
        extra=tuple(entry.flags(engine_on_cpu())),
        log=settings.data_dir / "engine.log",
        api_key=os.environ.get("VLLM_API_KEY") or secrets.token_urlsafe(32),
        traces=settings.traces,
    )
    address = f"http://{config.host}:{config.port}/v1"
    leave(settings.data_dir, address, config.api_key)
    client = make_client(address, config.api_key, headers=watching.headers)
    roster = Roster()
    served = {name: version.name for name, version in active.items() if name != EVALUATOR}
    judge: Judge = _judge(settings, client, active.get(EVALUATOR), "base", roster, entry.name)
    current = CurrentJudge(judge) if _small(settings, EVALUATOR in active) else None
    known = _judges(settings, client, active.get(EVALUATOR), "base", roster, entry.name)
    judges = {name: CurrentJudge(each) for name, each in known.items()}

    def switch(adapter: str, version: Version | None) -> None:
        if adapter != EVALUATOR:
            served.pop(adapter, None)
            if version is not None:
                served[adapter] = version.name
        elif version is not None:  # one that failed its canary is refused by the roster
            if current is not None:
                current.current = _judge(settings, client, version, "base", roster, entry.name)
            for name, each in _judges(settings, client, version, "base", roster, entry.name).items():
                if name in judges:
                    judges[name].current = each

    backend = EmbeddedBackend(
        config,
        client,
        prepare=lambda: entry.ensure(settings.cache, progress),
        store=store,
        active=active,
        refused=refused,
        roster=roster,
        switch=switch,
        progress=progress,
    )
    count = _lazy_count(settings.tokenizer or model / "tokenizer.json")

    def measured(stamp: Stamp) -> Measured | None:
        version = store.find(EVALUATOR, stamp.adapter.rpartition("@")[2])
        return load_measured(version.folder.parent, stamp.calibration) if version else None

    chat = OpenAIChat(client, roster)
    return await _service(
        settings,
        watching,
        chat,
        current or judge,
        judges,
        count,
        served,
        "base",
        backend,
        client,
        embedded_engine(entry, config.chosen_dtype()),
        measured,
    )


def leave(data_dir: Path, address: str, key: str) -> None:
    """Write down where the engine listens and its key, the key for this user only; ``bench`` and ``model`` read it."""
    (data_dir / "engine.url").write_text(f"{address}\n", encoding="utf-8")
    path = data_dir / "engine.key"
    path.unlink(missing_ok=True)  # one that others can read would keep its mode
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(f"{key}\n")


async def _external(settings: Settings, watching: _Watching) -> Service:
    client = make_client(settings.engine_url, settings.engine_api_key, headers=watching.headers)
    served: dict[str, str] = {}
    evaluator: str | None = None
    judge = CurrentJudge(_judge(settings, client, evaluator, settings.engine_model, Roster()))
    known = _judges(settings, client, evaluator, settings.engine_model, Roster())
    judges = {name: CurrentJudge(each) for name, each in known.items()}

    def seen(names: Sequence[str]) -> None:
        nonlocal evaluator
        found = served_adapters(names) if settings.adapters else {}
        if found.get(EVALUATOR) != evaluator:
            evaluator = found.get(EVALUATOR)
            judge.current = _judge(settings, client, evaluator, settings.engine_model, Roster())
            for name, each in _judges(settings, client, evaluator, settings.engine_model, Roster()).items():
                judges.setdefault(name, CurrentJudge(each)).current = each
        served.clear()
        served.update((name, model) for name, model in found.items() if name != EVALUATOR)

    backend = ExternalBackend(client, settings.engine_model, seen)
    await backend.ask()
    count: Count = rough_count
    if settings.tokenizer is not None:
        count = TokenCounter(load_encoding(settings.tokenizer))
    name, home = settings.engine_model, adapters_folder(settings) / EVALUATOR

    def measured(stamp: Stamp) -> Measured | None:
        """Return what was measured of our evaluator, when the endpoint's name for it says that it is the very one."""
        there = (home / "adapter" / "adapter_model.safetensors").is_file()
        same = there and adapter_name(EVALUATOR, home / "adapter") == stamp.adapter.rpartition(":")[2]
        return load_measured(home, stamp.calibration) if same else None

    chat = OpenAIChat(client)
    engine = Engine(model=name)
    return await _service(
        settings, watching, chat, judge, judges, count, served, name, backend, client, engine, measured
    )


def served_adapters(models: Sequence[str]) -> dict[str, str]:
    """Return which of our adapters an endpoint serves, by id; ``deep_dive`` and ``deep_dive@1a2b3c4d`` both count.

    Ray Serve puts the base before the name: ``base:deep_dive@1a2b3c4d``.
    """
    return {name: model for name in ADAPTERS for model in models if model.rpartition(":")[2].split("@")[0] == name}


def _small(settings: Settings, evaluator: bool) -> bool:
    """Return whether levels are read from one token; ``evaluator``: whether its adapter is served."""
    return settings.judge == "small" or (settings.judge == "auto" and evaluator and not settings.judge_url)


def _judges(
    settings: Settings,
    client: AsyncOpenAI,
    evaluator: Version | str | None,
    base: str,
    roster: Roster,
    known_as: str | None = None,
) -> dict[str, Judge]:
    """Return the judges that a replay can be read by, by name; arguments as in :func:`_judge`.

    ``small`` is the trained one, ``uncalibrated`` the same without its calibration, ``structured`` the endpoint for
    judging, or else the engine's model, asked for a verdict in JSON.
    """
    asked = make_client(settings.judge_url, settings.judge_api_key) if settings.judge_url else client
    found: dict[str, Judge] = {"structured": BigJudge(asked, settings.judge_model or base)}
    if evaluator is not None:
        trained = settings.model_copy(update={"judge": "small"})
        found["small"] = _judge(trained, client, evaluator, base, roster, known_as)
        found["uncalibrated"] = _judge(trained, client, evaluator, base, roster, known_as, UNCALIBRATED)
    return found


def _judge(
    settings: Settings,
    client: AsyncOpenAI,
    evaluator: Version | str | None,
    base: str,
    roster: Roster,
    known_as: str | None = None,
    calibration: Calibration | None = None,
) -> Judge:
    """Return a judge.

    Args:
        settings: Which one is wanted.
        client: The engine.
        evaluator: Its adapter: a version here, or the name under which an endpoint serves it.
        base: Name under which the base model is served.
        roster: Who may serve.
        known_as: Name of the base model, where it is served under another.
        calibration: In place of its own.
    """
    if _small(settings, evaluator is not None):
        folder = evaluator.folder.parent if isinstance(evaluator, Version) else adapters_folder(settings) / EVALUATOR
        calibration = calibration or load_calibration(folder)
        model = evaluator.name if isinstance(evaluator, Version) else evaluator or base
        identity = f"small:{model}:calibration-{calibration.version}"
        words, named = load_words(folder), known_as or base
        return SmallJudge(client, model, calibration, words, identity=identity, base=named, roster=roster)
    if settings.judge_url:
        client = make_client(settings.judge_url, settings.judge_api_key)
    return BigJudge(client, settings.judge_model or base)


async def _service(
    settings: Settings,
    watching: _Watching,
    model: OpenAIChat,
    judge: Judge,
    judges: Mapping[str, Judge],
    count: Count,
    served: Mapping[str, str],
    base: str,
    backend: EmbeddedBackend | ExternalBackend,
    client: AsyncOpenAI,
    engine: Engine,
    measured: Callable[[Stamp], Measured | None],
) -> Service:
    library = load_library(settings.rubrics, settings.personas)
    limits, metrics = Limits(), watching.metrics
    accounts = open_accounts(settings) if settings.auth else None

    def judging(who: Judge) -> Judging:
        metered = who if accounts is None else MeteredJudge(who, accounts.charge)
        return Judging(metered, count, english, seconds=settings.turn_seconds, told=metrics.judged)

    english = EnglishCheck()
    why_not = unavailable() if settings.run_code else Deps.why_no_runner
    deps = Deps(
        library=library,
        store=SqlEventStore.open(settings.sessions_database(), metrics.stored),
        model=model if accounts is None else MeteredModel(model, accounts.charge),
        judging=judging(judge),
        judges={name: judging(each) for name, each in judges.items()},
        clock=SystemClock(),
        new_id=new_id,
        count=count,
        served=served,
        base=base,
        runner=None if why_not else Sandbox(),
        why_no_runner=why_not,
        recovered=backend.recovered,
        telemetry=watching.telemetry,
        limits=Limits(
            prompt_tokens=min(limits.prompt_tokens, settings.context_tokens - limits.answer_tokens),
            word_seconds=0.012,
            warm=True,
            quote_first=_quotes_first(settings),
            model_seconds=settings.turn_seconds,
        ),
    )
    return assemble(
        deps,
        backend,
        settings.allowed_hosts,
        accounts=accounts,
        audit=AuditLog(settings.audit_log or settings.data_dir / "audit.jsonl") if accounts else None,
        stored=settings.store != "none",
        keep_days=settings.keep_days,
        metrics=metrics.exposition,
        engine_load=lambda: engine_load(client),
        engine=engine,
        measured=measured,
    )


def open_accounts(settings: Settings) -> Accounts:
    """Return the accounts in the database; they are kept there also where sessions are not.

    Raises:
        StoreError: the database cannot be used.
    """
    rules = Rules(
        per_minute=settings.rate_per_minute,
        burst=max(1, settings.rate_per_minute // 3),
        engine_seconds=settings.engine_seconds_per_day,
        signed_in=timedelta(hours=settings.session_hours),
    )
    return Accounts(SqlKeyStore.open(settings.database()), SystemClock(), rules)


def _lazy_count(tokenizer: Path) -> Count:
    """Return a counter that loads its tokenizer when it is first used: the embedded model may still be on its way."""
    counter: list[TokenCounter] = []

    def count(text: str) -> int:
        if not counter:
            if not tokenizer.is_file():
                return rough_count(text)
            counter.append(TokenCounter(load_encoding(tokenizer)))
        return counter[0](text)

    return count


def _quotes_first(settings: Settings) -> bool:
    """Return whether follow-ups begin with a quote: 135M parameters word a question, and seldom a sensible tie-in."""
    if settings.tie_in == "auto":
        return not settings.engine_url and settings.model == Settings.model_fields["model"].default
    return settings.tie_in == "quote"
