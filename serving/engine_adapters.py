"""Load adapters into a running engine and take them out again.

The engine offers this only when it is started with ``VLLM_ALLOW_RUNTIME_LORA_UPDATING=1``, and to whoever can reach it:
it listens on loopback.
"""

from __future__ import annotations

from pathlib import Path

from openai import AsyncOpenAI, OpenAIError

from serving.engine_config import EngineError

SECONDS = 60.0


async def load(client: AsyncOpenAI, name: str, folder: Path) -> None:
    """Load an adapter under a new name; harmless when that name is served already.

    Raises:
        EngineError: the engine is away or cannot load it.
    """
    try:
        if name not in {model.id async for model in client.models.list()}:
            body = {"lora_name": name, "lora_path": str(folder)}
            await client.post("/load_lora_adapter", body=body, cast_to=str, options={"timeout": SECONDS})
    except OpenAIError as error:
        raise EngineError(f"The engine did not load {name}: {error}.", "Its log says more.") from error


async def unload(client: AsyncOpenAI, name: str) -> None:
    """Take an adapter out; harmless when it is not there.

    Raises:
        EngineError: the engine is away or refuses.
    """
    try:
        if name in {model.id async for model in client.models.list()}:
            await client.post(
                "/unload_lora_adapter", body={"lora_name": name}, cast_to=str, options={"timeout": SECONDS}
            )
    except OpenAIError as error:
        raise EngineError(f"The engine did not unload {name}: {error}.", "Its log says more.") from error
