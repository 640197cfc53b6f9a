"""Browser contexts that tests reuse.

A page in a new context starts a process and compiles every script, which takes a second of
processor time. In a reused context, with an empty page kept open, it does not. Nothing else stays
from the test before: pages are closed, routes and permissions are reset, and storage, service
workers and cookies are cleared before the next page makes a request.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from playwright.sync_api import Browser, BrowserContext, Page
from tests.browser.watched_page import Locale, Scheme, Size, Watched, new_context

__all__ = ["Lending"]

Kind: TypeAlias = tuple[str, Size, Scheme, Locale, bool]
"""The fixed properties of a context: its server, and the arguments of `new_context`."""


@dataclass
class Lending:
    """The contexts of a browser that nobody has now, by their kind; each as its empty page."""

    browser: Browser
    _idle: dict[Kind, list[Page]] = field(default_factory=lambda: defaultdict(list))

    @contextmanager
    def lent(
        self,
        origin: str,
        size: Size = "desktop",
        scheme: Scheme = "light",
        locale: Locale = "en-GB",
        *,
        reduced_motion: bool = True,
    ) -> Iterator[Watched]:
        """A page of a new visitor, while the block runs."""
        idle = self._idle[origin, size, scheme, locale, reduced_motion]
        options = {"reduced_motion": reduced_motion}
        empty = (
            idle.pop()
            if idle
            else new_context(self.browser, origin, size, scheme, locale, **options).new_page()
        )
        _forget(empty, origin)
        watched = Watched(empty.context, origin)
        try:
            yield watched
        finally:
            watched.leave()
            for page in {*empty.context.pages} - {empty}:
                page.close()
            _undo(empty.context)
            idle.append(empty)


def _forget(empty: Page, origin: str) -> None:
    """Clear whatever pages of this server have kept: none is open now."""
    empty.context.clear_cookies()
    debugger = empty.context.new_cdp_session(empty)
    debugger.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
    debugger.detach()


def _undo(context: BrowserContext) -> None:
    """Whatever a test may have changed of the context itself."""
    context.unroute_all()
    context.set_offline(False)
    context.clear_permissions()
