"""The engine's LoRA arguments for the adapters under a personas folder, named by their content.

All replicas have to serve the same names, or a session that moves to another replica finds its persona unknown. So the
names come from the weights, and every engine is given the list that this prints.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path, PurePosixPath

from serving.canary import adapter_name
from serving.engine_config import RANKS, EngineError, adapter_settings

ARGUMENTS = "lora.args"
"""File that ``--to`` writes beside the copied adapters."""


def find_adapters(personas: Path) -> dict[str, Path]:
    """Return the adapter folders under ``personas``, by served name.

    Raises:
        EngineError: there is none, or one cannot be read.
    """
    folders = {path.parent.name: path for path in sorted(personas.glob("*/adapter")) if path.is_dir()}
    if not folders:
        raise EngineError(f"No adapters in {personas}.", "Train them with `interviewer train`, or correct the path.")
    for name, folder in folders.items():
        adapter_settings(name, folder)
    return {adapter_name(name, folder): folder for name, folder in folders.items()}


def arguments(adapters: dict[str, Path], seen_at: PurePosixPath) -> list[str]:
    """Return what an engine is started with, where ``seen_at`` holds one folder per persona.

    One slot per adapter: all of them can be in the same batch, and none is ever swapped out.

    Raises:
        EngineError: an adapter's rank is larger than an engine can serve.
    """
    ranks = [adapter_settings(name, folder).get("r") for name, folder in adapters.items()]
    largest = max((rank for rank in ranks if isinstance(rank, int)), default=0)
    rank = next((rank for rank in RANKS if largest and rank >= largest), None)
    if rank is None or len(ranks) != sum(isinstance(rank, int) for rank in ranks):
        raise EngineError(f"Ranks {ranks} cannot be served.", f"Use a rank of at most {RANKS[-1]}.")
    slots = len(adapters)
    argv = ["--enable-lora", f"--max-loras={slots}", f"--max-cpu-loras={slots}", f"--max-lora-rank={rank}"]
    return [*argv, "--lora-modules", *(f"{name}={seen_at / name.split('@')[0]}" for name in adapters)]


def install(adapters: dict[str, Path], to: Path) -> None:
    """Copy the adapters to ``to``, one folder per persona, and write their arguments beside them, last.

    Raises:
        OSError: ``to`` cannot be written.
        EngineError: as for :func:`arguments`.
    """
    argv = arguments(adapters, PurePosixPath(to))
    for name, folder in adapters.items():
        target = to / name.split("@")[0]
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(folder, target)
    (to / ARGUMENTS).write_text(" ".join(argv) + "\n", encoding="utf-8")


def main(argv: list[str] | None = None) -> int:
    """Print the arguments, or install the adapters for engines; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m serving.deploy.lora_modules", description=main.__doc__)
    shipped = Path(__file__).resolve().parents[2] / "personas"
    parser.add_argument("--personas", type=Path, default=shipped, help="folder with <id>/adapter (default: shipped)")
    parser.add_argument("--seen-at", type=PurePosixPath, default=PurePosixPath("/adapters"), help="the engines' mount")
    parser.add_argument("--to", type=Path, help=f"copy the adapters there and write {ARGUMENTS}, instead of printing")
    given = parser.parse_args(argv)
    try:
        adapters = find_adapters(given.personas)
        if given.to is None:
            sys.stdout.write(" ".join(arguments(adapters, given.seen_at)) + "\n")
        else:
            install(adapters, given.to)
    except (EngineError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
