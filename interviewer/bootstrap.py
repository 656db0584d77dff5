"""The only place where things are put together: settings in, a service out."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from pathlib import Path

import httpx2
from openai import AsyncOpenAI, OpenAIError

from interviewer.adapters.backend import EmbeddedBackend, ExternalBackend
from interviewer.adapters.documents import load_library, packaged
from interviewer.adapters.judges import BigJudge, SmallJudge
from interviewer.adapters.language import EnglishCheck
from interviewer.adapters.openai_model import MALFORMED, OpenAIChat, make_client
from interviewer.adapters.store import SqlEventStore
from interviewer.adapters.system import SystemClock, new_id
from interviewer.adapters.tokens import TokenCounter, load_encoding, rough_count
from interviewer.core.calibration import UNCALIBRATED, Calibration
from interviewer.core.lexical import NO_WORDS, WordModel
from interviewer.core.prompts import Count
from interviewer.service.deps import Deps, Limits
from interviewer.service.judging import Judging
from interviewer.service.ports import Judge
from interviewer.settings import Settings
from interviewer.web.state import Service, assemble
from serving.canary import Logprobs, adapter_name
from serving.engine_config import EngineConfig, free_port
from serving.fetch import base_folder, ensure_base

_log = logging.getLogger(__name__)

EVALUATOR = "evaluator"
ADAPTERS = ("recruiter", "hiring_manager", "coding_design", "deep_dive", "behavioral", EVALUATOR)


async def build(settings: Settings, progress: Callable[[str], None] = _log.info) -> Service:
    """Build the service that ``settings`` describe; starts nothing yet.

    Raises:
        DocumentError: a rubric or persona document is wrong.
        StoreError: the database cannot be used.
    """
    return await (_external(settings) if settings.engine_url else _embedded(settings, progress))


def adapters_folder(settings: Settings) -> Path:
    """Return the folder that holds ``<id>/adapter`` for each persona and the evaluator."""
    return settings.personas or packaged("personas")


def find_adapters(settings: Settings) -> dict[str, Path]:
    """Return the adapter folders that are there, by id."""
    if not settings.adapters:
        return {}
    root = adapters_folder(settings)
    folders = {name: root / name / "adapter" for name in ADAPTERS}
    return {name: path for name, path in folders.items() if (path / "adapter_model.safetensors").is_file()}


def load_calibration(settings: Settings) -> Calibration:
    """Return the evaluator's calibration, or none."""
    path = adapters_folder(settings) / EVALUATOR / "calibration.json"
    return Calibration.model_validate_json(path.read_text(encoding="utf-8")) if path.is_file() else UNCALIBRATED


def load_words(settings: Settings) -> WordModel:
    """Return what was learnt about the words of answers, or nothing."""
    path = adapters_folder(settings) / EVALUATOR / "words.json"
    return WordModel.model_validate_json(path.read_text(encoding="utf-8")) if path.is_file() else NO_WORDS


def load_golden(adapter: Path) -> Logprobs | None:
    """Return the canary stored beside an adapter folder, or ``None``; ``interviewer model canaries`` writes it."""
    path = adapter.parent / "canary.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


async def _embedded(settings: Settings, progress: Callable[[str], None]) -> Service:
    folders = find_adapters(settings)
    names = {name: adapter_name(name, path) for name, path in folders.items()}
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    model = base_folder(settings.cache)
    config = EngineConfig(
        model=model,
        adapters={names[name]: path for name, path in folders.items()},
        port=free_port("127.0.0.1"),
        max_model_len=settings.context_tokens,
        log=settings.data_dir / "engine.log",
    )
    address = f"http://{config.host}:{config.port}/v1"
    (settings.data_dir / "engine.url").write_text(f"{address}\n", encoding="utf-8")
    client = make_client(address, "none")
    served = {name: served_name for name, served_name in names.items() if name != EVALUATOR}
    backend = EmbeddedBackend(
        config,
        client,
        prepare=lambda: ensure_base(settings.cache, progress),
        served=names,
        goldens={names[name]: golden for name, path in folders.items() if (golden := load_golden(path))},
        progress=progress,
    )
    count = _lazy_count(settings.tokenizer or model / "tokenizer.json")
    judge = _judge(settings, client, names.get(EVALUATOR), base="base")
    return await _service(settings, client, judge, count, served, "base", backend)


async def _external(settings: Settings) -> Service:
    client = make_client(settings.engine_url, settings.engine_api_key)
    backend = ExternalBackend(client, settings.engine_model)
    found = await _served_names(client) if settings.adapters else {}
    count: Count = rough_count
    if settings.tokenizer is not None:
        count = TokenCounter(load_encoding(settings.tokenizer))
    judge = _judge(settings, client, found.get(EVALUATOR), base=settings.engine_model)
    served = {name: model for name, model in found.items() if name != EVALUATOR}
    return await _service(settings, client, judge, count, served, settings.engine_model, backend)


async def _served_names(client: AsyncOpenAI) -> dict[str, str]:
    """Return which of our adapters an endpoint serves, by id; ``deep_dive`` and ``deep_dive@1a2b3c4d`` both count."""
    try:
        models = [model.id async for model in client.models.list()]
    except (OpenAIError, httpx2.HTTPError, *MALFORMED):
        return {}
    return {name: model for name in ADAPTERS for model in models if model.split("@")[0] == name}


def _judge(settings: Settings, client: AsyncOpenAI, evaluator: str | None, *, base: str) -> Judge:
    small = settings.judge == "small" or (settings.judge == "auto" and evaluator is not None and not settings.judge_url)
    if small:
        calibration = load_calibration(settings)
        model = evaluator or base
        identity = f"small:{model}:calibration-{calibration.version}"
        return SmallJudge(client, model, calibration, load_words(settings), identity=identity)
    if settings.judge_url:
        client = make_client(settings.judge_url, settings.judge_api_key)
    return BigJudge(client, settings.judge_model or base)


async def _service(
    settings: Settings,
    client: AsyncOpenAI,
    judge: Judge,
    count: Count,
    served: Mapping[str, str],
    base: str,
    backend: EmbeddedBackend | ExternalBackend,
) -> Service:
    library = load_library(settings.rubrics, settings.personas)
    limits = Limits()
    deps = Deps(
        library=library,
        store=SqlEventStore.open(settings.database()),
        model=OpenAIChat(client),
        judging=Judging(judge, count, EnglishCheck()),
        clock=SystemClock(),
        new_id=new_id,
        count=count,
        served=served,
        base=base,
        limits=Limits(
            prompt_tokens=min(limits.prompt_tokens, settings.context_tokens - limits.answer_tokens), word_seconds=0.012
        ),
    )
    return assemble(deps, backend, settings.allowed_hosts)


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
