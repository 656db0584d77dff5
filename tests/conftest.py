"""Fixtures that every suite may use."""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest_asyncio

from interviewer.adapters.store import SqlEventStore

with warnings.catch_warnings(), suppress(ImportError):
    # It puts its own distutils in place of the standard library's, and cannot once some package has imported that one.
    warnings.simplefilter("ignore")
    import setuptools  # noqa: F401


@pytest_asyncio.fixture
async def memory() -> AsyncIterator[SqlEventStore]:
    """Open an empty store in memory."""
    store = SqlEventStore.open("sqlite://")
    yield store
    await store.close()
