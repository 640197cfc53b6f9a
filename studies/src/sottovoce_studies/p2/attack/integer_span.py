"""Exact spans of integer vectors, and short vectors of their lattices.

Arithmetic is modulo a prime. A basis of a lattice is reduced after Lenstra, Lenstra & Lovász 1982,
with projections in floats as in Schnorr & Euchner 1994.

A partly opened span is completed from short relations between tasks. Workers' labels make the
tasks' totals linearly dependent: Σ_i u_i z_ji = 0 for all j has sparse solutions u, and these are
by far the shortest integer vectors orthogonal to the opened totals. This is the hidden subset sum
problem (Nguyen & Stern 1999): few rounds are enough when the scale is large.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sottovoce.inference.steps.arithmetic import compiled
from sottovoce.model import FloatArray

Integers: TypeAlias = npt.NDArray[np.int64]

PRIME = (1 << 31) - 1
"""The product of two residues fits 8 bytes. The rank modulo this prime is that over the
integers, unless the prime divides a determinant: a chance of about one in two thousand million."""


DELTA = 0.99
"""The Lovász parameter delta: values near 1 give the best basis and are slowest."""

NEARLY_HALF = 0.501
"""A row is reduced if its projection exceeds one half by more than rounding."""

MOST_STEPS = 400
"""The most steps per pair of vectors; a tenth is usual. A stopped reduction gives a worse basis."""

MOST_TASKS = 160
"""Tasks whose relations are searched at once."""

SPARE = 20
"""Tasks that all groups share in addition to the rank, so that every worker differs in them."""

JUMP = 2.0
"""How much longer than all relations the next vector must be."""


@dataclass(frozen=True, slots=True, eq=False)
class Span:
    """A basis (rank, length) that is the identity at the places `pivots`, modulo the prime."""

    basis: Integers
    pivots: Integers

    @property
    def rank(self) -> int:
        """The dimension of the span."""
        return len(self.pivots)


def span_of(vectors: Integers) -> Span:
    """The span of integer vectors (rows), by the elimination of Gauss and Jordan.

    >>> span_of(np.array([[2, 4, 6], [1, 2, 3], [0, 0, 5]])).pivots.tolist()
    [0, 2]
    """
    left = vectors % PRIME
    pivots: list[int] = []
    for place in range(left.shape[1]):
        rank = len(pivots)
        nonzero = np.flatnonzero(left[rank:, place])
        if not nonzero.size:
            continue
        left[[rank, rank + nonzero[0]]] = left[[rank + nonzero[0], rank]]
        left[rank] = left[rank] * pow(int(left[rank, place]), -1, PRIME) % PRIME
        others = np.flatnonzero(left[:, place])
        others = others[others != rank]
        left[others] = (left[others] - left[others, place, None] * left[rank] % PRIME) % PRIME
        pivots.append(place)
        if len(pivots) == len(left):
            break
    return Span(left[: len(pivots)], np.array(pivots, np.int64))


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
    """Reduce row k by the rows before it, and update its projections on them.

        lengths[k, j] = ⟨row k, row* j⟩,   mu[k, j] = lengths[k, j] / |row* j|²

    where row* is the part of a row orthogonal to all rows before it.
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


def within(span: Span, places: npt.NDArray[np.bool_]) -> Span:
    """The vectors of a span that vanish at all other places.

    >>> within(span_of(np.array([[1, 1, 0], [0, 1, 1]])), np.array([True, False, True])).basis[0, 0]
    np.int64(1)
    """
    inside, outside = np.flatnonzero(places), np.flatnonzero(~places)
    moved = span_of(span.basis[:, np.append(outside, inside)])
    kept = moved.pivots >= len(outside)
    basis = np.zeros((int(kept.sum()), len(places)), np.int64)
    basis[:, inside] = moved.basis[kept, len(outside) :]
    return Span(basis, inside[moved.pivots[kept] - len(outside)])


@dataclass(frozen=True, slots=True, eq=False)
class Completion:
    """A span that contains a given one and is orthogonal to short relations.

    `size` is the largest sum of the entries of a relation, in size. If `clear`, all other vectors
    are clearly longer than the relations, so no relation was left out.
    """

    span: Span
    size: int
    clear: bool


def completed(span: Span, needed: int) -> Completion | None:
    """The completion of a span to the rank `needed`, or a little more; None if it is whole."""
    tasks = span.basis.shape[1]
    if not span.rank < needed < tasks:
        return None
    others = np.setdiff1d(np.arange(tasks), span.pivots)
    shared = min(needed + SPARE, tasks) - span.rank
    base, rest = np.concatenate([span.pivots, others[:shared]]), others[shared:]
    room = max(MOST_TASKS - len(base), 1)
    starts = range(0, max(len(rest), 1), room)
    groups = (np.append(base, rest[start : start + room]) for start in starts)
    found = [_relations(span, group, needed) for group in groups]
    relations = np.concatenate([each for each, _ in found])
    whole = orthogonal(relations)
    size = int(np.abs(relations).sum(axis=1).max(initial=0))
    clear = all(clear for _, clear in found)
    return Completion(whole, size, clear) if whole.rank > span.rank else None


def orthogonal(vectors: Integers) -> Span:
    """A basis of the vectors that are orthogonal to the given ones (rows)."""
    span, length = span_of(vectors), vectors.shape[1]
    free = np.setdiff1d(np.arange(length), span.pivots)
    basis = np.zeros((len(free), length), np.int64)
    basis[np.arange(len(free)), free] = 1
    basis[:, span.pivots] = -span.basis[:, free].T % PRIME
    return Span(basis, free)


def shortest(basis: Integers, most: int) -> tuple[Integers, bool]:
    """Up to `most` shortest vectors of a lattice, and whether the next one is clearly longer."""
    rows = reduced(basis)
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1)
    jumps = lengths[1:] / np.maximum.accumulate(lengths)[:-1]
    count = min(most, len(jumps))
    if count < 1:
        return rows[:0], False
    last = int(jumps[:count].argmax())
    clear = bool(jumps[last] > JUMP)
    return (rows[: last + 1], True) if clear else (rows[:count], False)


def _relations(span: Span, chosen: Integers, needed: int) -> tuple[Integers, bool]:
    """The shortest vectors over the chosen tasks that are orthogonal to the span, mod the prime.

    All of them, if the tasks have the needed rank. The pivots are the first of the tasks.
    """
    rank, free = span.rank, len(chosen) - span.rank
    lattice = np.zeros((len(chosen), len(chosen)), np.int64)
    lattice[:rank, :rank] = PRIME * np.eye(rank, dtype=np.int64)
    lattice[rank:, rank:] = np.eye(free, dtype=np.int64)
    values = -span.basis[:, chosen[rank:]].T % PRIME
    lattice[rank:, :rank] = np.where(values > PRIME // 2, values - PRIME, values)
    short, clear = shortest(lattice, len(chosen) - needed)
    relations = np.zeros((len(short), span.basis.shape[1]), np.int64)
    relations[:, chosen] = short
    return relations, clear
