"""So many at a time, and no more."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from sottovoce.errors import Reason, Refused

__all__ = ["Slots"]

MOST_EXPORTS = 4
"""Exports that may be under way: each holds a connection and some memory."""


class Slots:
    """Lets a few do at once what takes long, and refuses the others, who come back later."""

    def __init__(self, most: int = MOST_EXPORTS) -> None:
        self._most, self._free = most, threading.BoundedSemaphore(most)

    @contextmanager
    def taken(self) -> Iterator[None]:
        """One of the slots, for as long as the block runs."""
        if not self._free.acquire(blocking=False):
            raise Refused(
                Reason.BUSY, f"{self._most} exports are under way already: try again later"
            )
        try:
            yield
        finally:
            self._free.release()
