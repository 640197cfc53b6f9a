"""Folders appear whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from sottovoce.errors import OutputExists, UsageError
from sottovoce.stores.locking import acquire
from sottovoce.stores.private_files import sync_folder

__all__ = ["new_folder"]


@contextmanager
def new_folder(
    path: str | os.PathLike[str], contents: Collection[str], *, force: bool = False
) -> Iterator[Path]:
    """An empty folder beside `path` that takes its place when the block ends well.

    An error or an interrupt inside the block leaves `path` as it was and removes the new folder.
    What a process that was killed has left is removed by the next one for the same path. With
    `force` a folder at `path` is replaced, if it has nothing in it but what is named in `contents`.
    """
    target = Path(os.path.abspath(path))
    _check(target, contents, force=force)
    try:
        with _aside(target) as aside:
            new = aside / "new"
            new.mkdir(mode=0o700)
            yield new
            _flush(new)
            _check(target, contents, force=force)  # whatever has appeared meanwhile
            _put(new, target, aside / OLD)
            sync_folder(target.parent)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from None


OLD = "old"
"""Where a folder that is replaced lies for a moment."""


def _check(target: Path, contents: Collection[str], *, force: bool) -> None:
    if not target.parent.is_dir():
        raise UsageError(f"{target.parent} is not a folder: create it first")
    if not os.path.lexists(target):
        return
    if not force:
        raise OutputExists(str(target))
    if target.is_symlink() or not target.is_dir():
        raise UsageError(f"{target} is not a folder: name another place")
    other = sorted(set(os.listdir(target)) - set(contents))
    if other:
        raise UsageError(
            f"{target} holds {other[0]}, which no export has put there: nothing is replaced; name "
            "another folder"
        )


@contextmanager
def _aside(target: Path) -> Iterator[Path]:
    """A hidden folder beside the target, held against other processes, and gone afterwards."""
    place = target.with_name(f".{target.name}.new")
    place.mkdir(mode=0o700, exist_ok=True)
    lock = os.open(place / "lock", os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        try:
            acquire(lock)
        except (BlockingIOError, PermissionError):
            raise UsageError(f"another process is writing {target}: wait for its end") from None
        try:
            _remove_what_is_left(place, target)
            yield place
        finally:
            # The lock goes last: what it stands for is gone by then.
            _remove_what_is_left(place, target)
            (place / "lock").unlink()
            place.rmdir()
    finally:
        os.close(lock)


def _remove_what_is_left(place: Path, target: Path) -> None:
    """Everything but the lock; a folder that was moved away and never replaced goes back."""
    if (place / OLD).exists() and not os.path.lexists(target):
        (place / OLD).rename(target)
    for left in ("new", OLD):
        if (place / left).exists():
            shutil.rmtree(place / left)


def _put(new: Path, target: Path, old: Path) -> None:
    if target.exists():
        target.rename(old)
    new.rename(target)


def _flush(folder: Path) -> None:
    """Wait until everything in a folder is on the disk."""
    for place, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(place, name), "r+b") as file:
                os.fsync(file.fileno())
        sync_folder(Path(place))
