"""Known holes in what is installed, looked up by pip-audit; part of CI, where it tells and does not block.

It lives in an environment of its own, ``.venv/audit``, because its libraries would change versions of ours. Where only
a package index answers, nothing can be looked up, and that is said: a silent audit would look like a clean one.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import venv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TOOL = "pip-audit==2.10.1"
SECONDS = 300


@dataclass(frozen=True)
class Audit:
    """What was found."""

    asked: int
    """Packages that could be looked up."""
    skipped: int
    """Packages that could not."""
    holes: tuple[str, ...]
    """One line for each known hole."""

    def said(self) -> str:
        """Return it in words."""
        if not self.asked:
            return f"audit: no vulnerability service answers here; none of {self.skipped} packages was looked up"
        left = f", {self.skipped} could not be" if self.skipped else ""
        found = "no known hole" if not self.holes else f"{len(self.holes)} known holes:"
        return "\n".join([f"audit: {self.asked} packages looked up{left}: {found}", *(f"  {h}" for h in self.holes)])


def read(report: Mapping[str, Any]) -> Audit:
    """Read pip-audit's JSON."""
    packages: Sequence[Mapping[str, Any]] = report["dependencies"]
    asked = [package for package in packages if "skip_reason" not in package]
    holes = [
        f"{package['name']} {package['version']}: {hole['id']}, mended in "
        f"{' or '.join(hole['fix_versions']) or 'no version yet'}"
        for package in asked
        for hole in package["vulns"]
    ]
    return Audit(len(asked), len(packages) - len(asked), tuple(holes))


def run(python: Path = Path(sys.executable)) -> Audit:
    """Look up everything that is installed for ``python``.

    Raises:
        OSError, subprocess.SubprocessError: the tool cannot be installed or does not answer.
        ValueError: it answers something else than its report.
    """
    home = ROOT / ".venv" / "audit"
    if not (home / "bin" / "pip-audit").exists():
        venv.create(home, with_pip=True)
        _call(str(home / "bin" / "pip"), "install", "-q", TOOL)
    with tempfile.TemporaryDirectory() as folder:
        frozen = Path(folder) / "requirements.txt"
        frozen.write_text(_call(str(python), "-m", "pip", "freeze", "--exclude-editable"), encoding="utf-8")
        options = ["--no-deps", "--disable-pip", "--progress-spinner", "off", "--format", "json"]
        asked = [str(home / "bin" / "pip-audit"), *options, "-r", str(frozen)]
        told = subprocess.run(asked, capture_output=True, text=True, timeout=SECONDS)  # it exits 1 when it found some
    return read(json.loads(told.stdout))


def _call(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=SECONDS).stdout


def main() -> int:
    """Print what was found; 1 when there is a hole."""
    try:
        found = run()
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        sys.stdout.write(f"audit: could not be done: {error}\n")
        return 2
    sys.stdout.write(f"{found.said()}\n")
    return 1 if found.holes else 0


if __name__ == "__main__":
    sys.exit(main())
