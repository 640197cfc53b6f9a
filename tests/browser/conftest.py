"""A browser, a server, and pages that are watched.

A browser belongs to one module of tests: while it runs, its loop is this thread's running loop, and
tests of other modules need that for themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import Browser, expect, sync_playwright
from tests.browser.chromium import NONE_FOUND, OPTIONS, find_chromium
from tests.browser.watching import PATIENCE, Locale, OpenPage, Scheme, Size, Watched, watch

from sottovoce.testing.serving import RunningServer, running_server

expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """The system's Chromium, one for a module of tests."""
    program = find_chromium()
    if program is None:
        pytest.skip(NONE_FOUND)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=OPTIONS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A real server, one for a module of tests."""
    with running_server(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture
def open_page(chromium: Browser, server: RunningServer) -> Iterator[OpenPage]:
    """Opens watched pages of the server: `open_page("phone", "dark", "ja-JP").page`.

    At the end of the test each is closed, and fails it if it made an error, violated its policy, or
    asked another server for anything.
    """
    with ExitStack() as opened:

        def open_one(
            size: Size = "desktop",
            scheme: Scheme = "light",
            locale: Locale = "en-GB",
            *,
            reduced_motion: bool = True,
        ) -> Watched:
            watched = watch(
                chromium, server.url, size, scheme, locale, reduced_motion=reduced_motion
            )
            opened.callback(watched.close)
            return watched

        yield open_one
