"""Files held against other processes; the system lets go of what the dead held."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from sottovoce.errors import LedgerBusy, LedgerUnwritable

__all__ = ["acquire", "exclusive", "release"]

PAUSE = 0.005
"""Seconds between two attempts."""

if sys.platform == "win32":
    import msvcrt

    # Windows locks bytes, also against reading; this one lies beyond any content.
    _FAR = 1 << 30

    def acquire(file: int) -> None:
        """Take the open file, or raise an OSError at once: PermissionError if others hold it."""
        os.lseek(file, _FAR, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

    def release(file: int) -> None:
        """Let go of it."""
        os.lseek(file, _FAR, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def acquire(file: int) -> None:
        """Take the open file, or raise an OSError at once: BlockingIOError if others hold it."""
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def release(file: int) -> None:
        """Let go of it."""
        fcntl.flock(file, fcntl.LOCK_UN)


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
