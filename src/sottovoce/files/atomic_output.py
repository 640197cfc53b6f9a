"""Atomic output: files and folders appear complete or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from sottovoce.errors import OutputExists, UsageError
from sottovoce.files.locks import open_locked

OLD = "old"
"""The temporary name of a folder that is being replaced."""

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_UNFINISHED = ".unfinished"


@contextmanager
def new_file(path: str | os.PathLike[str], *, force: bool = False) -> Iterator[Path]:
    """A temporary path next to `path` that replaces it when the block succeeds.

    An error or an interrupt inside the block leaves `path` as it was and removes the temporary
    file. Without `force`, an existing `path` is kept and `OutputExists` is raised, even if it
    appears while the block runs.
    """
    target = Path(path)
    check_target(target, force=force)
    try:
        folder = tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise UsageError(f"cannot write in {target.parent}: {error.strerror}") from None
    temporary = Path(folder) / target.name
    try:
        yield temporary
        _put_file(temporary, target, force=force)
    finally:
        temporary.unlink(missing_ok=True)
        Path(folder).rmdir()


def check_target(path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Refuse a path that cannot be written."""
    target = Path(path)
    if not force and os.path.lexists(target):
        raise OutputExists(str(target))
    if target.is_dir():
        raise UsageError(f"{target} is a folder: name a file")
    if not target.parent.is_dir():
        raise UsageError(f"{target.parent} is not a folder: create it first")


@contextmanager
def durable_file(path: Path) -> Iterator[BinaryIO]:
    """A private file to write to; it is at `path`, on the disk, when the block ends.

    It replaces a file at `path`. An error inside the block leaves that file as it was. The
    unfinished file of a killed process stays until `remove_unfinished`.
    """
    unfinished = path.with_name(f"{path.name}.{secrets.token_hex(4)}{_UNFINISHED}")
    try:
        with open(os.open(unfinished, _FLAGS, 0o600), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink()
        raise
    flush(path.parent)


def remove_unfinished(folder: Path) -> None:
    """Remove the unfinished files of a crash. No other process may be writing."""
    for file in folder.glob(f"*{_UNFINISHED}"):
        file.unlink(missing_ok=True)


def flush(place: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    is_folder = place.is_dir()
    try:
        opened = os.open(place, os.O_RDONLY if is_folder else os.O_RDWR)
    except PermissionError:
        if is_folder:  # this system cannot open folders
            return
        raise
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


@contextmanager
def new_folder(
    path: str | os.PathLike[str], contents: Collection[str], *, force: bool = False
) -> Iterator[Path]:
    """An empty folder next to `path` that replaces it when the block succeeds.

    An error or an interrupt inside the block leaves `path` as it was and removes the new folder.
    The leftovers of a killed process are removed by the next one that writes the same path. With
    `force`, a folder at `path` is replaced if it contains nothing but the names in `contents`.
    """
    target = Path(os.path.abspath(path))
    _check_folder(target, contents, force=force)
    try:
        with _aside(target) as aside:
            new = aside / "new"
            new.mkdir(mode=0o700)
            yield new
            _flush_all(new)
            _check_folder(target, contents, force=force)  # it appeared in the meantime
            _put_folder(new, target, aside / OLD)
            flush(target.parent)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from None


def _put_file(temporary: Path, target: Path, *, force: bool) -> None:
    if force:
        temporary.replace(target)
        return
    try:
        os.link(temporary, target)  # unlike rename, never replaces
    except FileExistsError:
        raise OutputExists(str(target)) from None
    except OSError:  # a file system without hard links
        if os.path.lexists(target):
            raise OutputExists(str(target)) from None
        temporary.rename(target)


def _check_folder(target: Path, contents: Collection[str], *, force: bool) -> None:
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
            f"{target} contains {other[0]}, which is not part of an export; nothing was replaced: "
            "name another folder"
        )


@contextmanager
def _aside(target: Path) -> Iterator[Path]:
    """A hidden folder next to the target, locked against other processes and removed afterwards."""
    place = target.with_name(f".{target.name}.new")
    place.mkdir(mode=0o700, exist_ok=True)
    try:
        lock = open_locked(place / "lock")
    except BlockingIOError:
        raise UsageError(f"another process is writing {target}; wait until it ends") from None
    with lock:
        try:
            _remove_what_is_left(place, target)
            yield place
        finally:
            # The lock is removed last, after everything that it protects.
            _remove_what_is_left(place, target)
            (place / "lock").unlink()
            place.rmdir()


def _remove_what_is_left(place: Path, target: Path) -> None:
    """Remove everything but the lock; restore a folder that was moved away and never replaced."""
    if (place / OLD).exists() and not os.path.lexists(target):
        (place / OLD).rename(target)
    for left in ("new", OLD):
        if (place / left).exists():
            shutil.rmtree(place / left)


def _put_folder(new: Path, target: Path, old: Path) -> None:
    if target.exists():
        target.rename(old)
    new.rename(target)


def _flush_all(folder: Path) -> None:
    """Wait until everything in a folder is on the disk."""
    for place, _, names in os.walk(folder):
        for name in names:
            flush(Path(place, name))
        flush(Path(place))
