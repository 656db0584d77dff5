"""Short transactions on one engine, driver errors translated, on threads of their own.

The process's common threads read answers and fold sessions; a store that waits for its disk or its turn must not take
them, nor wait for them.

Invariant: a unit of work is applied as a whole or not at all, and no driver exception gets out.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import TypeAlias, TypeVar

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import Session

from interviewer.adapters.store.engine import BEGIN, in_memory, is_sqlite
from interviewer.adapters.store.errors import translate
from interviewer.service.ports import StoreError

T = TypeVar("T")
Told: TypeAlias = Callable[[str, float, bool], None]
"""Takes what was done (read, write, erase), its seconds, and whether it failed; called from worker threads."""
THREADS = 8
"""At a time: as many reads, and on Postgres as many writes; SQLite lets one writer in."""
_LOG = logging.getLogger(__name__)


class Database:
    """Runs units of work."""

    def __init__(self, engine: Engine, told: Told | None = None) -> None:
        """Work on ``engine``; ``told`` hears of every transaction, the wait for its turn included."""
        self._engine = engine
        self._told = told
        self._writes = engine.execution_options(**{BEGIN: "BEGIN IMMEDIATE"})
        self._bare = engine.execution_options(**{BEGIN: ""})
        self._on_disk = is_sqlite(engine) and not in_memory(engine)
        # SQLite lets one writer in at a time and polls for its lock; queueing here first is faster, and fair.
        self._turn: AbstractContextManager[object] = threading.Lock() if is_sqlite(engine) else nullcontext()
        self._readers = ThreadPoolExecutor(THREADS, "store-read")
        self._writers = ThreadPoolExecutor(1 if is_sqlite(engine) else THREADS, "store-write")

    async def reading(self, work: Callable[[Session], T]) -> T:
        """Do :meth:`read` on a thread; same errors."""
        return await _on(self._readers, partial(self.read, work))

    async def writing(self, work: Callable[[Session], T]) -> T:
        """Do :meth:`write` on a thread; same errors."""
        return await _on(self._writers, partial(self.write, work))

    async def probing(self, work: Callable[[Session], T]) -> T:
        """Do :meth:`write` on a thread, told as a probe: it is not somebody's; same errors."""
        return await _on(self._writers, partial(self._write, "probe", work))

    async def erasing(self, work: Callable[[Session], T]) -> T:
        """Do :meth:`erase` on a thread; same errors."""
        return await _on(self._writers, partial(self.erase, work))

    def read(self, work: Callable[[Session], T]) -> T:
        """Run ``work`` on one snapshot of the data.

        Raises:
            StoreError: the database cannot be read.
        """
        with self._timed("read"):
            return _transact(self._engine, work)

    def write(self, work: Callable[[Session], T]) -> T:
        """Run ``work`` and commit; when this returns, its changes are on the disk.

        Raises:
            StoreError: nothing was stored.
        """
        return self._write("write", work)

    def erase(self, work: Callable[[Session], T]) -> T:
        """Like :meth:`write`, for work that deletes text; on SQLite no trace of it stays in the file.

        The note that the file has to be scrubbed is committed together with the deletion, so a crash or a full disk in
        between only postpones the scrubbing to the next deletion or start.

        Raises:
            StoreError: nothing was deleted.
        """

        def noted(session: Session) -> T:
            found = work(session)
            if self._on_disk:
                session.connection().exec_driver_sql("PRAGMA user_version=1")
            return found

        found = self._write("erase", noted)
        self.scrub()
        return found

    def _write(self, operation: str, work: Callable[[Session], T]) -> T:
        with self._timed(operation), self._turn:
            return _transact(self._writes, work)

    @contextmanager
    def _timed(self, operation: str) -> Iterator[None]:
        began, failed = time.perf_counter(), False
        try:
            yield
        except StoreError:
            failed = True
            raise
        finally:
            if self._told is not None:
                self._told(operation, time.perf_counter() - began, failed)

    def scrub(self) -> bool:
        """Rewrite the SQLite file when a deletion asks for it; a failure is logged and made up for later.

        ``secure_delete`` alone is not enough: it zeroes a deleted row, but not the copies that stay behind when the
        row was moved between pages earlier. VACUUM drops these, the checkpoint empties the write-ahead log.
        Other writers wait meanwhile, about 30 ms per megabyte of file (3.6 s for 120 MB, 500 long sessions, on two
        busy cores); a bigger history belongs in Postgres.

        Returns:
            Whether no deleted text is in the file; on Postgres True, where autovacuum clears what was deleted.
        """
        if not self._on_disk:
            return True
        try:
            with self._turn, self._bare.connect() as connection:
                if not connection.exec_driver_sql("PRAGMA user_version").scalar_one():
                    return True
                connection.exec_driver_sql("VACUUM")
                busy, _, _ = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()
                if busy:
                    _LOG.warning(
                        "a reader kept deleted text in the write-ahead log; the next deletion or start removes it"
                    )
                    return False
                connection.exec_driver_sql("PRAGMA user_version=0")
                return True
        except SQLAlchemyError as exc:
            _LOG.warning(
                "deleted text may still be in the database file until the next deletion or start: %s", translate(exc)
            )
            return False

    async def close(self) -> None:
        """Finish what was begun and close all connections; the last one to a SQLite file folds its log into it."""
        await asyncio.to_thread(self._end)

    def _end(self) -> None:
        self._writers.shutdown()
        self._readers.shutdown()
        self._engine.dispose()


async def _on(threads: ThreadPoolExecutor, call: Callable[[], T]) -> T:
    try:
        waiting = asyncio.get_running_loop().run_in_executor(threads, call)
    except RuntimeError as exc:
        raise StoreError("the store is closed") from exc
    return await waiting


def _transact(engine: Engine, work: Callable[[Session], T]) -> T:
    try:
        with Session(engine, expire_on_commit=False) as session, session.begin():
            return work(session)
    except SQLAlchemyError as exc:
        raise translate(exc) from exc
