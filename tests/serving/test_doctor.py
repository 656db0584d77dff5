from __future__ import annotations

import json
import socket
from pathlib import Path

from serving.doctor import checks
from serving.fetch import base_folder
from serving.manifest import write_manifest
from serving.memory import available_memory


def test_every_failed_check_says_what_to_do(tmp_path: Path) -> None:
    found = checks(tmp_path / "cache", {"deep_dive": tmp_path / "nowhere"})
    names = [check.name for check in found]
    assert len(names) == len(set(names)) == 12
    for check in found:
        assert check.detail
        assert check.ok or check.fix, f"{check.name} failed without advice"
    by_name = {check.name: check for check in found}
    assert not by_name["base model"].ok
    assert not by_name["adapter deep_dive"].ok
    assert by_name["disk"].ok


def test_base_adapter_and_port_are_recognised(tmp_path: Path) -> None:
    folder = base_folder(tmp_path)
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}", encoding="utf-8")
    write_manifest(folder, {})
    (tmp_path / "adapter_model.safetensors").write_bytes(b"0" * 1000)
    (tmp_path / "adapter_config.json").write_text(json.dumps({"r": 8}), encoding="utf-8")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = int(taken.getsockname()[1])
        by_name = {check.name: check for check in checks(tmp_path, {"a": tmp_path}, port=port)}
    assert by_name["base model"].ok
    assert by_name["adapter a"].detail == "rank 8, 0.0 MB"
    assert not by_name["port"].ok
    (folder / "config.json").write_text("[]", encoding="utf-8")
    assert not {check.name: check for check in checks(tmp_path)}["base model"].ok


def test_memory_is_read_in_bytes(tmp_path: Path) -> None:
    listing = tmp_path / "meminfo"
    listing.write_text("MemTotal: 8000 kB\nMemAvailable:    2048 kB\n", encoding="utf-8")
    assert available_memory(listing) == 2048 * 1024
    assert available_memory(tmp_path / "nowhere") is None


def test_a_container_that_allows_less_counts(tmp_path: Path) -> None:
    listing = tmp_path / "meminfo"
    listing.write_text("MemAvailable:    2048 kB\n", encoding="utf-8")
    (tmp_path / "memory.current").write_text("500000\n", encoding="ascii")
    for limit, free in (("1500000", 1_000_000), ("9000000", 2048 * 1024), ("max", 2048 * 1024)):
        (tmp_path / "memory.max").write_text(f"{limit}\n", encoding="ascii")
        assert available_memory(listing, tmp_path) == free
