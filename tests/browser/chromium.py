"""The system's Chromium."""

from __future__ import annotations

import os
import shutil

__all__ = ["NONE_FOUND", "OPTIONS", "SOMEWHERE", "find_chromium"]

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
NONE_FOUND = "needs Chromium: install it, or set SOTTOVOCE_CHROMIUM to its program"

SOMEWHERE = "answers.test"
"""This machine under the name of another, which browsers do not trust over plain http."""

# Tests run as root in containers, where Chromium has no sandbox; they open our own pages only.
# Nothing but the page may ask the network for anything, and a CI's shared memory is small.
OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--host-resolver-rules=MAP {SOMEWHERE} 127.0.0.1",
)


def find_chromium() -> str | None:
    """The program, or None where there is none."""
    named = os.environ.get("SOTTOVOCE_CHROMIUM")
    return named or next(filter(None, map(shutil.which, NAMES)), None)
