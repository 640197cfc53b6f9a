"""The sums of a run in a folder, kept as they are made: an interrupted run goes on from them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.errors import DataError, UsageError
from sottovoce.files.atomic_output import durable_file, remove_unfinished
from sottovoce.files.locks import folder_lock
from sottovoce.model import FloatArray

_RUN = "run.json"


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
        with _file_errors(self._folder):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            remove_unfinished(self._folder)
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
        with _file_errors(self._folder):
            self._forget(number)
            body = np.ascontiguousarray(sums, "<f8")
            with durable_file(self._path(number)) as file:
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
            with durable_file(run) as file:
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


def checkpoint_lock(folder: str | os.PathLike[str]) -> AbstractContextManager[str]:
    """The folder of a checkpoint, made if there is none, held against other processes."""
    return folder_lock(
        folder, lambda place: UsageError(f"another run goes on from {place}: wait for its end")
    )


def identity_of(parts: Mapping[str, Any]) -> str:
    """A digest of what a run depends on."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


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
def _file_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataError(f"sums cannot be kept here: {error.strerror}", file=str(folder)) from None
