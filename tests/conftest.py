"""Fixtures that every suite may use."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from interviewer.adapters.store import SqlEventStore


@pytest_asyncio.fixture
async def memory() -> AsyncIterator[SqlEventStore]:
    """Open an empty store in memory."""
    store = SqlEventStore.open("sqlite://")
    yield store
    await store.close()
