"""Settings, from the environment (``INTERVIEWER_...``) or given by the command line; nothing reads them at import."""

from __future__ import annotations

import os
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, ValidationError, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict
from pydantic_settings import SettingsError as UnreadableValue

SECRETS = ("database_url", "engine_api_key", "judge_api_key")
"""Fields whose value is never shown, and that ``INTERVIEWER_<NAME>_FILE`` may name a file for."""


class SettingsError(Exception):
    """The settings contradict themselves or cannot be read; the message says what to do."""


class _Files(PydanticBaseSettingsSource):
    """Secrets from files named by ``INTERVIEWER_<NAME>_FILE``, as container platforms mount them."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """Return nothing; the source is asked as a whole, so that its errors keep their words."""
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        """Return the secrets that files are named for.

        Raises:
            SettingsError: a file cannot be read, or a value is given a second time.
        """
        found = {}
        for field in SECRETS:
            name = f"INTERVIEWER_{field.upper()}"
            path = os.environ.get(f"{name}_FILE")
            if not path:
                continue
            if os.environ.get(name):
                raise SettingsError(f"{name} and {name}_FILE are both set; leave one of them out")
            try:
                found[field] = Path(path).read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                raise SettingsError(f"{name}_FILE: cannot read {path}: {error}") from None
        return found


class Settings(BaseSettings):
    """Everything that can be set. Each field's environment variable is ``INTERVIEWER_`` and its name in capitals."""

    model_config = SettingsConfigDict(env_prefix="INTERVIEWER_", extra="ignore", frozen=True)

    host: str = "127.0.0.1"
    """Address to listen on. The default is for one person on this machine."""
    port: int = Field(default=8600, ge=0, le=65535)
    """Port to listen on; 0 takes a free one."""
    allowed_hosts: tuple[str, ...] = ()
    """Host names, beside loopback ones, under which the page may be opened."""
    allowed_origins: tuple[str, ...] = ()
    """Origins, beside the page's own, whose pages may call the service: ``["https://hire.example"]``."""
    auth: bool = False
    """Whether everybody needs a key (``interviewer keys add``); without, the service is for one person."""
    insecure: bool = False
    """Whether to listen on an address that others reach without asking them for keys."""
    session_hours: float = Field(default=12.0, gt=0, le=720)
    """How long a browser stays signed in."""
    rate_per_minute: int = Field(default=300, ge=1)
    """Requests per key and minute; a third of it may come at once."""
    engine_seconds_per_day: int = Field(default=0, ge=0)
    """Engine time per key and day of UTC, in seconds; 0 is no limit."""
    audit_log: Path | None = None
    """File of the audit log, ``-`` for standard error; ``None`` takes ``audit.jsonl`` in ``data_dir``."""
    store: Literal["disk", "none"] = "disk"
    """``none`` keeps sessions in memory only: they are gone when the service stops."""
    keep_days: int | None = Field(default=None, ge=1)
    """Days without anything new after which a session is deleted, really; ``None`` keeps it."""
    database_url: str = Field(default="", repr=False)
    """SQLAlchemy URL; empty is a SQLite file in ``data_dir``."""
    data_dir: Path = Path.home() / ".local" / "share" / "llm-mock-interviewer"
    """Where the database and the engine's log are kept."""
    cache: Path = Path.home() / ".cache" / "llm-mock-interviewer"
    """Where the embedded model is kept, once converted."""
    rubrics: Path | None = None
    """Folder of rubric documents; ``None`` takes those that ship."""
    personas: Path | None = None
    """Folder of persona documents and adapters; ``None`` takes those that ship."""
    engine_url: str = ""
    """OpenAI-compatible endpoint (``http://host:port/v1``); empty starts the embedded engine."""
    engine_model: str = "base"
    """Name of the base model at the endpoint."""
    engine_api_key: str = Field(default="", repr=False)
    """Key for the endpoint."""
    adapters: bool = True
    """Whether to serve adapters; without them personas run prompt-only."""
    judge: Literal["auto", "small", "structured"] = "auto"
    """``small`` reads the evaluator adapter, ``structured`` asks a stronger model; ``auto`` takes what is served."""
    judge_url: str = ""
    """Another endpoint for the judge; empty takes the engine's."""
    judge_model: str = ""
    """Model for the structured judge; empty takes ``engine_model``."""
    judge_api_key: str = Field(default="", repr=False)
    """Key for the judge's endpoint."""
    tokenizer: Path | None = None
    """``tokenizer.json`` of the endpoint's model, for exact token counts; the embedded model brings its own."""
    tie_in: Literal["auto", "quote", "model"] = "auto"
    """What a follow-up begins with: ``quote``, exact words of the candidate, at once, and the model words the question
    (needs vLLM); ``model``, the model's own tie-in. ``auto`` quotes with the smallest embedded model only."""
    context_tokens: int = Field(default=2048, ge=512)
    """Context window of the persona model; prompts stay inside it."""
    model: str = "smollm2-135m"
    """Base model of the embedded engine: a name of ``serving/models.yaml``, or a folder with a checkpoint."""
    kv_cache_mb: int | None = Field(default=None, ge=128)
    """Memory of the embedded engine for keys and values, in MiB; ``None`` takes what the catalogue says."""
    turn_seconds: float = Field(default=20.0, gt=0)
    """Longest wait for the judge, and for the persona's words, before a turn goes on without them."""
    drain_seconds: float = Field(default=20.0, ge=0)
    """Longest time that running turns get to end when the service is told to stop."""
    run_code: bool = True
    """Whether code in answers of the coding round is run, in a sandbox, where one can be made; else it is only read."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """How much the service logs. Transcripts are never logged."""
    log: Literal["text", "json"] = "text"
    """``json`` writes one object a line, with the session and turn it is about."""

    traces: str = ""
    """OpenTelemetry collector that takes OTLP over HTTP, ``http://host:4318``; empty writes no traces."""

    @field_validator("traces")
    @classmethod
    def _collector(cls, address: str) -> str:
        if address and (urlsplit(address).scheme not in ("http", "https") or not urlsplit(address).hostname):
            raise ValueError("an address like http://127.0.0.1:4318 is needed")
        return address

    def __init__(self, **given: Any) -> None:
        """Take what is given, then the environment.

        Raises:
            SettingsError: a value cannot be used; the message names what was set, and shows no secret.
        """
        try:
            super().__init__(**given)
        except ValidationError as error:
            raise SettingsError("; ".join(_wrong(e["loc"], e["msg"], e["input"]) for e in error.errors())) from None
        except UnreadableValue as error:
            raise SettingsError(f'{error}; lists are written as JSON: ["one", "two"]') from None

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Take what is given in code first, then the environment, then files that it names."""
        return init_settings, env_settings, _Files(settings_cls)

    def check_exposure(self) -> None:
        """Check that nobody but this machine's user is let in unasked.

        Raises:
            SettingsError: others could reach the service without a key.
        """
        if self.auth or self.insecure or is_loopback(self.host):
            return
        raise SettingsError(
            f"on {self.host} anybody who reaches this machine could read and delete every interview. Add --auth, and "
            "make keys with: interviewer keys add NAME - or, in a network that you trust as a whole, --insecure"
        )

    def sessions_database(self) -> str:
        """Return the URL of the database for sessions: in memory where nothing is to be kept."""
        return "sqlite://" if self.store == "none" else self.database()

    def database(self) -> str:
        """Return the database URL; makes the data folder when the default file is used."""
        if self.database_url:
            return self.database_url
        self.data_dir.mkdir(parents=True, exist_ok=True)
        return f"sqlite:///{self.data_dir / 'interviews.db'}"


def _wrong(at: tuple[int | str, ...], problem: str, value: Any) -> str:
    name = str(at[0]) if at else "settings"
    shown = "" if name in SECRETS else f" (it is {value!r})"
    return f"INTERVIEWER_{name.upper()}: {problem.removeprefix('Value error, ')}{shown}"


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address; a name other than ``localhost`` may be anything."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
