"""All integer vectors of a span whose entries are within bounds, by a meet-in-the-middle search.

A vector of the span is fixed by its values at the pivots. Half of the pivots give a list of partial
sums at some other places, the check places, and so does the other half. Two of these must add up to
an allowed value at each check place; a sorted list finds them without testing all pairs (Horowitz &
Sahni 1974). Places with few allowed values are the pivots, so that the lists are short.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from sottovoce_studies.p2.attack.integer_span import PRIME, Integers, Span, span_of

MOST_SUMS = 1 << 22
"""The most sums of a half: a few seconds and about 300 MB. Larger spans take longer or a better
search; they are not out of reach."""

MOST_LOOKUPS = 1 << 27
MOST_PAIRS = 1 << 26
FEW_PAIRS = 1 << 20
"""Check places are added until about this many pairs are left."""

BLOCK = 1 << 15
TRIED = 12

_MIX = np.random.default_rng(0).integers(1, 1 << 63, TRIED, np.uint64) | np.uint64(1)


def bounded_vectors(
    span: Span, most: Integers, least: Integers | None = None, limit: int = 1000
) -> Integers | None:
    """Every vector (rows) of a span with entries from `least` (0 if None) to `most`.

    None if there are more than `limit`, or the search would take too long.

    >>> from sottovoce_studies.p2.attack.integer_span import span_of
    >>> bounded_vectors(span_of(np.array([[1, 2, 2, 1], [3, 3, 3, 3]])), np.ones(4, int)).tolist()
    [[0, 0, 0, 0], [0, 1, 1, 0], [1, 0, 0, 1], [1, 1, 1, 1]]
    """
    least = np.zeros_like(most) if least is None else least
    if (most < least).any():
        return np.empty((0, len(most)), np.int64)
    choices = most - least + 1
    order = np.argsort(choices, kind="stable")
    moved = span_of(span.basis[:, order])
    span = Span(moved.basis[:, np.argsort(order)], order[moved.pivots])
    halves = _halves(span, least, choices)
    if halves is None:
        return None
    found, left = [], limit
    checks = _checks(span, choices)
    for chosen in _meetings(span, halves, checks, least, choices):
        if chosen is None:
            return None
        vectors = _extended(chosen, span, least, choices)
        found.append(vectors)
        left -= len(vectors)
        if left < 0:
            return None
    if not found:
        return np.empty((0, len(most)), np.int64)
    return np.unique(np.concatenate(found), axis=0)


@dataclass(frozen=True, slots=True, eq=False)
class _Half:
    """Some rows of a basis, the least factor of each, and how many factors are allowed."""

    rows: Integers
    least: Integers
    choices: Integers

    @property
    def size(self) -> int:
        return int(np.prod(self.choices.astype(np.float64)).clip(max=2.0**62))

    def sums(self, places: Integers) -> Integers:
        """The sums (sums, places) of all factors; the first row's factor varies fastest."""
        sums = (self.least @ self.rows[:, places] % PRIME)[None, :]
        for row, choices in zip(self.rows[:, places], self.choices, strict=True):
            sums = np.concatenate([(sums + times * row) % PRIME for times in range(choices)])
        return sums

    def factors(self, numbers: Integers) -> Integers:
        """The factors of the sums with these numbers."""
        factors = np.empty((len(numbers), len(self.rows)), np.int64)
        for place, choices in enumerate(self.choices):
            factors[:, place] = self.least[place] + numbers % choices
            numbers = numbers // choices
        return factors


def _halves(span: Span, least: Integers, choices: Integers) -> tuple[_Half, _Half] | None:
    """The pivots in two halves with about as many sums each; None if there are too many."""
    logs = np.cumsum(np.log(choices[span.pivots]))
    at = int(np.searchsorted(logs, logs[-1] / 2 + 1e-9)) if span.rank else 0
    halves = tuple(
        _Half(span.basis[part], least[span.pivots[part]], choices[span.pivots[part]])
        for part in (slice(None, at), slice(at, None))
    )
    return None if max(half.size for half in halves) > MOST_SUMS else (halves[0], halves[1])


def _checks(span: Span, choices: Integers) -> Integers:
    """Places other than the pivots, each equation once, those with the fewest choices first."""
    others = np.setdiff1d(np.arange(len(choices)), span.pivots)
    if not len(others):
        return others
    lines = np.concatenate([span.basis[:, others], choices[None, others]])
    once = np.sort(np.unique(lines, axis=1, return_index=True)[1])
    weight = (span.basis[:, others[once]] != 0).sum(axis=0)
    return others[once][np.lexsort((-weight, choices[others[once]]))]


def _meetings(
    span: Span, halves: tuple[_Half, _Half], checks: Integers, least: Integers, choices: Integers
) -> Iterator[Integers | None]:
    """Blocks of factors of the pivots that are allowed at some check places; None: too many."""
    first, second = halves
    chosen = _best_checks(halves, checks, least, choices)
    known = _keys(first.sums(chosen))
    order = np.argsort(known, kind="stable")
    known, sums = known[order], second.sums(chosen)
    pairs = 0
    for values in product(*(range(least[at], least[at] + choices[at]) for at in chosen)):
        wanted = _keys((np.array(values, np.int64) - sums) % PRIME)
        # Sorted lookups access memory sequentially.
        row = np.argsort(wanted, kind="stable")
        start = np.searchsorted(known, wanted[row], "left")
        count = np.searchsorted(known, wanted[row], "right") - start
        some = np.flatnonzero(count)
        row, start, ends = row[some], start[some], np.cumsum(count[some])
        pairs += int(ends[-1]) if len(ends) else 0
        if pairs > MOST_PAIRS:
            yield None
            return
        for begin in range(0, int(ends[-1]) if len(ends) else 0, BLOCK):
            pair = np.arange(begin, min(begin + BLOCK, int(ends[-1])))
            at = np.searchsorted(ends, pair, "right")
            within = pair - (ends[at] - count[some][at])
            yield np.concatenate(
                [first.factors(order[start[at] + within]), second.factors(row[at])], axis=1
            )


def _best_checks(
    halves: tuple[_Half, _Half], checks: Integers, least: Integers, choices: Integers
) -> Integers:
    """Check places that leave few pairs, as far as lookups allow."""
    first, second = halves
    both = (first.rows[:, checks] != 0).any(axis=0) & (second.rows[:, checks] != 0).any(axis=0)
    pairs, lookups = float(first.size) * second.size, float(second.size)
    chosen: list[int] = []
    for place in checks[both][:TRIED]:
        if pairs <= FEW_PAIRS or lookups * choices[place] > MOST_LOOKUPS:
            break
        share = _share(halves, int(place), range(least[place], least[place] + choices[place]))
        if share < 0.8:
            chosen.append(int(place))
            pairs, lookups = pairs * share, lookups * choices[place]
    return np.array(chosen, np.int64)


def _share(halves: tuple[_Half, _Half], place: int, values: range) -> float:
    """The share of all pairs that are allowed at a place."""
    (first, times), (second, again) = (
        np.unique(half.sums(np.array([place]))[:, 0], return_counts=True) for half in halves
    )
    allowed = 0.0
    for value in values:
        wanted = (value - second) % PRIME
        at = np.searchsorted(first, wanted).clip(max=len(first) - 1)
        allowed += float((times[at] * (first[at] == wanted) * again.astype(np.float64)).sum())
    return allowed / (float(halves[0].size) * halves[1].size)


def _keys(sums: Integers) -> npt.NDArray[np.uint64]:
    """One number for the sums at all check places; equal sums have equal keys."""
    return np.asarray((sums.astype(np.uint64) * _MIX[: sums.shape[1]]).sum(1, dtype=np.uint64))


def _extended(chosen: Integers, span: Span, least: Integers, choices: Integers) -> Integers:
    """The vectors of these factors that are within bounds at all places."""
    for place in np.setdiff1d(np.arange(len(least)), span.pivots):
        if not len(chosen):
            break
        value = (chosen @ span.basis[:, place] - least[place]) % PRIME
        chosen = chosen[value < choices[place]]
    return np.asarray(chosen @ span.basis % PRIME)
