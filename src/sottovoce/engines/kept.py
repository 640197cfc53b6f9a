"""The sums of a run in a folder, from which an interrupted run goes on."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.errors import DataError, UsageError
from sottovoce.model import FloatArray
from sottovoce.stores.folder_lock import make_folder
from sottovoce.stores.locking import acquire
from sottovoce.stores.private_files import sync_folder

__all__ = ["KeptSums", "held", "identity_of", "whole_file"]

_RUN = "run.json"
_UNFINISHED = ".unfinished"


class KeptSums:
    """A file for each sum, whole or not there, and one that says which run they belong to.

    `identity` stands for all that the sums depend on: the table, the method, its parameters. A
    folder with another is refused. Where a sum is missing or damaged, those after it count for
    nothing: they are made again.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     KeptSums(folder, "a run").append(0, np.array([1.0, 2.0]))
    ...     KeptSums(folder, "a run").read(0)
    array([1., 2.])
    """

    def __init__(self, folder: str | os.PathLike[str], identity: str) -> None:
        self._folder = Path(folder)
        with _saying(self._folder):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            for left in self._folder.glob(f"*{_UNFINISHED}"):
                left.unlink(missing_ok=True)
            self._check(identity)

    def read(self, number: int) -> FloatArray | None:
        """The sum of that number; None where it is still to be made."""
        try:
            content = self._path(number).read_bytes()
        except FileNotFoundError:
            return None
        head, _, body = content.partition(b"\n")
        return _array(head, body)

    def append(self, number: int, sums: FloatArray) -> None:
        """Keep the next sum; it is on the disk when this returns."""
        with _saying(self._folder):
            self._forget(number)
            body = np.ascontiguousarray(sums, "<f8")
            with whole_file(self._path(number)) as file:
                file.write(_head(body) + b"\n")
                file.write(body.data.cast("B"))

    def _path(self, number: int) -> Path:
        return self._folder / f"sum-{number:05d}"

    def _forget(self, number: int) -> None:
        """Remove this sum and those after it."""
        while self._path(number).exists():
            self._path(number).unlink()
            number += 1

    def _check(self, identity: str) -> None:
        run = self._folder / _RUN
        if not run.exists():
            self._forget(0)
            with whole_file(run) as file:
                file.write(json.dumps({"version": 1, "run": identity}).encode())
            return
        try:
            found = json.loads(run.read_bytes())
        except ValueError:
            found = None
        if found != {"version": 1, "run": identity}:
            raise UsageError(
                f"{self._folder} keeps the sums of another run (another table, method or "
                "parameter): name another folder"
            )


@contextmanager
def held(folder: str | os.PathLike[str]) -> Iterator[str]:
    """The folder of a checkpoint, made if there is none, held against other processes."""
    place = make_folder(folder)
    file = os.open(place / "lock", os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        try:
            acquire(file)
        except (BlockingIOError, PermissionError):
            raise UsageError(f"another run goes on from {place}: wait for its end") from None
        except OSError as error:
            raise UsageError(f"{place} cannot be locked: {error.strerror}") from None
        yield str(place)
    finally:
        os.close(file)


def identity_of(parts: Mapping[str, Any]) -> str:
    """A digest of what a run depends on."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


@contextmanager
def whole_file(path: Path) -> Iterator[Any]:
    """A file to write to that is at `path`, on the disk, when the block ends well; else nothing."""
    unfinished = path.with_name(path.name + _UNFINISHED)
    with unfinished.open("wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)
    sync_folder(path.parent)


def _head(body: FloatArray) -> bytes:
    digest = hashlib.sha256(body.data.cast("B")).hexdigest()
    return json.dumps({"shape": body.shape, "digest": digest}).encode()


def _array(head: bytes, body: bytes) -> FloatArray | None:
    """The sum in a file; None where it is not what was written."""
    try:
        shape = tuple(map(int, json.loads(head)["shape"]))
        array = np.frombuffer(body, "<f8").reshape(shape)
        return array.copy() if _head(array) == head else None  # writable, as a new sum is
    except (ValueError, KeyError, TypeError):
        return None


@contextmanager
def _saying(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataError(f"sums cannot be kept here: {error.strerror}", file=str(folder)) from None
