"""Open a page in the system's Chromium."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page, sync_playwright

__all__ = ["browser_page"]

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@contextmanager
def browser_page(address: str) -> Iterator[Page]:
    """An empty page of a server."""
    program = os.environ.get("SOTTOVOCE_CHROMIUM") or next(
        filter(None, map(shutil.which, CHROMIUM))
    )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser.new_page(base_url=address)
        browser.close()
