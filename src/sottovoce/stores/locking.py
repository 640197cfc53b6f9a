"""Files held against other processes; the system lets go of what the dead held."""

from __future__ import annotations

import os
import sys

__all__ = ["acquire", "release"]

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
