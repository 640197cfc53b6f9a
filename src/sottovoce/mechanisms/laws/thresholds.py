"""Public thresholds: one for every cell, derived from names, and windows that narrow them down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.mechanisms.checking import check_integer
from sottovoce.model import Cells, Codes, FloatArray, Names

__all__ = ["Windows", "posterior_windows", "thresholds_of"]

BLOCK = 1 << 22
"""How many entries of the posterior are held at once."""


@dataclass(frozen=True, slots=True)
class Windows:
    """For some tasks, the thresholds that are asked about: (task, first, last), sorted by task.

    Tasks without one are asked about all thresholds 1, …, steps.

    >>> Windows.of({"t2": (3, 5), "t1": (1, 2)}, 9).entries
    (('t1', 1, 2), ('t2', 3, 5))
    """

    entries: tuple[tuple[str, int, int], ...] = ()

    @classmethod
    def of(cls, windows: Any, steps: int) -> Self:
        """Windows from a mapping of tasks to (first, last), with 1 ≤ first ≤ last ≤ steps."""
        if not isinstance(windows, Mapping):
            raise UsageError("windows must map tasks to their first and last threshold")
        entries = []
        for task, window in windows.items():
            if not isinstance(window, list | tuple) or len(window) != 2:
                raise UsageError(
                    f"the window of task {task!r} must be a first and a last threshold"
                )
            first, last = window
            check_integer(f"the last threshold of task {task!r}", last, 1, steps)
            check_integer(f"the first threshold of task {task!r}", first, 1, last)
            entries.append((str(task), first, last))
        return cls(tuple(sorted(entries)))

    def __bool__(self) -> bool:
        return bool(self.entries)

    def as_json(self) -> dict[str, list[int]]:
        """The mapping again."""
        return {task: [first, last] for task, first, last in self.entries}

    def bounds(self, tasks: Names, steps: int) -> tuple[npt.NDArray[np.int64], ...]:
        """First and last threshold of every task of a vocabulary."""
        known = {task: (first, last) for task, first, last in self.entries}
        pairs = [known.get(str(task), (1, steps)) for task in tasks.tolist()]
        first, last = np.array(pairs, np.int64).reshape(-1, 2).T
        return first, last


def thresholds_of(cells: Cells, salt: str, windows: Windows, steps: int) -> Codes:
    """The threshold of each cell, in its task's window.

        x = the first 6 bytes of SHA-256(‖salt‖ ‖worker‖ ‖task‖) as a big-endian integer,
        threshold = first + ⌊x (last - first + 1) / 2⁴⁸⌋

    where ‖text‖ is the length of the text's UTF-8 bytes, as a 4-byte big-endian integer, and then
    the bytes. A name that is a number is the text of its digits. Each threshold of a window of n
    has the chance 1/n up to 2⁻⁴⁸.
    """
    lead = _framed(salt)
    workers = [lead + _framed(str(name)) for name in cells.workers.tolist()]
    tasks = [_framed(str(name)) for name in cells.tasks.tolist()]
    rows = zip(cells.worker.tolist(), cells.task.tolist(), strict=True)
    digests = b"".join([sha256(workers[w] + tasks[t]).digest()[:8] for w, t in rows])
    drawn = np.frombuffer(digests, ">u8").astype(np.uint64) >> np.uint64(16)
    first, last = windows.bounds(cells.tasks, steps)
    # 48 bits times at most 2¹⁶ thresholds: the product fits a word.
    width = (last - first + 1)[cells.task].astype(np.uint64)
    shift = (drawn * width >> np.uint64(48)).astype(np.int64)
    return (first[cells.task] + shift).astype(np.int32)


def _framed(text: str) -> bytes:
    data = text.encode("utf-8")
    return len(data).to_bytes(4, "big") + data


def posterior_windows(
    cells: Cells, thresholds: Codes, gains: FloatArray, steps: int, mass: float, margin: int
) -> Windows:
    """The thresholds around the middle `mass` of each task's posterior, and `margin` more.

    `gains` has ln P(report | not below) - ln P(report | below) for each row. With the points as
    answers that all workers share, and each as likely before,

        ln P(point t | reports of a task) = Σ over its rows with threshold ≤ t of gains + constant.
    """
    order = np.argsort(cells.task, kind="stable")
    starts = np.searchsorted(cells.task[order], np.arange(len(cells.tasks) + 1))
    size = max(BLOCK // (steps + 1), 1)
    entries: list[tuple[str, int, int]] = []
    for begin in range(0, len(cells.tasks), size):
        end = min(begin + size, len(cells.tasks))
        rows = order[starts[begin] : starts[end]]
        place = (cells.task[rows].astype(np.int64) - begin) * (steps + 1) + thresholds[rows]
        sums = np.bincount(place, gains[rows], (end - begin) * (steps + 1)).astype(np.float64)
        first, last = _middle(sums.reshape(-1, steps + 1), mass)
        low, high = np.maximum(first + 1 - margin, 1), np.minimum(last + margin, steps)
        names = map(str, cells.tasks[begin:end].tolist())
        entries += zip(names, low.tolist(), high.tolist(), strict=True)
    return Windows(tuple(sorted(entries)))


def _middle(sums: FloatArray, mass: float) -> tuple[npt.NDArray[np.int64], ...]:
    """The points between which the middle `mass` of each row's posterior lies."""
    logs = np.cumsum(sums, axis=1)
    chances = np.exp(logs - logs.max(axis=1, keepdims=True))
    upto = np.cumsum(chances, axis=1)
    tail = upto[:, -1:] * ((1 - mass) / 2)
    return np.sum(upto <= tail, axis=1), np.sum(upto < upto[:, -1:] - tail, axis=1)
