"""Against the real engine and the embedded model: right answers in mixed batches, sane English, nothing left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from serving.canary import check, distance
from tests.serving.conftest import Live
from tests.serving.test_watch import until

pytestmark = [pytest.mark.engine, pytest.mark.asyncio(loop_scope="session")]

PROMPTS = {
    "wide": "The candidate explained how the batch size changed the latency, and then",
    "small": "A short prompt",
    "narrow": "Our service answered forty requests per second before we changed anything, so",
    "base": "The capital of France is",
}


async def ask(live: Live, kind: str, tokens: int = 12, prompt: str | None = None) -> tuple[str, dict[str, float]]:
    """Return the greedy continuation and the first token's log-probabilities."""
    answer = await live.client.completions.create(
        model=live.names.get(kind, kind),
        prompt=prompt or PROMPTS[kind],
        max_tokens=tokens,
        temperature=0,
        logprobs=20,
        extra_body={"ignore_eos": True},
    )
    logprobs = answer.choices[0].logprobs
    assert logprobs is not None
    assert logprobs.top_logprobs
    return answer.choices[0].text, dict(logprobs.top_logprobs[0])


async def test_the_plugin_is_loaded(live: Live) -> None:
    assert "CPU LoRA plugin is on" in live.log.read_text(encoding="utf-8")


async def test_the_base_speaks_english(live: Live) -> None:
    answer = await live.client.chat.completions.create(
        model="base",
        messages=[{"role": "user", "content": "What is the capital of France? Answer in one sentence."}],
        max_tokens=24,
        temperature=0,
    )
    assert "Paris" in (answer.choices[0].message.content or "")


async def test_alone_and_mixed_in_one_batch_are_the_same(live: Live) -> None:
    kinds = list(PROMPTS)
    alone = {kind: await ask(live, kind) for kind in kinds}
    # Staggered, so that prefills of some fall into decoding steps of others; other prompts keep the prefix cache out.
    order = kinds * 2

    async def later(number: int, kind: str) -> tuple[str, dict[str, float]]:
        await asyncio.sleep(0.05 * number)
        return await ask(live, kind)

    mixed = await asyncio.gather(*(later(number, kind) for number, kind in enumerate(order)))
    for kind, (text, logprobs) in zip(order, mixed, strict=True):
        assert text == alone[kind][0], f"{kind} answers otherwise in a mixed batch"
        assert distance(logprobs, alone[kind][1]) < 1e-2


async def test_adapters_equal_peft_on_the_same_prompt(live: Live, base: Path) -> None:
    import torch
    from peft import PeftModel
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(base)
    for kind in ("wide", "small", "narrow"):
        model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
        tuned = PeftModel.from_pretrained(model, str(live.log.parent / kind)).eval()
        inputs = tokenizer(PROMPTS[kind], return_tensors="pt")
        with torch.no_grad():
            wanted = torch.log_softmax(tuned(**inputs).logits[0, -1], dim=-1)
        best = int(wanted.argmax())
        _, found = await ask(live, kind, tokens=1)
        top = max(found, key=lambda token: found[token])
        assert top == tokenizer.decode([best])
        assert found[top] == pytest.approx(float(wanted[best]), abs=0.1)


async def test_the_canary_finds_the_adapter_that_changes_nothing(live: Live) -> None:
    names = list(live.names.values())
    results = {result.name: result for result in await check(live.client, names, {})}
    assert results["base"].ok
    assert [kind for kind, name in live.names.items() if not results[name].ok] == ["silent"]
    assert "no module" in results[live.names["silent"]].detail

    goldens = {name: result.logprobs for name, result in results.items()}
    again = await check(live.client, [live.names["wide"]], goldens)
    assert [result.ok for result in again] == [True, True]
    swapped = {live.names["wide"]: goldens[live.names["narrow"]]}
    wrong = await check(live.client, [live.names["wide"]], swapped)
    assert not wrong[1].ok

    missing = await check(live.client, ["nobody@0"], {})
    assert not missing[1].ok
    assert "nobody@0" in missing[1].detail


OWNER = """
import asyncio, sys
from pathlib import Path
from serving.engine import Engine, EngineConfig
async def main():
    engine = Engine(EngineConfig(model=Path(sys.argv[1]), log=Path(sys.argv[2]), kv_cache_bytes=1 << 28))
    await engine.start()
    print("started", flush=True)
    if sys.argv[3] == "ready":
        await engine.wait_ready()
    else:
        await asyncio.sleep(8)
    print("now", flush=True)
    await asyncio.sleep(600)
asyncio.run(main())
"""


def processes_naming(text: str) -> list[int]:
    """Return the ids of processes whose command or environment holds ``text``."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if text.encode() in (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


@pytest.mark.parametrize("moment", ["starting", "ready"])
async def test_killing_the_service_leaves_no_engine_process(base: Path, tmp_path: Path, moment: str) -> None:
    mark = f"INTERVIEWER_TEST_MARK={tmp_path.name}"
    owner = await asyncio.to_thread(
        subprocess.Popen,
        [sys.executable, "-c", OWNER, str(base), str(tmp_path / "log"), moment],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "INTERVIEWER_TEST_MARK": tmp_path.name},
    )
    with owner:
        assert owner.stdout is not None
        for wanted in ("started", "now"):
            assert (await asyncio.to_thread(owner.stdout.readline)).strip() == wanted
        # Watcher and server, and the engine core once the model is loaded.
        assert len(processes_naming(mark)) >= (4 if moment == "ready" else 3)
        os.kill(owner.pid, signal.SIGKILL)
    assert await asyncio.to_thread(until, lambda: not processes_naming(mark), 30.0), processes_naming(mark)
