"""A real server, and a requester who may ask it for everything."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sottovoce.requester.client import Requester
from sottovoce.testing import RunningServer, running_server


@pytest.fixture(scope="session")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        yield running


@pytest.fixture
def requester(server: RunningServer) -> Requester:
    return server.requester
