"""A page in a browser, and everything it did that no page of ours may do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, WebError

__all__ = ["PATIENCE", "Locale", "OpenPage", "Scheme", "Size", "Watched", "new_context", "watch"]

Size: TypeAlias = Literal["desktop", "phone"]
Scheme: TypeAlias = Literal["light", "dark"]
Locale: TypeAlias = Literal["en-GB", "ja-JP"]

PATIENCE = 20_000
"""Milliseconds: other tests run at the same time."""

STAYS_HERE = frozenset({"data", "blob"})
"""Schemes of addresses that no network is asked for."""

TELL_VIOLATIONS = """
addEventListener("securitypolicyviolation", (event) =>
  console.error(`policy violated: ${event.effectiveDirective} by ${event.blockedURI}`));
"""
# What happened is told in order: once a later turn of the page has answered, all of it was told.
A_TURN_LATER = "() => new Promise((resolve) => setTimeout(resolve))"


@dataclass
class Watched:
    """A page, watched from its first request on, the requests it made, and its faults in words."""

    context: BrowserContext
    origin: str
    page: Page = field(init=False)
    requests: list[Request] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    _expected: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page = self.context.new_page()
        self.context.on("request", self._ask)
        self.context.on("console", self._hear)
        self.context.on("weberror", self._fail)

    def expect(self, *words: str) -> None:
        """Faults with these words are part of the test, as a refusal or a network that is down."""
        self._expected.extend(words)

    def faults(self) -> list[str]:
        """Errors of the page and its console, violations, and requests to elsewhere."""
        for page in self.context.pages:
            page.evaluate(A_TURN_LATER)
        elsewhere = [f"request: {url}" for url in self.addresses() if not self._is_ours(url)]
        return [
            fault
            for fault in (*self.told, *elsewhere)
            if not any(words in fault for words in self._expected)
        ]

    def addresses(self) -> list[str]:
        """Of the requests so far, in their order."""
        return [request.url for request in self.requests]

    def close(self) -> None:
        """Close the page; raises if it did anything that it may not do."""
        try:
            self.check()
        finally:
            self.context.close()

    def check(self) -> None:
        """Raises if the page did anything that it may not do."""
        faults = self.faults()
        assert not faults, "the page did what no page may do:\n" + "\n".join(faults)

    def leave(self) -> None:
        """Stop watching the context, which the next test reuses."""
        self.context.remove_listener("request", self._ask)
        self.context.remove_listener("console", self._hear)
        self.context.remove_listener("weberror", self._fail)

    def _is_ours(self, address: str) -> bool:
        parts = urlsplit(address)
        return parts.scheme in STAYS_HERE or f"{parts.scheme}://{parts.netloc}" == self.origin

    def _ask(self, request: Request) -> None:
        self.requests.append(request)

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.told.append(f"console: {message.text} ({message.location.get('url', '')})")

    def _fail(self, error: WebError) -> None:
        self.told.append(f"error: {error.error.stack or error.error}")


class OpenPage(Protocol):
    """Opens watched pages, and holds them to it at the end of a test."""

    def __call__(
        self,
        size: Size = "desktop",
        scheme: Scheme = "light",
        locale: Locale = "en-GB",
        *,
        reduced_motion: bool = True,
        empty_cache: bool = False,
    ) -> Watched: ...


def new_context(
    browser: Browser,
    origin: str,
    size: Size = "desktop",
    scheme: Scheme = "light",
    locale: Locale = "en-GB",
    *,
    reduced_motion: bool = True,
) -> BrowserContext:
    """The browser of a new visitor."""
    phone = size == "phone"
    context = browser.new_context(
        viewport={"width": 390, "height": 844} if phone else {"width": 1280, "height": 900},
        device_scale_factor=2 if phone else 1,
        is_mobile=phone,
        has_touch=phone,
        color_scheme=scheme,
        locale=locale,
        reduced_motion="reduce" if reduced_motion else "no-preference",
        base_url=origin,
    )
    context.set_default_timeout(PATIENCE)
    context.add_init_script(TELL_VIOLATIONS)
    return context


def watch(
    browser: Browser,
    origin: str,
    size: Size = "desktop",
    scheme: Scheme = "light",
    locale: Locale = "en-GB",
    *,
    reduced_motion: bool = True,
) -> Watched:
    """A new page of a new visitor."""
    return Watched(
        new_context(browser, origin, size, scheme, locale, reduced_motion=reduced_motion), origin
    )
