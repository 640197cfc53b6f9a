"""Hooks: features of higher packages, looked up by name and imported on first use.

Live sessions depend on the server, the requester's client and the commands, which do not import
them. The HTML of values depends on the values in the same way. This module is the only connection.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

HOOKS = {
    "notebook": "sottovoce.figures.notebook",
    "requester.live": "sottovoce.live.requester",
    "sealed.simulate": "sottovoce.live.commands.private_em",
    "web.feature": "sottovoce.live.server.feature",
}
"""The module that fills each hook."""


def filled(hook: str) -> Any:
    """The module behind a hook."""
    return import_module(HOOKS[hook])
