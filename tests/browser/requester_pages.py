"""A requester at the browser, and crowds that report to its campaigns."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.browser.watched_page import Watched
from tests.server.crowds import report

from sottovoce.server.database import Database
from sottovoce.server.service import Service
from sottovoce.testing.server_thread import RunningServer

__all__ = ["READY", "crowd", "headers", "sign_in"]

READY = {
    "overview": ".chart svg",
    "truths": "tbody tr",
    "workers": "tbody tr",
    "invites": ".large dd",
    "exports": "li",
    "methods": "blockquote",
    "settings": "form",
}
"""The sections, and what each shows once it has asked the server."""


def sign_in(watched: Watched, server: RunningServer, token: str | None = None) -> Watched:
    """A page signed in with the token, in this tab."""
    watched.page.goto("/static/icon.svg")
    keep = "(token) => sessionStorage.setItem('sottovoce:token:', token)"
    watched.page.evaluate(keep, token or server.token)
    return watched


def headers(server: RunningServer) -> dict[str, Any]:
    """The headers of a program that acts for the requester."""
    return {"Authorization": f"Bearer {server.token}"}


def crowd(server: RunningServer, campaign: str, link: str, *, workers: int, seed: int = 3) -> None:
    """Let workers report through the service's own reception; their noise is seeded."""

    def work() -> None:
        service = Service.on(Database.at(server.folder))
        try:
            report(service, campaign, link.partition("#")[2], workers=workers, seed=seed)
        finally:
            service.close()

    with ThreadPoolExecutor(1) as elsewhere:  # in this thread runs the browser's loop
        elsewhere.submit(work).result()
