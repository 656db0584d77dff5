"""Settings, from the environment (``INTERVIEWER_...``) or given by the command line; nothing reads them at import."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Everything that can be set. Each field's environment variable is ``INTERVIEWER_`` and its name in capitals."""

    model_config = SettingsConfigDict(env_prefix="INTERVIEWER_", extra="ignore", frozen=True)

    host: str = "127.0.0.1"
    """Address to listen on. The default is for one person on this machine."""
    port: int = Field(default=8600, ge=0, le=65535)
    """Port to listen on; 0 takes a free one."""
    allowed_hosts: tuple[str, ...] = ()
    """Host names, beside loopback ones, under which the page may be opened."""
    database_url: str = ""
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
    engine_api_key: str = ""
    """Key for the endpoint."""
    adapters: bool = True
    """Whether to serve adapters; without them personas run prompt-only."""
    judge: Literal["auto", "small", "structured"] = "auto"
    """``small`` reads the evaluator adapter, ``structured`` asks a stronger model; ``auto`` takes what is served."""
    judge_url: str = ""
    """Another endpoint for the judge; empty takes the engine's."""
    judge_model: str = ""
    """Model for the structured judge; empty takes ``engine_model``."""
    judge_api_key: str = ""
    """Key for the judge's endpoint."""
    tokenizer: Path | None = None
    """``tokenizer.json`` of the endpoint's model, for exact token counts; the embedded model brings its own."""
    context_tokens: int = Field(default=2048, ge=512)
    """Context window of the persona model; prompts stay inside it."""
    model: str = "smollm2-135m"
    """Base model of the embedded engine: a name of ``serving/models.yaml``, or a folder with a checkpoint."""
    kv_cache_mb: int | None = Field(default=None, ge=128)
    """Memory of the embedded engine for keys and values, in MiB; ``None`` takes what the catalogue says."""
    turn_seconds: float = Field(default=20.0, gt=0)
    """Longest wait for the judge, and for the persona's words, before a turn goes on without them."""
    run_code: bool = True
    """Whether code in answers of the coding round is run, in a sandbox, where one can be made; else it is only read."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """How much the service logs. Transcripts are never logged."""

    def database(self) -> str:
        """Return the database URL; makes the data folder when the default file is used."""
        if self.database_url:
            return self.database_url
        self.data_dir.mkdir(parents=True, exist_ok=True)
        return f"sqlite:///{self.data_dir / 'interviews.db'}"
