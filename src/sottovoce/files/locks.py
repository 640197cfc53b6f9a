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
"""The file in a folder that stands for all of it."""

PAUSE = 0.005
"""Seconds between two attempts."""

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)


class LockedFile:
    """An open file that no other process or thread holds until the block ends."""

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
    """The file at a path, made for its owner if there is none, and locked.

    A file that is held for longer than `timeout` seconds raises `BlockingIOError`; one that cannot
    be opened, or is where there are no locks, another `OSError`.
    """
    deadline = time.monotonic() + timeout
    descriptor = os.open(path, _FLAGS, 0o600)
    try:
        while not lock_descriptor(descriptor, blocking=False):
            if time.monotonic() >= deadline:
                raise BlockingIOError(errno.EWOULDBLOCK, "held by another process", str(path))
            time.sleep(PAUSE)
    except BaseException:
        os.close(descriptor)
        raise
    return LockedFile(descriptor)


@contextmanager
def exclusive(path: str | os.PathLike[str], timeout: float) -> Iterator[int]:
    """Hold the file at a path, made if there is none; gives the open file's descriptor."""
    try:
        locked = open_locked(path, timeout)
    except BlockingIOError:
        raise LedgerBusy(os.fspath(path), seconds=timeout) from None
    except OSError as error:
        # A network folder may have no locks, and then nothing would keep two processes apart.
        raise LedgerUnwritable(os.fspath(path), reason=error.strerror or "no locks") from None
    with locked:
        yield locked.descriptor


class DataFolderBusy(UsageError):  # noqa: N818 - reads as the fact it states
    """Another process works in the data folder."""

    def __init__(self, folder: str) -> None:
        super().__init__(
            f"{folder} is in use by a running server (or an upgrade or restore): stop it first, or "
            "name another folder with --data"
        )
        self.folder = folder


@contextmanager
def folder_lock(
    folder: str | os.PathLike[str], busy: Callable[[str], UsageError] = DataFolderBusy
) -> Iterator[str]:
    """Hold the folder against other processes; where another holds it, `busy` is what is raised.

    The folder is made if there is none. The file stays when the block ends: removing it would let
    two processes hold two files of one name.
    """
    place = make_folder(folder)
    try:
        locked = open_locked(place / NAME)
    except BlockingIOError:
        raise busy(str(place)) from None
    except OSError as error:
        # A network folder may have no locks, and SQLite would not be safe on it either.
        raise UsageError(
            f"{place} cannot be locked ({error.strerror}): use a folder on a local disk"
        ) from None
    with locked:
        yield str(place)


def make_folder(folder: str | os.PathLike[str]) -> Path:
    """A folder that only its owner can enter; one that exists is left as it is."""
    place = Path(folder)
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError:
        raise UsageError(f"{place} is a file: name a folder") from None
    except OSError as error:
        raise UsageError(f"{place} cannot be made: {error.strerror}") from None
    return place
