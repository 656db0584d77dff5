"""Brings a database to the schema of this version, at every start.

Invariant: one process migrates at a time and either all steps are applied or none; a database of a newer version
is left alone.
"""

from __future__ import annotations

import threading
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from interviewer.adapters.store.engine import BEGIN, connect, is_sqlite
from interviewer.adapters.store.errors import translate
from interviewer.service.ports import StoreError

SCRIPTS = Path(__file__).parent / "migrations"
_WAIT_SECONDS = 60
"""How long a process waits while another one migrates."""
_ADVISORY_LOCK = 7_341_052_968
"""Any number that no other user of the Postgres database locks."""
_ALEMBIC = threading.Lock()
"""Alembic keeps its context in module globals."""


def migrate(url: str) -> None:
    """Create or upgrade the tables at ``url``.

    Raises:
        StoreError: the database is of a newer version, or cannot be written.
    """
    engine = connect(url)
    try:
        upgrade(engine)
    finally:
        engine.dispose()


def upgrade(engine: Engine) -> None:
    """Create or upgrade the tables, in one transaction.

    Raises:
        StoreError: the database is of a newer version, or cannot be written.
    """
    try:
        with _ALEMBIC, engine.execution_options(**{BEGIN: ""}).connect() as connection:
            if is_sqlite(engine):
                before = connection.exec_driver_sql("PRAGMA busy_timeout").scalar_one()
                connection.exec_driver_sql(f"PRAGMA busy_timeout={_WAIT_SECONDS * 1000}")
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            else:
                connection.exec_driver_sql("SET LOCAL statement_timeout = 0")  # an index over a long history takes long
                connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{_WAIT_SECONDS}s'")
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})")
            _upgrade(connection)
            connection.commit()
            if is_sqlite(engine):
                connection.exec_driver_sql(f"PRAGMA busy_timeout={before}")
    except SQLAlchemyError as exc:
        raise translate(exc) from exc


def _upgrade(connection: Connection) -> None:
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    for revision in MigrationContext.configure(connection).get_current_heads():
        if revision not in known:
            raise StoreError(
                f"the database has schema {revision}, which is newer than this version of the program: "
                "install the newer version again, or restore a backup from before the upgrade"
            )
    command.upgrade(config, "head")
