"""A service for the commands of one module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.site import Site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with Site(tmp_path_factory.mktemp("cli")) as running:
        yield running
