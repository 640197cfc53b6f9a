"""One process at a time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from sottovoce.errors import LedgerBusy, LedgerUnwritable
from sottovoce.stores.locking import acquire, release

__all__ = ["exclusive"]

PAUSE = 0.005
"""Seconds between two attempts."""


@contextmanager
def exclusive(file: int, path: str, timeout: float) -> Iterator[None]:
    """Hold the open file against other processes and threads; the system lets go of the dead."""
    deadline = time.monotonic() + timeout
    while True:
        try:
            acquire(file)
            break
        except (BlockingIOError, PermissionError):
            if time.monotonic() >= deadline:
                raise LedgerBusy(path, seconds=timeout) from None
        except OSError as error:
            # A network folder may have no locks, and then nothing would keep two processes apart.
            raise LedgerUnwritable(path, reason=error.strerror or "no locks") from None
        time.sleep(PAUSE)
    try:
        yield
    finally:
        release(file)
