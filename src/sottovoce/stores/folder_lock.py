"""One server for each data folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sottovoce.errors import UsageError
from sottovoce.stores.locking import acquire

__all__ = ["DataFolderBusy", "folder_lock", "make_folder"]

NAME = "lock"


class DataFolderBusy(UsageError):  # noqa: N818 - reads as the fact it states
    """Another process works in the data folder."""

    def __init__(self, folder: str) -> None:
        super().__init__(
            f"{folder} is in use by a running server (or an upgrade or restore): stop it first, or "
            "name another folder with --data"
        )
        self.folder = folder


@contextmanager
def folder_lock(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Hold the folder against other processes; the system lets go of the dead.

    The folder is made if there is none. The file stays when the block ends: removing it would let
    two processes hold two files of one name.
    """
    place = make_folder(folder)
    file = os.open(place / NAME, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        try:
            acquire(file)
        except (BlockingIOError, PermissionError):
            raise DataFolderBusy(str(place)) from None
        except OSError as error:
            # A network folder may have no locks, and SQLite would not be safe on it either.
            raise UsageError(
                f"{place} cannot be locked ({error.strerror}): use a folder on a local disk"
            ) from None
        yield
    finally:
        os.close(file)


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
