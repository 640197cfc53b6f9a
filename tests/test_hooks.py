"""Live sessions are above the packages whose hooks they fill, and are loaded at first use."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from sottovoce.hooks import HOOKS, filled

NEEDED = {
    "notebook": ("html_of",),
    "requester.live": ("LiveSessions",),
    "sealed.simulate": ("run", "show"),
    "web.feature": ("FEATURE",),
}
LIVE = ("sottovoce.live",)
WORKERS_HALF = (
    "sottovoce.http_client.connection",
    "sottovoce.live.worker",
    "sottovoce.securesum.committee.worker",
    "sottovoce.securesum.em.contributor",
    "sottovoce.securesum.damgard_jurik.worker",
    "sottovoce.securesum.masked.worker",
    "sottovoce.securesum.star.worker",
    "sottovoce.worker",
)


def _loaded(module: str, *watched: str) -> list[str]:
    """The watched modules that a fresh process has loaded with a module."""
    code = f"import {module}, json, sys; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return [name for name in json.loads(done.stdout) if name.startswith(watched)]


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_is_filled_by_a_module_that_has_what_is_taken_from_it(hook: str) -> None:
    assert all(hasattr(filled(hook), name) for name in NEEDED[hook])


@pytest.mark.parametrize(
    "module",
    ["sottovoce.requester.client", "sottovoce.server.web.http_server", "sottovoce.worker.client"],
)
def test_a_party_loads_nothing_of_live_sessions_until_they_are_asked_for(module: str) -> None:
    assert _loaded(module, *LIVE) == []


@pytest.mark.parametrize(
    "module", ["sottovoce.live.server.feature", "sottovoce.live.server.replica"]
)
def test_the_servers_half_of_a_live_session_loads_nothing_of_the_workers_half(module: str) -> None:
    assert _loaded(module, *WORKERS_HALF) == []
