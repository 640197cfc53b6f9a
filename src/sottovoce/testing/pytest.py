"""The fixture `sottovoce_server`, for pytest.

Write `pytest_plugins = ["sottovoce.testing.pytest"]` into the top conftest.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from sottovoce.errors import NotInstalled
from sottovoce.testing.server_thread import RunningServer, running_server

try:
    import pytest
except ImportError:
    raise NotInstalled("pytest", purpose="the fixture sottovoce_server") from None

__all__ = ["sottovoce_server"]


@pytest.fixture(scope="session")
def sottovoce_server() -> Iterator[RunningServer]:
    """A real server on an empty SQLite database, shared by all tests of a run."""
    with running_server() as server:
        yield server
