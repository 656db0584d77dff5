"""Turn a quantised GGUF file into a checkpoint folder: ``python -m serving.convert MODEL.gguf OUT``.

Runs as a child of :mod:`serving.fetch`, so that torch and the weights leave memory with it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def convert(gguf: Path, out: Path) -> None:
    """Write ``config.json``, ``model.safetensors`` (bfloat16), ``tokenizer.json`` and the chat template to ``out``.

    Raises:
        ValueError: the file has no chat template; every persona is trained on it, so it may not be guessed.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    folder, name = str(gguf.parent), gguf.name
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=name)
    if not tokenizer.chat_template:
        raise ValueError(f"{name} has no chat template")
    # Without dequantize=True the blocks stay packed and the model cannot be saved.
    model = AutoModelForCausalLM.from_pretrained(
        folder, gguf_file=name, quantization_config=GgufConfig(dequantize=True), dtype=torch.float32
    )
    model = model.bfloat16()
    model.config.dtype = "bfloat16"
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    _tidy(out / "config.json", drop=("_name_or_path", "_model_name_or_path"))
    # The default length is 10**30; the model has this many positions.
    _tidy(out / "tokenizer_config.json", drop=("is_local", "local_files_only"), model_max_length=8192)


def _tidy(path: Path, drop: tuple[str, ...], **put: object) -> None:
    """Rewrite a JSON file without keys that describe this machine, and with ``put``."""
    document = json.loads(path.read_text(encoding="utf-8"))
    document = {key: value for key, value in document.items() if key not in drop} | put
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit("usage: python -m serving.convert MODEL.gguf OUT")
    convert(Path(sys.argv[1]), Path(sys.argv[2]))
