"""Retention: sessions that nothing was added to for some days are deleted, at the start and once a day."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta

from interviewer.service.ports import Clock, EventStore, StoreError

_log = logging.getLogger(__name__)
EVERY = timedelta(days=1)
RETRY = timedelta(minutes=10)
"""Next try when the store could not be used."""


async def keep(store: EventStore, clock: Clock, days: int) -> None:
    """Delete what is older than ``days`` days, now and every day, until cancelled; the log is told how many only."""
    while True:
        try:
            gone = await store.purge(clock.now() - timedelta(days=days))
            if gone:
                _log.info("deleted %d sessions that nothing was added to for %d days", gone, days)
            wait = EVERY
        except StoreError as error:
            _log.warning("old sessions could not be deleted, next try in %s: %s", RETRY, error)
            wait = RETRY
        await asyncio.sleep(wait.total_seconds())
