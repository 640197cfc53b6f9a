"""Short vectors of an integer lattice, by reducing a basis of it.

Lenstra, Lenstra & Lovász 1982, with projections in floats as in Schnorr & Euchner 1994.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from sottovoce.inference.recovering.modular import Integers
from sottovoce.inference.steps.arithmetic import compiled
from sottovoce.model import FloatArray

__all__ = ["reduced"]

DELTA = 0.99
"""How far a vector may be shorter than the one before it: near 1 is best, and slowest."""

NEARLY_HALF = 0.501
"""A row is shortened by another where its projection is more than half, and not by rounding."""

MOST_STEPS = 400
"""Steps for each pair of vectors; a tenth is usual. A reduction that is stopped is a worse one."""


def reduced(basis: Integers) -> Integers:
    """A basis (rows) of the same lattice, short and nearly orthogonal, the shortest about first.

    Entries are below 2^31 in size. Projections are floats, renewed from the integers at each step;
    the vectors stay exact.

    >>> reduced(np.array([[1, 0, 331], [0, 1, 300], [0, 0, 1000]])).tolist()
    [[-3, 0, 7], [0, -10, 0], [-13, 1, -3]]
    """
    rows = basis.copy()
    count = len(rows)
    mu, lengths = np.zeros((count, count)), np.zeros((count, count))
    settle, k = _kernel(), 1
    settle(rows, mu, lengths, 0)
    for _ in range(MOST_STEPS * count**2):
        if k >= count:
            break
        settle(rows, mu, lengths, k)
        if lengths[k, k] >= (DELTA - mu[k, k - 1] ** 2) * lengths[k - 1, k - 1]:
            k += 1
            continue
        rows[[k - 1, k]] = rows[[k, k - 1]]
        if k == 1:
            settle(rows, mu, lengths, 0)
        k = max(k - 1, 1)
    return rows


@cache
def _kernel() -> Callable[[Integers, FloatArray, FloatArray, int], None]:
    """Make row k as short as the rows before it can, and renew its projections on them.

        lengths[k, j] = ⟨row k, row* j⟩,   mu[k, j] = lengths[k, j] / |row* j|²

    where row* is what is left of a row when all before it are projected out.
    """

    @compiled
    def run(rows, mu, lengths, k):  # type: ignore[no-untyped-def]
        for _ in range(100):
            for j in range(k + 1):
                total = 0.0
                for c in range(rows.shape[1]):
                    total += float(rows[k, c]) * float(rows[j, c])
                for i in range(j):
                    total -= mu[j, i] * lengths[k, i]
                lengths[k, j] = total
                mu[k, j] = total / lengths[j, j] if j < k else 1.0
            changed = False
            for j in range(k - 1, -1, -1):
                times = np.rint(mu[k, j])
                if abs(mu[k, j]) > NEARLY_HALF:
                    changed = True
                    for c in range(rows.shape[1]):
                        rows[k, c] -= np.int64(times) * rows[j, c]
                    for i in range(j + 1):
                        mu[k, i] -= times * mu[j, i]
            if not changed:
                break

    return run
