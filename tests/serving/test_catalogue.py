"""The catalogue of base models, folders that are in none, and which adapter belongs to which base."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from interviewer import tools
from serving import engine_config
from serving.catalogue import (
    FILE,
    Catalogue,
    CatalogueError,
    Entry,
    adapter_folder,
    find_adapter,
    fits,
    load_catalogue,
)
from serving.fetch import SMOLLM2, FetchError, base_folder
from serving.manifest import MANIFEST, broken_files, write_manifest
from serving.memory import RUNTIME_BYTES

AVX2, AMX = frozenset({"avx2"}), frozenset({"avx2", "amx_bf16"})


@pytest.fixture
def catalogue() -> Catalogue:
    return load_catalogue()


def make_folder(folder: Path, template: str = "{{ messages }}", **config: object) -> Path:
    """Write what a checkpoint folder needs, with nothing in the weights."""
    folder.mkdir(parents=True)
    shape = {"num_hidden_layers": 4, "max_position_embeddings": 512, "hidden_size": 8, **config}
    (folder / "config.json").write_text(json.dumps(shape), encoding="utf-8")
    (folder / "model.safetensors").write_bytes(b"0" * 2000)
    (folder / "tokenizer.json").write_text("{}", encoding="utf-8")
    (folder / "chat_template.jinja").write_text(template, encoding="utf-8")
    return folder


def make_adapter(folder: Path, base: str | None) -> Path:
    folder.mkdir(parents=True)
    (folder / "adapter_model.safetensors").write_bytes(b"")
    config = {"peft_type": "LORA"} | ({"base_model_name_or_path": base} if base else {})
    (folder / "adapter_config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


def test_what_ships_is_free_to_use_and_of_the_sizes_that_are_promised(catalogue: Catalogue) -> None:
    assert [round(entry.parameters / 1e9, 1) for entry in catalogue.models] == [0.1, 1.5, 4.0, 8.2]
    assert {entry.licence for entry in catalogue.models} == {"Apache-2.0"}
    assert catalogue.get(catalogue.default).embedded


def test_the_schema_beside_the_file_is_the_generated_one() -> None:
    schema = json.loads(FILE.with_name("models.schema.json").read_text(encoding="utf-8"))
    assert schema == json.loads(json.dumps(Catalogue.model_json_schema()))
    assert FILE.read_text(encoding="utf-8").startswith("# yaml-language-server: $schema=./models.schema.json\n")


def test_the_embedded_base_is_served_as_the_engine_is_set_by_default(catalogue: Catalogue) -> None:
    default = engine_config.EngineConfig(model=Path("m"), log=Path("l"))
    assert catalogue.embedded.cpu.kv_cache_mb << 20 == default.kv_cache_bytes
    assert catalogue.embedded.cpu.max_num_seqs == default.max_num_seqs
    assert RUNTIME_BYTES == 2_800_000_000


def test_flags_and_types_follow_the_hardware(catalogue: Catalogue) -> None:
    big = catalogue.get("qwen3-8b")
    off = '--default-chat-template-kwargs={"enable_thinking": false}'
    assert big.flags(on_cpu=True) == [
        "--max-num-seqs=4",
        "--kv-cache-memory-bytes=2147483648",
        "--max-num-batched-tokens=2048",
        "--enable-prefix-caching",
        off,
    ]
    assert big.flags(on_cpu=False) == [
        "--max-num-seqs=128",
        "--gpu-memory-utilization=0.9",
        "--max-num-batched-tokens=4096",
        "--enable-prefix-caching",
        off,
    ]
    assert off not in catalogue.get("qwen3-4b-instruct-2507").flags(on_cpu=True)
    assert [big.dtype(True, AVX2), big.dtype(True, AMX), big.dtype(False, AVX2)] == ["float32", "bfloat16", "bfloat16"]


def test_memory_is_weights_cache_and_runtime(catalogue: Catalogue) -> None:
    big = catalogue.get("qwen3-8b")
    assert big.memory_bytes(AVX2) == 8_190_735_360 * 4 + 2 * 1024**3 + 2_800_000_000
    assert big.memory_bytes(AMX) == 8_190_735_360 * 2 + 2 * 1024**3 + 2_800_000_000


PARSE = """
import json, sys
from vllm.entrypoints.launchers.cli_args import make_arg_parser
from vllm.utils.argparse_utils import FlexibleArgumentParser
parser = make_arg_parser(FlexibleArgumentParser())
found = [vars(parser.parse_args(argv)) for argv in json.load(sys.stdin)]
names = ("max_num_seqs", "default_chat_template_kwargs")
print(json.dumps([{name: one[name] for name in names} for one in found]))
"""


@pytest.mark.engine
def test_the_engine_knows_every_flag_and_takes_the_last_of_a_kind(catalogue: Catalogue) -> None:
    pairs = [(entry, on_cpu) for entry in catalogue.models for on_cpu in (True, False)]
    argv = [["--model=m", "--max-num-seqs=99", *entry.flags(on_cpu)] for entry, on_cpu in pairs]
    # In a process of its own: importing the engine changes the process that does it.
    child = subprocess.run(
        [sys.executable, "-c", PARSE], input=json.dumps(argv), capture_output=True, text=True, check=True
    )
    found = json.loads(child.stdout.splitlines()[-1])
    for (entry, on_cpu), known in zip(pairs, found, strict=True):
        assert known["max_num_seqs"] == (entry.cpu if on_cpu else entry.gpu).max_num_seqs
        assert known["default_chat_template_kwargs"] == ({"enable_thinking": False} if entry.thinking else None)


def test_a_model_is_found_by_either_name(catalogue: Catalogue) -> None:
    assert catalogue.get("qwen3-8b") is catalogue.get("Qwen/Qwen3-8B")
    with pytest.raises(CatalogueError, match=r"no model 'gpt'.*smollm2-135m.*qwen3-8b") as caught:
        catalogue.get("gpt")
    assert "folder that holds a checkpoint" in caught.value.fix


def test_a_folder_is_a_model_too(catalogue: Catalogue, tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "My Model", "{% if enable_thinking %}{% endif %}")
    entry = catalogue.get(str(folder))
    assert (entry.name, entry.base, entry.origin) == ("my-model", "My Model", "local")
    assert (entry.layers, entry.context, entry.parameters) == (4, 512, 1000)
    assert entry.thinking and not entry.embedded
    assert entry.is_here(tmp_path) and entry.ensure(tmp_path, print) == folder


def test_a_folder_of_a_hubs_cache_is_called_as_its_repository(catalogue: Catalogue, tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "models--Qwen--Qwen3-8B" / "snapshots" / "0123abcd")
    assert catalogue.get(str(folder)).name == "qwen3-8b"


def test_numbers_of_a_model_that_also_sees_are_read_from_its_text_part(catalogue: Catalogue, tmp_path: Path) -> None:
    text = {"num_hidden_layers": 7, "max_position_embeddings": 99}
    assert catalogue.get(str(make_folder(tmp_path / "m", text_config=text))).layers == 7


@pytest.mark.parametrize(
    ("lost", "words"),
    [
        ("config.json", "no config.json of a language model"),
        ("model.safetensors", r"lacks weights: no \*.safetensors"),
        ("tokenizer.json", "has no tokenizer"),
        ("chat_template.jinja", "has no chat template"),
    ],
)
def test_a_folder_that_lacks_a_part_is_no_model(lost: str, words: str, catalogue: Catalogue, tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "m")
    (folder / lost).unlink()
    with pytest.raises(CatalogueError, match=words) as caught:
        catalogue.get(str(folder))
    assert "Copy the whole model repository" in caught.value.fix


def test_a_missing_shard_is_named(catalogue: Catalogue, tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "m")
    index = {"weight_map": {"a": "model.safetensors", "b": "model-2.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    with pytest.raises(CatalogueError, match=r"lacks weights: model-2\.safetensors"):
        catalogue.get(str(folder))


def test_a_template_in_the_tokenizers_configuration_counts(catalogue: Catalogue, tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "m")
    (folder / "chat_template.jinja").unlink()
    (folder / "tokenizer_config.json").write_text('{"chat_template": "{{ messages }}"}', encoding="utf-8")
    assert catalogue.get(str(folder)).origin == "local"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("default: smollm2-135m", "default: other", "the default 'other' is not in the list"),
        ("name: qwen3-8b", "name: smollm2-135m", "a name is used twice"),
        ("origin: wheel", "origin: hub", "exactly one model comes from the wheel"),
        ("layers: 30", "layers: thirty", r"models\.0\.layers"),
        ("context: 8192", "contexts: 8192", r"models\.0\.context: Field required"),
        ("version: 1", "version: [1", "cannot be read"),
    ],
)
def test_a_wrong_catalogue_is_said(old: str, new: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "models.yaml"
    path.write_text(FILE.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(CatalogueError, match=words):
        load_catalogue(path)


def fake_hub(repository: str, revision: str | None, folder: Path) -> str:
    """Stand for a hub: writes the files of a checkpoint."""
    made = make_folder(folder / "made")
    for path in made.iterdir():
        path.rename(folder / path.name)
    made.rmdir()
    return revision or "newest"


def unreachable(repository: str, revision: str | None, folder: Path) -> str:
    """Stand for a machine without a network."""
    (folder / "half.json").write_text("{}", encoding="utf-8")
    raise OSError("Name or service not known")


def test_a_hub_model_is_fetched_once_and_known_by_its_manifest(catalogue: Catalogue, tmp_path: Path) -> None:
    entry = catalogue.get("qwen3-8b")
    assert not entry.is_here(tmp_path)
    said: list[str] = []
    folder = entry.ensure(tmp_path, said.append, fake_hub)
    assert folder == tmp_path / "base" / "qwen3-8b" == entry.folder(tmp_path)
    assert broken_files(folder) == [] and entry.is_here(tmp_path)
    assert json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["revision"] == "newest"
    assert entry.ensure(tmp_path, said.append, unreachable) == folder
    assert len(said) == 2

    copied = catalogue.get(str(shutil.copytree(folder, tmp_path / "elsewhere")))
    assert (copied.name, copied.base, copied.path) == ("qwen3-8b", "Qwen/Qwen3-8B", tmp_path / "elsewhere")


def test_a_damaged_hub_model_is_fetched_again(catalogue: Catalogue, tmp_path: Path) -> None:
    entry = catalogue.get("qwen3-8b")
    folder = entry.ensure(tmp_path, lambda _: None, fake_hub)
    (folder / "model.safetensors").write_bytes(b"short")
    said: list[str] = []
    entry.ensure(tmp_path, said.append, fake_hub)
    assert "damaged (model.safetensors)" in said[0]
    assert broken_files(folder) == []


def test_without_a_hub_it_is_said_how_to_bring_a_model_by_hand(catalogue: Catalogue, tmp_path: Path) -> None:
    entry = catalogue.get("qwen3-8b")
    with pytest.raises(FetchError, match="Cannot fetch Qwen/Qwen3-8B from the model hub: Name or service") as caught:
        entry.ensure(tmp_path, lambda _: None, unreachable)
    assert "copy that folder here and name its path" in caught.value.fix
    assert not entry.folder(tmp_path).exists()
    assert entry.ensure(tmp_path, lambda _: None, fake_hub).is_dir(), "a later try goes on"


def test_a_repository_without_safetensors_is_refused(catalogue: Catalogue, tmp_path: Path) -> None:
    with pytest.raises(FetchError, match=r"no config\.json or no"):
        catalogue.get("qwen3-8b").ensure(tmp_path, lambda _: None, lambda repository, revision, folder: "x")


@pytest.fixture
def other(catalogue: Catalogue) -> Entry:
    return catalogue.get("qwen3-8b")


def test_the_embedded_base_is_known_wherever_it_lies(catalogue: Catalogue, tmp_path: Path) -> None:
    assert catalogue.embedded.folder(tmp_path) == base_folder(tmp_path)
    folder = make_folder(tmp_path / "moved")
    write_manifest(folder, {"source": SMOLLM2.requirement})
    entry = catalogue.get(str(folder))
    assert entry.embedded and entry.folder(tmp_path) == folder


def test_every_base_has_a_place_for_its_adapters(catalogue: Catalogue, other: Entry) -> None:
    root = Path("personas")
    assert adapter_folder(root, "recruiter", catalogue.embedded) == root / "recruiter" / "adapter"
    assert adapter_folder(root, "recruiter", other) == root / "recruiter" / "adapters" / "qwen3-8b" / "adapter"


def test_an_adapter_belongs_to_one_base(catalogue: Catalogue, other: Entry, tmp_path: Path) -> None:
    adapter = make_adapter(tmp_path / "a", "SmolLM2-135M-Instruct")
    assert fits(adapter, catalogue.embedded) is None
    assert fits(adapter, other) == "the adapter was trained for SmolLM2-135M-Instruct, not for Qwen/Qwen3-8B"
    assert fits(make_adapter(tmp_path / "b", "some/where/qwen3-8b"), other) is None
    assert "does not say for which base" in str(fits(make_adapter(tmp_path / "c", None), other))


def test_a_persona_without_an_adapter_for_the_base_is_said(catalogue: Catalogue, other: Entry, tmp_path: Path) -> None:
    shipped = make_adapter(tmp_path / "recruiter" / "adapter", "SmolLM2-135M-Instruct")
    assert find_adapter(tmp_path, "recruiter", catalogue.embedded) == shipped
    assert find_adapter(tmp_path, "recruiter", other) == (
        "recruiter has no adapter for Qwen/Qwen3-8B; `interviewer train recruiter --base qwen3-8b` makes one"
    )
    wrong = make_adapter(adapter_folder(tmp_path, "recruiter", other), "SmolLM2-135M-Instruct")
    assert "was trained for SmolLM2" in str(find_adapter(tmp_path, "recruiter", other))
    shutil.rmtree(wrong)
    right = make_adapter(wrong, "Qwen/Qwen3-8B")
    assert find_adapter(tmp_path, "recruiter", other) == right


runner = CliRunner()


@pytest.fixture
def app() -> typer.Typer:
    """The two commands that know models, as the program has them."""
    made = typer.Typer()
    made.add_typer(tools.model, name="model")
    made.command()(tools.train)
    return made


def test_the_list_says_what_is_here_and_which_adapters_there_are(
    app: typer.Typer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTERVIEWER_CACHE", str(tmp_path))
    load_catalogue().get("qwen3-8b").ensure(tmp_path, lambda _: None, fake_hub)
    plain = runner.invoke(app, ["model", "list"]).output
    assert "qwen3-8b: Qwen/Qwen3-8B, 8.19 billion parameters, Apache-2.0\n     from the hub; here\n" in plain
    assert "not here: interviewer model fetch --model qwen3-4b-instruct-2507" in plain
    rows = {row["name"]: row for row in json.loads(runner.invoke(app, ["model", "list", "--json"]).output)}
    assert "deep_dive" in rows["smollm2-135m"]["adapters"] and rows["qwen3-8b"]["adapters"] == []
    assert [name for name, row in rows.items() if row["here"]] == ["qwen3-8b"]


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["model", "fetch", "--model", "gpt"], "There is no model 'gpt'"),
        (["train", "recruiter", "--base", "gpt"], "There is no model 'gpt'"),
        (["train", "nobody", "--base", "qwen3-8b"], "nothing called 'nobody' can be trained"),
    ],
)
def test_a_wrong_name_costs_one_message_and_no_download(app: typer.Typer, command: list[str], words: str) -> None:
    found = runner.invoke(app, command)
    assert found.exit_code == 2
    assert words in " ".join(found.output.split())
