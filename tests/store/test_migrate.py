"""The schema: made by migrations, equal to the tables in code, and left alone when it is newer."""

from __future__ import annotations

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect, text

from interviewer.adapters.store import SqlEventStore, connect, migrate
from interviewer.adapters.store.migrate import SCRIPTS, upgrade
from interviewer.adapters.store.tables import Table
from interviewer.service.ports import StoreError

from .samples import NOON, answer, started


def test_up_from_empty_gives_the_tables_in_code(url: str) -> None:
    engine = connect(url)
    upgrade(engine)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Table.metadata) == []
        tables = inspect(connection).get_table_names()
        (cascade,) = inspect(connection).get_foreign_keys("event")
    engine.dispose()
    assert set(tables) == {"alembic_version", *Table.metadata.tables}
    assert cascade["options"] == {"ondelete": "CASCADE"}


async def test_migrating_again_changes_nothing(shared_url: str) -> None:
    migrate(shared_url)
    store = SqlEventStore.open(shared_url)
    log = await store.create("s1", NOON, [started(), answer()], token_hash="h")
    migrate(shared_url)
    assert await store.load("s1") == log
    await store.close()


def test_a_newer_database_is_refused_and_left_alone(shared_url: str) -> None:
    migrate(shared_url)
    engine = connect(shared_url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    for start in (migrate, SqlEventStore.open):
        with pytest.raises(StoreError, match=r"9999.*newer.*install"):
            start(shared_url)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one() == "9999"
    engine.dispose()


def test_a_migration_that_fails_leaves_nothing(shared_url: str) -> None:
    engine = connect(shared_url)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE event (id INTEGER)"))
    with pytest.raises(StoreError):
        migrate(shared_url)
    with engine.connect() as connection:
        assert inspect(connection).get_table_names() == ["event"]
    engine.dispose()


def test_sqlite_is_set_up_for_durability_and_deletion(shared_url: str) -> None:
    if not shared_url.startswith("sqlite"):
        return
    engine = connect(shared_url)
    with engine.connect() as connection:
        found = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys", "secure_delete", "busy_timeout")
        }
    engine.dispose()
    assert found == {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "secure_delete": 1,
        "busy_timeout": 5000,
    }


def test_scripts_are_part_of_the_package() -> None:
    assert (SCRIPTS / "env.py").is_file()
    assert list((SCRIPTS / "versions").glob("0001_*.py"))
