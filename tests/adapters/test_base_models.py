"""Another base model for the embedded engine: other flags, no adapters of the wrong base, and the personas say so."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from interviewer.adapters.backend import EmbeddedBackend
from interviewer.adapters.documents import packaged
from interviewer.adapters.judges import BigJudge, CurrentJudge
from interviewer.bootstrap import ADAPTERS, build
from interviewer.settings import Settings
from interviewer.web.state import Service
from serving.fetch import FetchError
from tests.adapters import test_rolling as rolling
from tests.adapters.test_rolling import adapter

CONFIG = {**rolling.CONFIG, "architectures": ["LlamaForCausalLM"], "max_position_embeddings": 4096}


def checkpoint(folder: Path) -> Path:
    """Write what a folder with a model looks like from outside."""
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    (folder / "model.safetensors").write_bytes(b"weights")
    (folder / "tokenizer.json").write_text("{}", encoding="utf-8")
    (folder / "tokenizer_config.json").write_text('{"chat_template": "{{ messages }}"}', encoding="utf-8")
    return folder


async def built(tmp_path: Path, **changes: object) -> tuple[Service, list[str]]:
    told: list[str] = []
    settings = Settings(data_dir=tmp_path / "data", cache=tmp_path / "cache", **changes)
    return await build(settings, told.append), told


def argv(service: Service) -> list[str]:
    assert isinstance(service.backend, EmbeddedBackend)
    return service.backend._config.argv(1)


async def test_by_default_the_shipped_adapters_are_served_on_the_embedded_base(tmp_path: Path) -> None:
    service, told = await built(tmp_path)
    assert set(service.deps.served) == set(ADAPTERS) - {"evaluator"}
    assert told == []
    assert "--kv-cache-memory-bytes=1073741824" in argv(service)
    await service.stop()


async def test_personas_without_an_adapter_for_the_base_run_on_their_prompt_and_say_so(tmp_path: Path) -> None:
    base = checkpoint(tmp_path / "Other-1B")
    service, told = await built(tmp_path, model=str(base), kv_cache_mb=256)
    assert service.deps.served == {}
    assert len(told) == len(ADAPTERS)
    assert told[0].startswith("recruiter has no adapter for Other-1B; `interviewer train recruiter --base")
    assert isinstance(service.deps.judging._judge, BigJudge), "the evaluator's adapter is not for this base either"
    assert f"--model={base}" in argv(service)
    assert "--enable-lora" not in argv(service)
    assert [a for a in argv(service) if "kv-cache-memory" in a][-1] == f"--kv-cache-memory-bytes={256 << 20}"
    await service.stop()


async def test_an_adapter_trained_for_another_base_serves_there(tmp_path: Path) -> None:
    base = checkpoint(tmp_path / "Other-1B")
    personas = tmp_path / "personas"
    shutil.copytree(packaged("personas"), personas, ignore=shutil.ignore_patterns("data"))
    made = adapter(personas / "recruiter" / "adapters" / "other-1b", 0.5)
    settings = {"peft_type": "LORA", "r": 8, "target_modules": ["q_proj"], "base_model_name_or_path": "Other-1B"}
    (made / "adapter" / "adapter_config.json").write_text(json.dumps(settings), encoding="utf-8")
    service, _ = await built(tmp_path, model=str(base), personas=personas)
    assert list(service.deps.served) == ["recruiter"]
    await service.stop()


async def test_a_damaged_adapter_does_not_stop_the_others(tmp_path: Path) -> None:
    personas = tmp_path / "personas"
    shutil.copytree(packaged("personas"), personas, ignore=shutil.ignore_patterns("data"))
    (personas / "recruiter" / "adapter" / "adapter_model.safetensors").write_bytes(b"half a file")
    service, _ = await built(tmp_path, personas=personas)
    assert set(service.deps.served) == set(ADAPTERS) - {"evaluator", "recruiter"}
    check = service.backend.checks()["adapter:recruiter"]
    assert not check.ok and "adapter_model.safetensors is damaged" in check.detail
    assert isinstance(service.deps.judging._judge, CurrentJudge)
    await service.stop()


async def test_an_unknown_base_is_named_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(FetchError, match="There is no model 'gpt-9'; the catalogue has: smollm2-135m"):
        await built(tmp_path, model="gpt-9")
