"""Versions on disk: content decides the name, history decides what is used, nothing half-written is ever seen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from serving.versions import Version, VersionError, VersionStore


def trained(folder: Path, weights: bytes, **beside: str) -> Path:
    """Lay a folder out as training leaves it."""
    (folder / "adapter").mkdir(parents=True)
    (folder / "adapter" / "adapter_model.safetensors").write_bytes(weights)
    (folder / "adapter" / "adapter_config.json").write_text('{"r": 8}', encoding="utf-8")
    for name, text in beside.items():
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def store(tmp_path: Path) -> VersionStore:
    return VersionStore(
        tmp_path / "data", {"deep_dive": trained(tmp_path / "ships", b"one", canary='{"a": -1}') / "adapter"}
    )


def active(store: VersionStore) -> Version:
    found = store.active("deep_dive")
    assert found is not None
    return found


def test_what_ships_is_used_until_something_else_is(store: VersionStore) -> None:
    assert active(store).shipped
    assert active(store).golden() == {"a": -1}
    assert store.active("recruiter") is None
    with pytest.raises(VersionError, match="no earlier version of deep_dive"):
        store.previous("deep_dive")


def test_an_installed_version_is_a_copy_with_what_belongs_to_it(store: VersionStore, tmp_path: Path) -> None:
    source = trained(tmp_path / "new", b"two", calibration='{"version": "x"}')
    version = store.install("deep_dive", source)
    assert (version.folder / "adapter_model.safetensors").read_bytes() == b"two"
    calibration = version.beside("calibration.json")
    assert calibration is not None and calibration.read_text(encoding="utf-8") == '{"version": "x"}'
    assert version.golden() is None
    assert active(store).shipped, "installing alone changes nothing"
    (source / "adapter" / "adapter_model.safetensors").write_bytes(b"changed later")
    assert (version.folder / "adapter_model.safetensors").read_bytes() == b"two"


def test_the_same_content_is_the_same_version(store: VersionStore, tmp_path: Path) -> None:
    first = store.install("deep_dive", trained(tmp_path / "new", b"two"))
    assert store.install("deep_dive", tmp_path / "new" / "adapter") == first
    assert store.install("deep_dive", trained(tmp_path / "same", b"one")).shipped
    assert [v.shipped for v in store.versions("deep_dive")] == [True, False]


def test_history_goes_forward_and_back(store: VersionStore, tmp_path: Path) -> None:
    shipped = active(store)
    second = store.install("deep_dive", trained(tmp_path / "b", b"two"))
    third = store.install("deep_dive", trained(tmp_path / "c", b"three"))
    store.activated(second)
    store.activated(third)
    assert active(store) == third
    assert store.previous("deep_dive") == second
    store.rolled_back("deep_dive")
    assert (active(store), store.previous("deep_dive")) == (second, shipped)
    store.rolled_back("deep_dive")
    assert active(store) == shipped
    store.activated(third)
    store.activated(shipped)
    assert store.previous("deep_dive") == third


def test_a_version_that_is_gone_is_skipped(store: VersionStore, tmp_path: Path) -> None:
    second = store.install("deep_dive", trained(tmp_path / "b", b"two"))
    store.activated(second)
    second.folder.parent.rename(tmp_path / "moved away")
    assert active(store).shipped


def test_a_broken_history_is_named(store: VersionStore, tmp_path: Path) -> None:
    (tmp_path / "data" / "deep_dive").mkdir(parents=True)
    (tmp_path / "data" / "deep_dive" / "history.json").write_text("{", encoding="utf-8")
    with pytest.raises(VersionError, match=r"history\.json cannot be read"):
        store.active("deep_dive")


def test_a_folder_without_weights_is_named(store: VersionStore, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(VersionError, match=r"no adapter_config\.json and no adapter_model\.safetensors"):
        store.install("deep_dive", tmp_path / "empty")
    assert not (tmp_path / "data").exists()


def test_a_store_that_cannot_be_written_leaves_nothing(store: VersionStore, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file is in the way", encoding="utf-8")
    with pytest.raises(VersionError, match="Cannot write"):
        store.install("deep_dive", trained(tmp_path / "b", b"two"))


def test_a_canary_can_be_kept_later(store: VersionStore, tmp_path: Path) -> None:
    version = store.install("deep_dive", trained(tmp_path / "b", b"two"))
    version.keep_golden({"Hi": -0.123456})
    assert version.golden() == {"Hi": -0.1235}
    assert json.loads((version.folder.parent / "canary.json").read_text(encoding="utf-8")) == {"Hi": -0.1235}
