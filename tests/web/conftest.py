"""Servers on a store in memory: one for each test, or one for the tests of a module that do not disturb each other."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from interviewer.adapters.system import new_id
from tests.service.kit import FlakyStore, deps

from .kit import Running, running


@pytest_asyncio.fixture
async def server() -> AsyncIterator[Running]:
    """Serve with doubles; ``server.service`` is what it runs on."""
    async with running(deps(FlakyStore.open("sqlite://"))) as serving:
        yield serving


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared() -> AsyncIterator[Running]:
    """Serve a whole module, whose tests run in the loop of the module."""
    async with running(deps(FlakyStore.open("sqlite://"), new_id=new_id)) as serving:
        yield serving
