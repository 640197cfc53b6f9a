"""The sums of a round on a cluster: the work of a partition, and the addition of partitions' sums.

Blocks and partitions are added in order, so recomputing a lost partition elsewhere changes no bit
of a sum.

Some sums have too many workers for one process, for example ten million confusion matrices. Then a
partition adds up in its own file, block by block, each with the parameters of the workers that
occur in it (a part has few of all workers, so it renumbers them). The sums of a range of workers
come together in one place, and the driver takes one range after the other.

Values for all executors may be too large for every Python process there. Spark brings a broadcast
into a file on each machine. Arrays stay in that file and are mapped into memory: a process reads
the parameters of the workers it needs, and the pages belong to the machine, not to the process.
"""

from __future__ import annotations

import gc
import math
import mmap
import os
import pickle
import struct
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from pyspark import RDD, Broadcast, SparkContext

from sottovoce.engines.blocks import adder
from sottovoce.engines.spark.packed_blocks import PackedPart, unpacked
from sottovoce.model import Codes, FloatArray, LabelPart, NumberPart, Part
from sottovoce.seams import Step, WorkerStep


def with_own_workers(part: Part) -> tuple[Part, Codes]:
    """The same part with its workers renumbered 0, 1, …, and their numbers among all workers.

    >>> part, own = with_own_workers(LabelPart(0, np.array([0, 2]), np.array([15, 8], "u4"), 2))
    >>> part.coded, own
    (array([3, 0], dtype=uint32), array([4, 7], dtype=int32))
    """
    starts = part.starts - part.starts[0]
    if isinstance(part, NumberPart):
        own, worker = np.unique(part.reporters, return_inverse=True)
        return NumberPart(0, starts, worker.astype(np.int32), part.values), own.astype(np.int32)
    workers, label = np.divmod(part.report.astype(np.int64), part.labels)
    own, worker = np.unique(workers, return_inverse=True)
    coded = worker * part.labels + label
    narrow = len(own) * part.labels <= np.iinfo(np.uint32).max
    coded = coded.astype(np.uint32) if narrow else coded
    return LabelPart(0, starts, coded, part.labels), own.astype(np.int32)


T = TypeVar("T")

_MARK = b"sottovoce arrays"
_AHEAD = 4096
"""The mark is within this many bytes of a file, after pickle's header."""


class Shared(Generic[T]):
    """A value that is broadcast to executors."""

    def __init__(self, broadcast: Broadcast[bytes]) -> None:
        self._broadcast = broadcast

    def opened(self) -> T:
        """The value, on an executor; its arrays are read-only."""
        path = getattr(self._broadcast, "_path", None)
        if path is not None:
            with open(path, "rb") as file:
                content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            start = content.find(_MARK, 0, _AHEAD)
            if start >= 0:
                value: T = shared_value(memoryview(content)[start:])
                return value
        # With encrypted storage there is no such file.
        return shared_value(memoryview(self._broadcast.value))  # type: ignore[no-any-return]

    def forget(self) -> None:
        """Remove it everywhere."""
        self._broadcast.destroy()


class WholeValue(Generic[T]):
    """A value that every process holds whole."""

    def __init__(self, broadcast: Broadcast[T]) -> None:
        self._broadcast = broadcast

    def __call__(self) -> T:
        return self._broadcast.value


def array_bytes(value: object) -> int:
    """The size of the arrays of a value."""
    buffers: list[pickle.PickleBuffer] = []
    pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    return sum(buffer.raw().nbytes for buffer in buffers)


def share(context: SparkContext, value: T) -> Shared[T]:
    """Send a value to all executors."""
    return Shared(context.broadcast(packed(value)))


def packed(value: object) -> bytes:
    """A value followed by its arrays, each contiguous."""
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    raws = [buffer.raw() for buffer in buffers]
    sizes = [len(head), *map(len, raws)]
    return b"".join([_MARK, struct.pack(f"<Q{len(sizes)}Q", len(sizes), *sizes), head, *raws])


def shared_value(content: memoryview) -> Any:
    """The value; its arrays are views of `content`."""
    (count,) = struct.unpack_from("<Q", content, len(_MARK))
    sizes = struct.unpack_from(f"<{count}Q", content, len(_MARK) + 8)
    pieces, start = [], len(_MARK) + 8 * (count + 1)
    for size in sizes:
        pieces.append(content[start : start + size])
        start += size
    head, *buffers = pieces
    return pickle.loads(head, buffers=buffers)  # noqa: S301 - written by `packed`, on this cluster


FAN = 8
"""The number of sums that are added up in one place before they go on."""
MOST_COLLECTED = 1 << 26
"""Bytes of partitions' sums that the driver adds up by itself."""

Numbered = tuple[int, FloatArray]
"""A sum and its position among others."""


@dataclass(frozen=True, slots=True)
class PartitionSums:
    """Adds a step up over the blocks of a partition."""

    step: Broadcast[Step]
    use_kernels: bool

    def sums(self, index: int, rows: Iterable[tuple[Any, ...]]) -> Iterator[Numbered]:
        step = self.step.value
        add = adder(step, use_kernels=self.use_kernels)
        sums = np.zeros(step.shape)
        for row in rows:
            add(unpacked(PackedPart(*row)), sums)
        spare_garbage(type(step))
        yield index, sums


@cache
def spare_garbage(step: type) -> None:
    """Exclude everything loaded so far from garbage collection: done once for a kind of step.

    Spark collects garbage in the Python process after each task, and the compiler's objects alone
    take longer to search than a round.
    """
    gc.collect()
    gc.freeze()


def added_up(sums: RDD[Numbered], partitions: int, size: int) -> FloatArray:
    """The sum of all partitions' sums, each of `size` bytes; a tree if there are too many."""
    while partitions > FAN and partitions * size > MOST_COLLECTED:
        groups = -(-partitions // FAN)
        grouped = sums.map(_in_group).partitionBy(groups, _itself)
        sums, partitions = grouped.mapPartitionsWithIndex(_merged), groups
    return _in_order(sums.collect())


def _in_group(numbered: Numbered) -> tuple[int, Numbered]:
    return numbered[0] // FAN, numbered


def _itself(number: int) -> int:
    return number


def _merged(group: int, sums: Iterable[tuple[int, Numbered]]) -> Iterator[Numbered]:
    yield group, _in_order(numbered for _, numbered in sums)


def _in_order(sums: Iterable[Numbered]) -> FloatArray:
    first, *others = (each for _, each in sorted(sums, key=lambda numbered: numbered[0]))
    total = np.array(first)
    for each in others:
        total += each
    return total


RANGE = 1 << 25
"""The approximate bytes of a range of workers."""


class Piece(NamedTuple):
    """A partition's sums for some workers of a range; of `rest`, the numbers for all together."""

    partition: int
    workers: Codes
    sums: FloatArray


class Cut(NamedTuple):
    """How a sum is cut: `each` numbers per worker, `rest` for all, workers in ranges."""

    workers: int
    each: int
    rest: int
    range: int

    @classmethod
    def of(cls, size: int, workers: int, most: int) -> Cut:
        """The cut of a sum of `size` numbers."""
        each, rest = divmod(size, workers)
        return cls(workers, each, rest, max(1, most // (8 * max(each, 1))))

    @property
    def ranges(self) -> int:
        """The number of ranges; the numbers for all workers together come after them."""
        return -(-self.workers // self.range)


def wide_total(
    parts: RDD[tuple[Any, ...]], step: WorkerStep, workers: int, *, use_kernels: bool
) -> FloatArray:
    """The step's values added up over all reports."""
    cut = Cut.of(math.prod(step.shape), workers, RANGE)
    shared = share(parts.context, step)
    pieces = parts.mapPartitionsWithIndex(PartitionPieces(shared, cut, use_kernels).pieces)
    ranges = pieces.partitionBy(cut.ranges + 1, _itself).mapPartitionsWithIndex(
        AddedRange(cut).sums
    )
    total = np.zeros(math.prod(step.shape))
    for number, sums in ranges.toLocalIterator(prefetchPartitions=True):
        start = number * cut.range * cut.each if number < cut.ranges else cut.workers * cut.each
        total[start : start + sums.size] = sums.reshape(-1)
    shared.forget()
    return total.reshape(step.shape)


@dataclass(frozen=True, slots=True)
class PartitionPieces:
    """Adds a step up over the blocks of a partition, and cuts the sums by workers."""

    step: Shared[WorkerStep]
    cut: Cut
    use_kernels: bool

    def pieces(self, index: int, rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[int, Piece]]:
        step, cut = self.step.opened(), self.cut
        seen, rest = np.zeros(cut.workers, np.bool_), np.zeros(cut.rest)
        with tempfile.TemporaryFile(dir=_scratch()) as file:
            file.truncate(max(1, cut.workers * cut.each) * 8)
            sums = np.memmap(file, np.float64, "r+", shape=(cut.workers, cut.each))
            for row in rows:
                part, own = with_own_workers(unpacked(PackedPart(*row)))
                narrow = step.among(own, cut.workers)
                added = np.zeros(narrow.shape)
                adder(narrow, use_kernels=self.use_kernels)(part, added)
                flat = added.reshape(-1)
                sums[own] += flat[: len(own) * cut.each].reshape(len(own), cut.each)
                rest += flat[len(own) * cut.each :]
                seen[own] = True
            spare_garbage(type(step))
            for number in range(cut.ranges):
                first = number * cut.range
                here = np.flatnonzero(seen[first : first + cut.range]) + first
                if len(here):
                    yield number, Piece(index, here.astype(np.int32), np.array(sums[here]))
        yield cut.ranges, Piece(index, np.empty(0, np.int32), rest)


@dataclass(frozen=True, slots=True)
class AddedRange:
    """Adds the pieces of a range up, in the order of their partitions."""

    cut: Cut

    def sums(
        self, number: int, pieces: Iterable[tuple[int, Piece]]
    ) -> Iterator[tuple[int, FloatArray]]:
        ordered = sorted((piece for _, piece in pieces), key=lambda piece: piece.partition)
        if number == self.cut.ranges:
            rest = np.zeros(self.cut.rest)
            for piece in ordered:
                rest += piece.sums
            yield number, rest
            return
        first = number * self.cut.range
        count = min(self.cut.range, self.cut.workers - first)
        sums = np.zeros((count, self.cut.each))
        for piece in ordered:
            sums[piece.workers - first] += piece.sums
        yield number, sums


def _scratch() -> str | None:
    """Spark's folder for data that does not fit into memory."""
    folders = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")
    return next((folder for folder in folders if os.path.isdir(folder)), None)
