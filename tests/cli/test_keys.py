"""Settings and commands about who may use the service and what is kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from interviewer.bootstrap import open_accounts
from interviewer.cli import app
from interviewer.client import Client, ServiceError, api_key
from interviewer.keys_cli import keys
from interviewer.settings import Settings, SettingsError, is_loopback
from serving.engine_config import EngineConfig

RUN = CliRunner()


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERVIEWER_DATA_DIR", str(tmp_path))


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.1.4", False),
        ("interviews.example", False),
    ],
)
def test_an_address_that_others_reach_needs_keys_or_a_word(host: str, loopback: bool) -> None:
    assert is_loopback(host) == loopback
    Settings(host=host, auth=True).check_exposure()
    Settings(host=host, insecure=True).check_exposure()
    if loopback:
        Settings(host=host).check_exposure()
    else:
        with pytest.raises(SettingsError, match=r"(?s)--auth.*keys add.*--insecure"):
            Settings(host=host).check_exposure()


def test_serve_says_what_to_do_and_binds_nothing() -> None:
    result = RUN.invoke(app, ["serve", "--host", "0.0.0.0", "--port", "0"])
    assert result.exit_code == 2
    assert "--auth" in result.output and "--insecure" in result.output


def test_secrets_come_from_files_too_and_are_never_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = tmp_path / "key"
    secret.write_text("sk-very-secret\n", encoding="utf-8")
    monkeypatch.setenv("INTERVIEWER_ENGINE_API_KEY_FILE", str(secret))
    settings = Settings(database_url="postgresql://me:pw-secret@db/x")
    assert settings.engine_api_key == "sk-very-secret"
    assert "-secret" not in repr(settings) and "-secret" not in str(settings)
    monkeypatch.setenv("INTERVIEWER_ENGINE_API_KEY", "other")
    with pytest.raises(SettingsError, match="both set"):
        Settings()
    monkeypatch.delenv("INTERVIEWER_ENGINE_API_KEY")
    monkeypatch.setenv("INTERVIEWER_ENGINE_API_KEY_FILE", str(tmp_path / "none"))
    with pytest.raises(SettingsError, match="cannot read"):
        Settings()


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("PORT", "abc", r"INTERVIEWER_PORT: .*integer.*'abc'"),
        ("KEEP_DAYS", "0", r"INTERVIEWER_KEEP_DAYS: .*greater than or equal to 1"),
        ("TRACES", "collector", r"INTERVIEWER_TRACES: an address like http://127.0.0.1:4318"),
        ("ALLOWED_HOSTS", "me.example", r'allowed_hosts.*lists are written as JSON: \["one", "two"\]'),
    ],
)
def test_a_value_that_cannot_be_used_is_named(
    name: str, value: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"INTERVIEWER_{name}", value)
    with pytest.raises(SettingsError, match=says):
        Settings()


def test_a_store_that_keeps_nothing_leaves_no_file(tmp_path: Path) -> None:
    assert Settings(store="none").sessions_database() == "sqlite://"
    assert list(tmp_path.iterdir()) == []
    assert Settings().sessions_database() == f"sqlite:///{tmp_path / 'interviews.db'}"


def test_keys_are_made_listed_and_revoked(tmp_path: Path) -> None:
    made = RUN.invoke(keys, ["add", "alice", "--scopes", "score,interview"])
    secret = made.stdout.strip()
    assert made.exit_code == 0 and secret.startswith("imk_")
    key_id = secret.split("_")[1]
    listed = RUN.invoke(keys, ["list", "--json"])
    assert key_id in listed.stdout and secret not in listed.stdout and '"revoked_at": null' in listed.stdout
    assert RUN.invoke(keys, ["revoke", key_id]).exit_code == 0
    assert '"revoked_at": null' not in RUN.invoke(keys, ["list", "--json"]).stdout
    again = RUN.invoke(keys, ["revoke", key_id])
    assert again.exit_code == 2 and "no valid key" in again.output
    assert RUN.invoke(keys, ["add", "alice", "--scopes", "everything"]).exit_code == 2
    assert RUN.invoke(keys, ["add", " "]).exit_code == 2
    assert not any(secret.encode() in path.read_bytes() for path in tmp_path.iterdir())


async def test_settings_reach_the_accounts(tmp_path: Path) -> None:
    accounts = open_accounts(Settings(rate_per_minute=30, engine_seconds_per_day=60, session_hours=1))
    rules = accounts.rules
    await accounts.close()
    assert (rules.per_minute, rules.burst, rules.engine_seconds) == (30, 10, 60)
    assert rules.signed_in.total_seconds() == 3600


def test_the_client_shows_its_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INTERVIEWER_API_KEY", raising=False)
    assert api_key() == ""
    monkeypatch.setenv("INTERVIEWER_API_KEY", "imk_1_a")
    assert api_key() == "imk_1_a"
    path = tmp_path / "mine"
    path.write_text("imk_2_b\n", encoding="utf-8")
    monkeypatch.setenv("INTERVIEWER_API_KEY_FILE", str(path))
    assert api_key() == "imk_2_b"
    monkeypatch.setenv("INTERVIEWER_API_KEY_FILE", str(tmp_path / "none"))
    with pytest.raises(ServiceError, match="cannot read"):
        Client()


def test_the_engine_listens_on_this_machine_only(tmp_path: Path) -> None:
    config = EngineConfig(model=tmp_path, log=tmp_path / "engine.log")
    assert is_loopback(config.host)
    assert f"--host={config.host}" in config.argv(8000)
    assert not [name for name in Settings.model_fields if "host" in name and name not in ("host", "allowed_hosts")]
