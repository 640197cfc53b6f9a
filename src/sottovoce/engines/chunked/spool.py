"""Coded rows on a disk, in buckets of whole tasks chosen by a hash of the task's name.

Rows come in chunks. A chunk is sorted by bucket in memory and appended to one file per column, so
that the disk is written sequentially. A bucket is read back piece by piece, with its rows in their
original order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from sottovoce.engines.chunked.name_index import Keys, Texts, gathered, joined, text_hashes
from sottovoce.errors import DataError
from sottovoce.inference.steps.arithmetic import compiled
from sottovoce.model import Codes

BUCKET = 1 << 21
"""The intended number of rows in a bucket, whose arrays are tens of megabytes."""
CHUNK = 1 << 20
"""The number of rows that are sorted at once."""


class Rows(NamedTuple):
    """Rows with coded workers and answers, and with task names.

    `row` is each row's place in the source, if it may be asked for.
    """

    task: Keys
    worker: Codes
    value: npt.NDArray[Any]
    row: npt.NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.worker)


def bucket_count(rows: int, bucket: int = BUCKET) -> int:
    """The number of buckets for a number of rows: a power of two, by the data alone.

    >>> bucket_count(1000), bucket_count(300_000_000)
    (1, 256)
    """
    return 1 << max(0, -(-rows // bucket) - 1).bit_length()


class Spool:
    """Rows that are written in any number of chunks and read back one bucket at a time."""

    def __init__(self, folder: Path, buckets: int, *, chunk: int = CHUNK) -> None:
        self._folder, self._buckets, self._chunk = folder, buckets, chunk
        self._waiting: list[Rows] = []
        self._files: dict[str, BinaryIO] = {}
        self._kinds: dict[str, np.dtype[Any]] = {}
        self._rows, self._bytes = list[npt.NDArray[np.int64]](), list[npt.NDArray[np.int64]]()

    def __enter__(self) -> Self:
        self._folder.mkdir()
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            file.close()
        for name in self._files:
            (self._folder / name).unlink()
        self._folder.rmdir()

    def add(self, rows: Rows) -> None:
        """Add some rows; they must not change afterwards."""
        if not len(rows):
            return
        self._waiting.append(rows)
        if sum(map(len, self._waiting)) >= self._chunk:
            self._flush()

    def buckets(self) -> Iterator[Rows]:
        """The rows of each nonempty bucket; no rows can be added after this."""
        if self._waiting:
            self._flush()
        for file in self._files.values():
            file.flush()
        rows = np.array(self._rows).reshape(-1, self._buckets)
        text = np.array(self._bytes).reshape(-1, self._buckets)
        for bucket in np.flatnonzero(rows.sum(axis=0)).tolist():
            yield self._read(_Pieces.of(rows, bucket), _Pieces.of(text, bucket))

    def _flush(self) -> None:
        rows, self._waiting = _together(self._waiting), []
        order, counts = _order(rows.task, self._buckets)
        self._rows.append(counts)
        self._write("worker", rows.worker[order])
        self._write("value", rows.value[order])
        if rows.row is not None:
            self._write("row", rows.row[order])
        if isinstance(rows.task, Texts):
            task = gathered(rows.task, order)
            self._bytes.append(np.diff(task.ends[np.concatenate([[0], np.cumsum(counts)])]))
            self._write("length", np.diff(task.ends).astype(np.uint16))
            self._write("name", task.data)
        else:
            self._write("task", rows.task[order])

    def _write(self, name: str, array: npt.NDArray[Any]) -> None:
        if name not in self._files:
            self._files[name] = (self._folder / name).open("xb")
            self._kinds[name] = array.dtype
        self._files[name].write(np.ascontiguousarray(array).data.cast("B"))

    def _read(self, rows: _Pieces, text: _Pieces) -> Rows:
        columns = {
            name: self._column(name, text if name == "name" else rows) for name in self._files
        }
        if "task" in columns:
            task: Keys = columns["task"]
        else:
            ends = np.concatenate([[0], np.cumsum(columns["length"], dtype=np.int64)])
            task = Texts(ends, columns["name"])
        return Rows(task, columns["worker"], columns["value"], columns.get("row"))

    def _column(self, name: str, pieces: _Pieces) -> npt.NDArray[Any]:
        array = np.empty(int(pieces.counts.sum()), self._kinds[name])
        view, done = array.data.cast("B"), 0
        with (self._folder / name).open("rb", buffering=0) as file:
            for start, count in zip(pieces.starts.tolist(), pieces.counts.tolist(), strict=True):
                size = count * array.itemsize
                file.seek(start * array.itemsize)
                if file.readinto(view[done : done + size]) != size:
                    raise DataError(
                        ("a temporary file of the sorting was cut short"), file=str(self._folder)
                    )
                done += size
        return array


class _Pieces(NamedTuple):
    """The positions and lengths of a bucket's pieces in a file."""

    starts: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]

    @classmethod
    def of(cls, counts: npt.NDArray[np.int64], bucket: int) -> Self:
        before = np.cumsum(counts.ravel()).reshape(counts.shape) - counts
        return cls(before[:, bucket], counts[:, bucket])


def _together(parts: list[Rows]) -> Rows:
    if len(parts) == 1:
        return parts[0]
    worker, value, row = (
        None if part[0] is None else np.concatenate(part)
        for part in zip(*(rows[1:] for rows in parts), strict=True)
    )
    assert worker is not None and value is not None  # noqa: S101, PT018 - only `row` may be None
    return Rows(_joined([rows.task for rows in parts]), worker, value, row)


def _joined(parts: list[Keys]) -> Keys:
    texts = [part for part in parts if isinstance(part, Texts)]
    if texts:
        return joined(texts)
    return np.concatenate([part for part in parts if not isinstance(part, Texts)])


def _order(keys: Keys, buckets: int) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
    """The order of the rows by bucket, and the number of rows in each bucket."""
    rows = len(keys.ends) - 1 if isinstance(keys, Texts) else len(keys)
    if buckets == 1:
        return np.arange(rows, dtype=np.uint32), np.array([rows])
    hashes = text_hashes(keys) if isinstance(keys, Texts) else keys.view(np.uint64)
    order, counts = np.empty(rows, np.uint32), np.zeros(buckets, np.int64)
    _partition()(hashes, buckets.bit_length() - 1, counts, order)
    return order, counts


@cache
def _partition() -> Callable[..., None]:
    @compiled
    def run(hashes, bits, counts, order):  # type: ignore[no-untyped-def]
        shift = np.uint64(64 - bits)
        bucket = np.empty(len(hashes), np.uint32)
        for i in range(len(hashes)):
            mixed = hashes[i]
            mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            bucket[i] = (mixed ^ (mixed >> np.uint64(31))) >> shift
            counts[bucket[i]] += 1
        following = np.cumsum(counts) - counts
        for i in range(len(hashes)):
            order[following[bucket[i]]] = i
            following[bucket[i]] += 1

    return run
