"""What simulated crowds have in common: blocks of answers that become tables and files.

Simulation only. A crowd is a frozen set of parameters with a seed. What it draws comes in blocks of
whole tasks, and block i depends on the parameters and i alone, so that a table in memory and a file
written block by block hold the same rows in the same order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.model import Codes, Domain, FloatArray

__all__ = [
    "ANSWERS_PER_BLOCK",
    "Block",
    "Crowd",
    "block_tasks",
    "check_between",
    "check_sizes",
    "randomness",
]

ANSWERS_PER_BLOCK = 1 << 20
"""About how many answers a block holds: 12 to 16 MB of them, whatever the size of the whole."""

_WORKERS, _BLOCKS = 0, 1  # the first part of a stream's key


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """All answers to the tasks first, first + 1, … first + len(truth) − 1, and their truths.

    Workers and tasks are numbers from 0; values are label codes or floats.
    """

    first: int
    worker: Codes
    task: Codes
    value: Codes | FloatArray
    truth: npt.NDArray[Any]


class Crowd(Protocol):
    """Parameters and a seed: `blocks` yields the same answers every time it is called."""

    @property
    def workers(self) -> int:
        """How many workers there are, answering or not."""
        ...

    @property
    def tasks(self) -> int:
        """How many tasks there are, answered or not."""
        ...

    @property
    def domain(self) -> Domain:
        """What an answer may be."""
        ...

    def blocks(self) -> Iterator[Block]:
        """Every task's answers and truth, in task order."""
        ...


def block_tasks(tasks: int, answers_per_task: float) -> Iterator[range]:
    """Cut the tasks into ranges of about `ANSWERS_PER_BLOCK` answers, of one task at least."""
    step = max(1, math.floor(ANSWERS_PER_BLOCK / max(answers_per_task, 1)))
    for first in range(0, tasks, step):
        yield range(first, min(first + step, tasks))


def randomness(seed: int, block: int | None = None) -> np.random.Generator:
    """Open the stream that draws a block, or the workers when no block is named."""
    key = (_WORKERS, 0) if block is None else (_BLOCKS, block)
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def check_sizes(workers: int, tasks: int, seed: int) -> None:
    """Raise unless there is a worker, a task, a code for each, and a seed NumPy takes."""
    for name, size in (("workers", workers), ("tasks", tasks)):
        if not 1 <= size <= np.iinfo(np.int32).max:
            raise UsageError(f"{name} must be from 1 to 2^31 - 1, not {size:,}")
    if seed < 0:
        raise UsageError(f"a seed is 0 or more, not {seed}")


def check_between(name: str, value: float, low: float, high: float) -> None:
    """Raise unless low ≤ value ≤ high."""
    if not low <= value <= high:
        raise UsageError(f"{name} must be from {low:g} to {high:g}, not {value:g}")
