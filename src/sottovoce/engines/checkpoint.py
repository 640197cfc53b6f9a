"""Checkpoints: the sums of a run in a folder, from which an interrupted run resumes."""

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
    """One file for each sum, written atomically, and one that identifies the run.

    `identity` covers everything the sums depend on: the table, the method, its parameters. A folder
    with another identity is refused. If a sum is missing or damaged, it and all later ones are
    computed again.

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
        """The sum of that number; None if it is still to be computed."""
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
        """Remove this sum and all later ones."""
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
                f"{self._folder} is the checkpoint of another run (a different table, method or "
                "parameter): name another folder"
            )


def checkpoint_lock(folder: str | os.PathLike[str]) -> AbstractContextManager[str]:
    """The folder of a checkpoint, created if missing, and locked against other processes."""
    return folder_lock(
        folder,
        lambda place: UsageError(f"another run uses the checkpoint {place}: wait until it ends"),
    )


def identity_of(parts: Mapping[str, Any]) -> str:
    """A digest of everything a run depends on."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def _head(body: FloatArray) -> bytes:
    digest = hashlib.sha256(body.data.cast("B")).hexdigest()
    return json.dumps({"shape": body.shape, "digest": digest}).encode()


def _array(head: bytes, body: bytes) -> FloatArray | None:
    """The sum in a file; None if the file is damaged."""
    try:
        shape = tuple(map(int, json.loads(head)["shape"]))
        array = np.frombuffer(body, "<f8").reshape(shape)
        return array.copy() if _head(array) == head else None  # writable, like a new sum
    except (ValueError, KeyError, TypeError):
        return None


@contextmanager
def _file_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataError(
            (f"cannot write the checkpoint: {error.strerror}"), file=str(folder)
        ) from None
