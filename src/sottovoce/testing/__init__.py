"""A real server for tests of software that uses Sottovoce.

`running_server` runs one in a thread of this process, on a free port and an empty database;
`ServerProcess` runs one in its own process, which can be killed. With pytest, write
`pytest_plugins = ["sottovoce.testing.pytest"]` into conftest.py for the fixture `sottovoce_server`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sottovoce.testing.server_process import ServerProcess
    from sottovoce.testing.server_thread import RunningServer, running_server

__all__ = ["RunningServer", "ServerProcess", "running_server"]

# Imported on first use: a server in another process needs no web framework here.
_HOMES = {
    "RunningServer": "server_thread",
    "ServerProcess": "server_process",
    "running_server": "server_thread",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
