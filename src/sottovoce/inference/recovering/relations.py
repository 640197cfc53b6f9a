"""The span of which only a part was opened, from short relations between tasks.

Workers' labels make the tasks' totals depend on each other: Σ_i u_i z_ji = 0 for all j has
solutions u of a few ones, and these are the shortest integer vectors by far that what was opened is
orthogonal to. This is the hidden subset sum problem (Nguyen & Stern 1999): few rounds are enough
when the scale is large.
"""

from __future__ import annotations

import numpy as np

from sottovoce.inference.recovering.lattices import reduced
from sottovoce.inference.recovering.modular import PRIME, Integers, Span, span_of

__all__ = ["completed"]

MOST_TASKS = 160
"""Tasks whose relations are looked for at once."""

SPARE = 20
"""Tasks that all such groups share beside as many as the rank: in them every worker differs."""


def completed(span: Span, needed: int) -> Span | None:
    """A span that holds the given one and is orthogonal to short relations, or None.

    Its rank is `needed`, or a little more where workers are alike on what the groups share.
    """
    tasks = span.basis.shape[1]
    if not span.rank < needed < tasks:
        return None
    others = np.setdiff1d(np.arange(tasks), span.pivots)
    shared = min(needed + SPARE, tasks) - span.rank
    base, rest = np.concatenate([span.pivots, others[:shared]]), others[shared:]
    room = max(MOST_TASKS - len(base), 1)
    groups = [np.append(base, rest[start : start + room])
              for start in range(0, max(len(rest), 1), room)]  # fmt: skip
    found = np.concatenate([_relations(span, group, needed) for group in groups])
    whole = _orthogonal(span_of(found), tasks)
    return whole if whole.rank > span.rank else None


def _relations(span: Span, chosen: Integers, needed: int) -> Integers:
    """The shortest vectors over the chosen tasks that are orthogonal to the span, mod the prime.

    As many as there are if the tasks have the needed rank. The pivots are the first of the tasks.
    """
    rank, free = span.rank, len(chosen) - span.rank
    lattice = np.zeros((len(chosen), len(chosen)), np.int64)
    lattice[:rank, :rank] = PRIME * np.eye(rank, dtype=np.int64)
    lattice[rank:, rank:] = np.eye(free, dtype=np.int64)
    values = -span.basis[:, chosen[rank:]].T % PRIME
    lattice[rank:, :rank] = np.where(values > PRIME // 2, values - PRIME, values)
    relations = np.zeros((len(chosen) - needed, span.basis.shape[1]), np.int64)
    relations[:, chosen] = reduced(lattice)[: len(chosen) - needed]
    return relations


def _orthogonal(span: Span, length: int) -> Span:
    """All vectors that are orthogonal to a span."""
    free = np.setdiff1d(np.arange(length), span.pivots)
    basis = np.zeros((len(free), length), np.int64)
    basis[np.arange(len(free)), free] = 1
    basis[:, span.pivots] = -span.basis[:, free].T % PRIME
    return Span(basis, free)
