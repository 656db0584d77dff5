"""An endpoint for the tests of a module; each test tells it what to answer."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from .kit import Endpoint, endpoint, status


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def api() -> AsyncIterator[Endpoint]:
    async with endpoint(status(500)) as made:
        yield made
