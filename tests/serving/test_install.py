from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from serving.install import MISMATCHED, TORCH, TORCH_INDEX, Installer, InstallError, digest, exclusive, logged, main


class Recorder:
    """A runner that installs nothing: notes commands, fails those that hold one of ``failing``."""

    def __init__(self, root: Path, *failing: str) -> None:
        self.root = root
        self.failing = list(failing)
        self.commands: list[str] = []

    def __call__(self, command: Sequence[str], title: str) -> int:
        text = " ".join(command)
        self.commands.append(text)
        if any(part in text for part in self.failing):
            return 1
        if "-m venv" in text:
            python = self.root / ".venv" / "bin" / "python"
            python.parent.mkdir(parents=True, exist_ok=True)
            python.write_text("", encoding="utf-8")
        return 0


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "serving").mkdir()
    (tmp_path / "serving" / "constraints.txt").write_text("x==1\n", encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    return tmp_path


def test_the_order_is_venv_torch_project_and_then_the_mismatched_go(root: Path) -> None:
    run, said = Recorder(root), list[str]()
    Installer(root, run, said.append).install("engine,train,traces,dev")

    assert [c.split(" -m ")[1].split()[0] for c in run.commands] == ["venv", "pip", "pip", "pip"]
    assert run.commands[1].endswith(f"install {TORCH}")
    assert f"-c {root}/serving/constraints.txt --editable {root}[engine,train,traces,dev]" in run.commands[2]
    assert run.commands[3].endswith("uninstall --yes " + " ".join(MISMATCHED))
    assert [line for line in said if line.startswith("[3/3]")]


def test_a_finished_setup_runs_nothing_and_takes_no_time(root: Path) -> None:
    Installer(root, Recorder(root), lambda _: None).install("engine")
    again = Recorder(root)
    began = time.monotonic()
    Installer(root, again, lambda _: None).install("engine")
    assert again.commands == []
    assert time.monotonic() - began < 1


def test_an_interrupted_setup_goes_on_where_it_stopped(root: Path) -> None:
    broken = Recorder(root, "--editable")
    with pytest.raises(InstallError, match="run this again"):
        Installer(root, broken, lambda _: None).install("engine")
    again = Recorder(root)
    Installer(root, again, lambda _: None).install("engine")
    assert len(again.commands) == 2
    assert "--editable" in again.commands[0]


def test_a_changed_project_file_is_installed_again_without_the_earlier_stages(root: Path) -> None:
    Installer(root, Recorder(root), lambda _: None).install("engine")
    (root / "pyproject.toml").write_text("[project]\nname = 'x'\n", encoding="utf-8")
    again = Recorder(root)
    Installer(root, again, lambda _: None).install("engine")
    assert len(again.commands) == 2


def test_torch_comes_from_its_own_index_when_the_general_one_lacks_it(root: Path) -> None:
    run = Recorder(root, f"install {TORCH}")
    Installer(root, run, lambda _: None).install("engine")
    fallback = [c for c in run.commands if TORCH_INDEX in c]
    assert len(fallback) == 1
    assert "--no-deps" in fallback[0]
    assert TORCH_INDEX not in run.commands[-2]


def test_an_environment_of_another_python_is_made_anew(root: Path) -> None:
    Installer(root, Recorder(root), lambda _: None).install("engine")
    (root / ".venv" / "stamps" / "venv").unlink()
    (root / ".venv" / "lib").mkdir()
    run = Recorder(root, " -c import sys")
    Installer(root, run, lambda _: None).install("engine")
    assert not (root / ".venv" / "lib").exists()
    assert any(TORCH in command for command in run.commands)


def test_digests_tell_texts_and_files_apart(tmp_path: Path) -> None:
    file = tmp_path / "a"
    assert digest("ab", "c") != digest("a", "bc")
    before = digest(file)
    file.write_text("x", encoding="utf-8")
    assert digest(file) != before


def test_a_failed_command_shows_the_end_of_its_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = logged(tmp_path / "log")
    assert run([sys.executable, "-c", "print('went wrong'); raise SystemExit(3)"], "step") == 3
    assert run([sys.executable, "-c", "print('fine')"], "step") == 0
    shown = capsys.readouterr().out
    assert "went wrong" in shown
    assert "fine" not in shown


def test_a_second_setup_waits_for_the_first(tmp_path: Path) -> None:
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); from pathlib import Path; from serving.install import exclusive\n"
        "with exclusive(Path(sys.argv[2])): print('in', flush=True)"
    )
    with exclusive(tmp_path):
        other = subprocess.Popen(
            [sys.executable, "-c", script, str(Path(__file__).parents[2]), str(tmp_path)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert other.stdout is not None
        assert "waiting" in other.stdout.readline()
    with other:
        assert other.stdout.readline() == "in\n"


def test_the_program_runs_in_the_environment_whatever_python_is_on_the_path(tmp_path: Path) -> None:
    (tmp_path / "python").symlink_to("/usr/bin/false")
    code = "from pathlib import Path; import sys; from serving.install import become; "
    code += "become(Path(sys.prefix), ['python', '-c', 'import sys; print(sys.prefix)'])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PATH": str(tmp_path)}
    )
    assert done.stdout.strip() == sys.prefix


def test_without_a_verb_the_usage_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert main(["walk"]) == 2
    assert "usage" in capsys.readouterr().err
