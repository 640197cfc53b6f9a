"""How the tasks are cut into blocks: by the data alone, so that sums do not depend on the machine.

A sum is made per block from zero, and the blocks are added in their order. Whoever makes a block's
sum, and when, changes nothing: one thread, many threads or a cluster give the same bits.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from sottovoce.model import StartsArray

__all__ = ["MOST_BLOCKS", "block_count", "cut"]

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
