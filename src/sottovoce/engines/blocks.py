"""Blocks of tasks: cut by the data alone, so that sums do not depend on the machine.

Each block's sum starts from zero, and the block sums are added in order. The result is the same to
the bit on one thread, on many threads or on a cluster. A step's value is computed by its compiled
version where there is one and it is faster.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

import numpy as np

from sottovoce.model import FloatArray, Part, StartsArray
from sottovoce.seams import Kernel, Step


def adder(step: Step, *, use_kernels: bool) -> Kernel:
    """Adds the step's value for a part to an array."""
    kernel = step.kernel() if use_kernels else None
    if kernel is not None:
        return kernel

    def add(part: Part, out: FloatArray) -> None:
        out += step(part)

    return add


MOST_BLOCKS = 64
_ANSWERS_PER_BLOCK = 16_384
_ANSWERS_PER_SUM = 8


def block_count(answers: int, size: int) -> int:
    """The number of blocks for `answers` reports when a sum has `size` numbers.

    At most 64, and few enough that adding the blocks up is cheap compared with computing them: a
    block has at least 16,384 reports, and at least eight for every number of the sum.
    """
    return max(1, min(MOST_BLOCKS, answers // max(_ANSWERS_PER_BLOCK, _ANSWERS_PER_SUM * size)))


def cut(starts: StartsArray, blocks: int) -> list[tuple[int, int]]:
    """The blocks as ranges of whole tasks, each with about the same number of reports."""
    tasks = len(starts) - 1
    targets = np.linspace(0, starts[-1], blocks + 1)[1:-1]
    edges = [0, *np.searchsorted(starts, targets).tolist(), tasks]
    return [(a, b) for a, b in pairwise(edges) if a < b]


B = TypeVar("B")
R = TypeVar("R")


def in_order(work: Callable[[B], R], blocks: Iterable[B], threads: int) -> Iterator[R]:
    """Each block's result, in order, with at most one block in progress per thread."""
    if threads == 1:
        yield from map(work, blocks)
        return
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[R]] = deque()
        for block in blocks:
            if len(waiting) == threads:
                yield waiting.popleft().result()
            waiting.append(pool.submit(work, block))
        while waiting:
            yield waiting.popleft().result()
