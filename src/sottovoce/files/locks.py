"""Exclusive locks on files and folders, released when the process dies."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from filelock import lock_descriptor, unlock_descriptor

from sottovoce.errors import LedgerBusy, LedgerUnwritable, UsageError

NAME = "lock"
"""The file in a folder whose lock covers the whole folder."""

PAUSE = 0.005
"""Seconds between two attempts."""

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)


class LockedFile:
    """An open file, locked against other processes and threads until the block ends."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            unlock_descriptor(self.descriptor)
        finally:
            os.close(self.descriptor)


def open_locked(path: str | os.PathLike[str], timeout: float = 0.0) -> LockedFile:
    """The file at a path, created for its owner if missing, and locked.

    Raises `BlockingIOError` if the file stays locked for longer than `timeout` seconds, and another
    `OSError` if it cannot be opened or the file system has no locks.
    """
    deadline = time.monotonic() + timeout
    descriptor = os.open(path, _FLAGS, 0o600)
    try:
        while not lock_descriptor(descriptor, blocking=False):
            if time.monotonic() >= deadline:
                raise BlockingIOError(errno.EWOULDBLOCK, "locked by another process", str(path))
            time.sleep(PAUSE)
    except BaseException:
        os.close(descriptor)
        raise
    return LockedFile(descriptor)


@contextmanager
def exclusive(path: str | os.PathLike[str], timeout: float) -> Iterator[int]:
    """Lock the file at a path, created if missing; yields the open file's descriptor."""
    try:
        locked = open_locked(path, timeout)
    except BlockingIOError:
        raise LedgerBusy(os.fspath(path), seconds=timeout) from None
    except OSError as error:
        # A network folder may have no locks; then two processes could write at once.
        raise LedgerUnwritable(os.fspath(path), reason=error.strerror or "no locks") from None
    with locked:
        yield locked.descriptor


class DataFolderBusy(UsageError):  # noqa: N818 - reads as the fact it states
    """Another process uses the data folder."""

    def __init__(self, folder: str) -> None:
        super().__init__(
            f"{folder} is in use by a running server (or an upgrade or restore); stop it first, "
            "or use another data folder"
        )
        self.folder = folder


@contextmanager
def folder_lock(
    folder: str | os.PathLike[str], busy: Callable[[str], UsageError] = DataFolderBusy
) -> Iterator[str]:
    """Lock the folder against other processes; if another one holds it, raise `busy`.

    The folder is created if missing. The lock file stays when the block ends: removing it would let
    two processes lock two files of the same name.
    """
    place = make_folder(folder)
    try:
        locked = open_locked(place / NAME)
    except BlockingIOError:
        raise busy(str(place)) from None
    except OSError as error:
        # A network folder may have no locks; SQLite would not be safe on it either.
        raise UsageError(
            f"{place} cannot be locked ({error.strerror}): use a folder on a local disk"
        ) from None
    with locked:
        yield str(place)


def make_folder(folder: str | os.PathLike[str]) -> Path:
    """A folder that only its owner can enter; an existing one is left as it is."""
    place = Path(folder)
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError:
        raise UsageError(f"{place} is a file: name a folder") from None
    except OSError as error:
        raise UsageError(f"{place} cannot be created: {error.strerror}") from None
    return place
