from __future__ import annotations

from pathlib import Path

import pytest

from serving.cpu import best_dtype, cpu_flags, usable_cores


@pytest.mark.parametrize(
    ("line", "dtype"),
    [
        ("flags\t\t: fpu avx avx2 fma", "float32"),
        ("flags\t\t: fpu avx2 avx512f avx512bw", "float32"),
        ("flags\t\t: fpu avx2 avx512f avx512_bf16", "bfloat16"),
        ("Features\t: fp asimd bf16", "bfloat16"),
        ("model name\t: without flags", "float32"),
    ],
)
def test_the_element_type_follows_the_processor(line: str, dtype: str, tmp_path: Path) -> None:
    listing = tmp_path / "cpuinfo"
    listing.write_text(f"processor\t: 0\n{line}\n\nprocessor\t: 1\n", encoding="utf-8")
    assert best_dtype(cpu_flags(listing)) == dtype


def test_a_system_without_a_listing_computes_in_float32(tmp_path: Path) -> None:
    assert best_dtype(cpu_flags(tmp_path / "missing")) == "float32"
    assert usable_cores() >= 1
