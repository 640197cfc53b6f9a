"""How the tasks are cut into blocks: by the data alone, so that sums do not depend on the machine.

A sum is made per block from zero, and the blocks are added in their order. Whoever makes a block's
sum, and when, changes nothing: one thread, many threads or a cluster give the same bits. A step's
value is added up by its compiled twin where there is one and it pays.
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
    """How many blocks to cut `answers` reports into when a sum has `size` numbers.

    At most 64, and few enough that adding up blocks stays small beside making them: a block has
    at least 16,384 reports and eight for every number of the sum.
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
    """Each block's outcome, in order, with at most one block per thread under way."""
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
