"""Sums of so many workers that no process holds them all: ten million confusion matrices, say.

A partition adds up in a file of its own, block by block, each with the parameters of the workers
that occur in it. Then the sums of a range of workers come together in one place, and the driver
takes one range after the other.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sottovoce.engines.adding import adder
from sottovoce.engines.spark.blocks import PackedPart, unpacked
from sottovoce.engines.spark.own_workers import with_own_workers
from sottovoce.engines.spark.sharing import Shared, share
from sottovoce.engines.spark.summing import spare_garbage
from sottovoce.model import Codes, FloatArray
from sottovoce.seams import WorkerStep

if TYPE_CHECKING:
    from pyspark import RDD

__all__ = ["wide_total"]

RANGE = 1 << 25
"""Bytes of a range of workers, about."""


class Piece(NamedTuple):
    """A partition's sums for some workers of a range; of `rest`, what is for all together."""

    partition: int
    workers: Codes
    sums: FloatArray


class Cut(NamedTuple):
    """How a sum is cut: `each` numbers for a worker, `rest` for all, workers in ranges."""

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
        """How many ranges; what is for all together comes after them."""
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


def _itself(number: int) -> int:
    return number


def _scratch() -> str | None:
    """Where Spark keeps what does not fit into memory."""
    folders = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")
    return next((folder for folder in folders if os.path.isdir(folder)), None)
