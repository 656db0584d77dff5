"""A service for the commands of one module."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from tests.site import Site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with Site(tmp_path_factory.mktemp("cli")) as running:
        yield running


@pytest.fixture(autouse=True)
def _own_logs() -> Iterator[None]:
    """Undo what a command set on the process's loggers, or the tests after it would read other lines."""
    root, clients = logging.getLogger(), logging.getLogger("httpx2")
    level, handlers, quiet = root.level, list(root.handlers), clients.level
    yield
    root.setLevel(level)
    clients.setLevel(quiet)
    for handler in [h for h in root.handlers if h not in handlers]:
        root.removeHandler(handler)
    for handler in [h for h in handlers if h not in root.handlers]:
        root.addHandler(handler)
