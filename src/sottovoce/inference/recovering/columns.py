"""Whose labels are in the sums: columns made of vectors of zeros and ones, that explain the counts.

A column is one worker: for each label the tasks that it gave it to. These do not meet, and what
they add up to, two or all of them, is again a vector of zeros and ones in the span.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TypeAlias

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from sottovoce.inference.recovering.binary_vectors import Bits
from sottovoce.inference.recovering.modular import Integers

__all__ = ["Column", "candidates", "distinct", "explaining"]

MOST_CANDIDATES = 20_000
SECONDS = 20.0
"""For the search of columns that explain the counts; it takes far less unless labels are odd."""

Column: TypeAlias = tuple[Bits, ...]
"""For each label, the tasks that it was given to."""


def candidates(vectors: Bits, counts: Integers, assigned: Bits | None) -> list[Column]:
    """Every column that could be a worker's; where tasks are known, of these tasks only.

    No label can have been given to a task more often than it is counted there.
    """
    none = np.zeros((1, vectors.shape[1]), np.bool_)
    parts = np.concatenate([none, vectors])
    there = {part.tobytes() for part in parts}
    grown: list[tuple[Bits, Column]] = [(none[0], ())]
    for count in counts.T:
        allowed = parts[(parts <= count).all(axis=1)]
        grown = [
            (total | part, (*column, part))
            for total, column in grown
            for part in allowed[~(allowed & total).any(axis=1)]
            if (total | part).tobytes() in there
        ]
        if len(grown) > MOST_CANDIDATES:
            return []
    if assigned is not None:
        known = {tasks.tobytes() for tasks in assigned}
        grown = [(total, column) for total, column in grown if total.tobytes() in known]
    return [column for _, column in grown]


def explaining(columns: Sequence[Column], counts: Integers, workers: int) -> list[Column] | None:
    """As many columns as workers that add up to the counts of every label, or None.

    Σ_c n_c [z_cl]_i = counts[i, l],   Σ_c n_c = workers,   n_c = 0, 1, 2, …
    """
    if not columns:
        return None
    sums = np.array([np.concatenate(column) for column in columns]).T.astype(np.float64)
    lines = np.concatenate([sums, np.ones((1, len(columns)))])
    wanted = np.append(counts.T.reshape(-1), workers).astype(np.float64)
    # Many tasks say the same of the columns: each line once.
    lines, wanted = np.hsplit(np.unique(np.column_stack([lines, wanted]), axis=0), [-1])
    solved = milp(
        np.zeros(len(columns)),
        integrality=np.ones(len(columns), np.int64),
        bounds=Bounds(0, workers),
        constraints=LinearConstraint(lines, wanted[:, 0], wanted[:, 0]),
        options={"time_limit": SECONDS},
    )
    if solved.x is None:
        return None
    times = np.rint(solved.x).astype(np.int64)
    return [column for column, n in zip(columns, times, strict=True) for _ in range(n)]


def distinct(
    columns: Sequence[Column], counts: Integers, room: Mapping[bytes, int]
) -> list[Column]:
    """Columns with at least two labels, each once: which part has which label is what most say.

    This is what is left where counts are not explained: some columns may be there all the same.
    `room` says how many workers can have had the same tasks: where there are more columns of these,
    none of them is believed.
    """
    told = [column for column in columns if sum(part.any() for part in column) >= 2]
    ordered = sorted(told, key=lambda column: (_parts(column), -_agreement(column, counts)))
    once = [next(same) for _, same in groupby(ordered, key=_parts)]
    there = Counter(_tasks(column) for column in once)
    return [column for column in once if there[_tasks(column)] <= room.get(_tasks(column), 0)]


def _tasks(column: Column) -> bytes:
    return bytes(np.any(column, axis=0).tobytes())


def _parts(column: Column) -> tuple[bytes, ...]:
    return tuple(sorted(part.tobytes() for part in column))


def _agreement(column: Column, counts: Integers) -> int:
    return int(sum(count[part].sum() for part, count in zip(column, counts.T, strict=True)))
