"""All vectors of zeros and ones in a span, by a meet-in-the-middle search.

A vector of the span is fixed by its values at the pivots, so there are 2^rank candidates. Half of
the pivots give 2^(rank / 2) partial sums at any other place, and so does the other half. Two of
these must add up to 0 or 1; sorting finds them without testing all pairs (Horowitz & Sahni 1974).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sottovoce.live.attack.integer_span import PRIME, Integers, Span

Bits: TypeAlias = npt.NDArray[np.bool_]

MOST_RANK = 44
"""Two lists of 2^22 sums: a few seconds and about 300 MB. Larger ranks take longer or a better
search; they are not out of reach."""

MOST_PAIRS = 1 << 26
MOST_FOUND = 1000
"""More vectors than this do not identify workers' labels."""

BLOCK = 1 << 15
TRIED = 6


def binary_vectors(span: Span) -> Bits | None:
    """Every nonzero vector (rows) of zeros and ones in a span; None if there are too many to list.

    >>> from sottovoce.live.attack.integer_span import span_of
    >>> binary_vectors(span_of(np.array([[1, 2, 2, 1], [3, 3, 3, 3]]))).astype(int).tolist()
    [[0, 1, 1, 0], [1, 0, 0, 1], [1, 1, 1, 1]]
    """
    checks = np.setdiff1d(np.arange(span.basis.shape[1]), span.pivots)
    if span.rank > MOST_RANK or not len(checks):
        return None
    half = span.rank // 2
    left, right = span.basis[:half], span.basis[half:]
    meeting = _best_meeting(left, right, checks)
    if meeting.pairs > MOST_PAIRS:
        return None
    found: list[Bits] = []
    for chosen in meeting.blocks():
        found.extend(_extended(chosen, span, checks))
        if len(found) > MOST_FOUND:
            return None
    vectors = np.array(found, np.bool_).reshape(len(found), -1)
    return np.unique(vectors[vectors.any(axis=1)], axis=0)


class _Meeting:
    """Sorted partial sums of both halves at one place, and the pairs that add up to 0 or 1."""

    def __init__(self, left: Integers, right: Integers, place: int) -> None:
        self._sizes = len(left), len(right)
        first, second = _subset_sums(left[:, place]), _subset_sums(right[:, place])
        self._order = np.argsort(first, kind="stable")
        ordered = first[self._order]
        wanted = np.concatenate([(-second) % PRIME, (1 - second) % PRIME])
        # Sorted lookups access memory sequentially.
        self._wanted = np.argsort(wanted, kind="stable")
        self._from = np.searchsorted(ordered, wanted[self._wanted], "left")
        self._count = np.searchsorted(ordered, wanted[self._wanted], "right") - self._from
        self.pairs = int(self._count.sum())

    def blocks(self) -> Iterator[Bits]:
        """The values at the pivots, in blocks of candidates (rows)."""
        some = np.flatnonzero(self._count)
        ends = np.cumsum(self._count[some])
        for start in range(0, self.pairs, BLOCK):
            pair = np.arange(start, min(start + BLOCK, self.pairs))
            at = np.searchsorted(ends, pair, "right")
            within = pair - (ends[at] - self._count[some][at])
            first = self._order[self._from[some][at] + within]
            second = self._wanted[some][at] % (1 << self._sizes[1])
            yield np.concatenate(
                [_bits(first, self._sizes[0]), _bits(second, self._sizes[1])], axis=1
            )


def _best_meeting(left: Integers, right: Integers, checks: Integers) -> _Meeting:
    """The meeting with the fewest pairs, among some places with many nonzero pivots."""
    weight = np.minimum((left[:, checks] != 0).sum(0), (right[:, checks] != 0).sum(0))
    tried = checks[np.argsort(-weight, kind="stable")[:TRIED]]
    best = _Meeting(left, right, int(tried[0]))
    enough = max(BLOCK, 1 << len(right))
    for place in tried[1:]:
        if best.pairs <= enough:
            break
        other = _Meeting(left, right, int(place))
        best = other if other.pairs < best.pairs else best
    return best


def _extended(chosen: Bits, span: Span, checks: Integers) -> list[Bits]:
    """The candidates that are 0 or 1 at all places."""
    for place in checks:
        if not len(chosen):
            return []
        value = chosen @ span.basis[:, place] % PRIME
        chosen = chosen[value <= 1]
    return [*(chosen @ span.basis % PRIME).astype(np.bool_)]


def _subset_sums(values: Integers) -> Integers:
    """All subset sums; bit k of a sum's index is whether value k is in it."""
    sums = np.zeros(1, np.int64)
    for value in values:
        sums = np.concatenate([sums, (sums + value) % PRIME])
    return sums


def _bits(numbers: Integers, width: int) -> Bits:
    return (numbers[:, None] >> np.arange(width) & 1).astype(np.bool_)
