"""What is made of pip-audit's report."""

from __future__ import annotations

from typing import Any

import pytest

from serving.audit import read

CLEAN = {"name": "wrapt", "version": "2.5.2", "vulns": []}
HOLED = {
    "name": "h11",
    "version": "0.14.0",
    "vulns": [
        {"id": "GHSA-vqfr-h8mv-ghfj", "fix_versions": ["0.16.0"], "aliases": [], "description": "..."},
        {"id": "PYSEC-2025-1", "fix_versions": [], "aliases": [], "description": "..."},
    ],
}
SKIPPED = {"name": "yarl", "skip_reason": "Dependency not found on PyPI and could not be audited: yarl (1.25.1)"}


@pytest.mark.parametrize(
    ("packages", "said"),
    [
        ([SKIPPED, SKIPPED], "audit: no vulnerability service answers here; none of 2 packages was looked up"),
        ([CLEAN], "audit: 1 packages looked up: no known hole"),
        (
            [CLEAN, HOLED, SKIPPED],
            "audit: 2 packages looked up, 1 could not be: 2 known holes:\n"
            "  h11 0.14.0: GHSA-vqfr-h8mv-ghfj, mended in 0.16.0\n"
            "  h11 0.14.0: PYSEC-2025-1, mended in no version yet",
        ),
    ],
)
def test_a_report_in_words(packages: list[dict[str, Any]], said: str) -> None:
    assert read({"dependencies": packages, "fixes": []}).said() == said
