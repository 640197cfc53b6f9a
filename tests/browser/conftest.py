"""A browser, a server, and pages that are watched.

Tests of this folder that follow each other share a browser and a server, which take seconds to
start. Both end before tests elsewhere: while a browser runs, its loop is this thread's running
loop, and they need that for themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from playwright.sync_api import Browser, expect, sync_playwright
from tests.browser.chromium import NONE_FOUND, OPTIONS, find_chromium
from tests.browser.context_pool import Lending
from tests.browser.watched_page import PATIENCE, Locale, OpenPage, Scheme, Size, Watched, watch

from sottovoce.testing.server_thread import RunningServer, running_server

expect.set_options(timeout=PATIENCE)


@dataclass
class Running:
    """Programs for the tests of this folder, started by the first test that needs them."""

    browser: Browser | None = None
    lending: Lending | None = None
    server: RunningServer | None = None
    _stack: ExitStack = field(default_factory=ExitStack)

    def launch(self, program: str) -> Browser:
        if self.browser is None:
            playwright = self._stack.enter_context(sync_playwright())
            self.browser = playwright.chromium.launch(executable_path=program, args=OPTIONS)
            self._stack.callback(self.browser.close)
        return self.browser

    def lend(self, browser: Browser) -> Lending:
        if self.lending is None:
            self.lending = Lending(browser)
        return self.lending

    def serve(self) -> RunningServer:
        if self.server is None:
            folder = self._stack.enter_context(TemporaryDirectory(prefix="sottovoce-"))
            self.server = self._stack.enter_context(running_server(folder))
        return self.server

    def end(self) -> None:
        self.browser = self.lending = self.server = None
        self._stack.close()


RUNNING = Running()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Iterator[None]:
    """After the last test of this folder, for now, nothing runs any more."""
    try:
        yield
    finally:
        if nextitem is None or Path(__file__).parent not in nextitem.path.parents:
            RUNNING.end()


@pytest.fixture(scope="module")
def chromium() -> Browser:
    """The system's Chromium."""
    program = find_chromium()
    if program is None:
        pytest.skip(NONE_FOUND)
    return RUNNING.launch(program)


@pytest.fixture(scope="module")
def server() -> RunningServer:
    """A real server, with whatever other tests have left on it."""
    return RUNNING.serve()


@pytest.fixture(scope="module")
def lending(chromium: Browser) -> Lending:
    """Contexts of the browser, each with whatever of its cache other tests have left."""
    return RUNNING.lend(chromium)


@pytest.fixture
def open_page(lending: Lending, server: RunningServer) -> Iterator[OpenPage]:
    """Opens watched pages of the server: `open_page("phone", "dark", "ja-JP").page`.

    At the end of the test each is closed, and fails it if it made an error, violated its policy, or
    asked another server for anything. Pages with an empty cache show what is loaded.
    """
    with ExitStack() as opened:

        def open_one(
            size: Size = "desktop",
            scheme: Scheme = "light",
            locale: Locale = "en-GB",
            *,
            reduced_motion: bool = True,
            empty_cache: bool = False,
        ) -> Watched:
            options = {"reduced_motion": reduced_motion}
            if empty_cache:
                watched = watch(lending.browser, server.url, size, scheme, locale, **options)
                opened.callback(watched.context.close)
            else:
                lent = lending.lent(server.url, size, scheme, locale, **options)
                watched = opened.enter_context(lent)
            opened.callback(watched.check)
            return watched

        yield open_one
