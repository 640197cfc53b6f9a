"""The sums of a round: what a partition runs, and how partitions' sums come together.

Blocks are added in their order and partitions in theirs, so that a partition that is lost and made
again elsewhere changes no bit of a sum.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.engines.adding import adder
from sottovoce.engines.spark.blocks import PackedPart, unpacked
from sottovoce.model import FloatArray
from sottovoce.seams import Step

if TYPE_CHECKING:
    from pyspark import RDD, Broadcast

__all__ = ["PartitionSums", "added_up", "spare_garbage"]

FAN = 8
"""So many sums are added up in one place before they go on."""
MOST_COLLECTED = 1 << 26
"""Bytes of partitions' sums that the driver adds up by itself."""

Numbered = tuple[int, FloatArray]
"""A sum and its place among others."""


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
    """Have what is loaded by now no longer searched for garbage: done once for a kind of step.

    Spark searches all of a Python process after each task, and there the compiler's objects alone
    take longer than a round.
    """
    gc.collect()
    gc.freeze()


def added_up(sums: RDD[Numbered], partitions: int, size: int) -> FloatArray:
    """The sum of all partitions' sums, each of `size` bytes; a tree where those are too many."""
    while partitions > FAN and partitions * size > MOST_COLLECTED:
        groups = -(-partitions // FAN)
        grouped = sums.map(_in_group).partitionBy(groups, _itself)
        sums, partitions = grouped.mapPartitionsWithIndex(_merged), groups
    return _in_order(sums.collect())


def _in_group(numbered: Numbered) -> tuple[int, Numbered]:
    return numbered[0] // FAN, numbered


def _itself(group: int) -> int:
    return group


def _merged(group: int, sums: Iterable[tuple[int, Numbered]]) -> Iterator[Numbered]:
    yield group, _in_order(numbered for _, numbered in sums)


def _in_order(sums: Iterable[Numbered]) -> FloatArray:
    first, *others = (each for _, each in sorted(sums, key=lambda numbered: numbered[0]))
    total = np.array(first)
    for each in others:
        total += each
    return total
