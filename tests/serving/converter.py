"""Stand-in for :mod:`serving.convert`: ``python -m tests.serving.converter GGUF OUT`` copies instead of converting."""

import sys
from pathlib import Path

if __name__ == "__main__":
    gguf, out = Path(sys.argv[1]), Path(sys.argv[2])
    if gguf.read_bytes() == b"broken":
        sys.exit("not a GGUF file")
    (out / "config.json").write_text("{}", encoding="utf-8")
    (out / "model.safetensors").write_bytes(gguf.read_bytes())
