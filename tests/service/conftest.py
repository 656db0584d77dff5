"""A store that fails when told."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from .kit import FlakyStore


@pytest_asyncio.fixture
async def flaky() -> AsyncIterator[FlakyStore]:
    store = FlakyStore.open("sqlite://")
    yield store
    await store.close()
