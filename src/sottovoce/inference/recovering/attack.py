"""The whole attack: from totals to columns of labels, and as far as it goes to whose they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.inference.recovering.binary_vectors import MOST_RANK, Bits, binary_vectors
from sottovoce.inference.recovering.columns import Column, candidates, distinct, explaining
from sottovoce.inference.recovering.linking import linked
from sottovoce.inference.recovering.modular import Integers, Span, span_of
from sottovoce.inference.recovering.relations import completed
from sottovoce.inference.recovering.unanimous import NONE, unanimous

__all__ = ["Observed", "Outcome", "Recovered", "recover"]

Outcome: TypeAlias = Literal["all", "some", "none", "too large", "too many"]


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """What was opened: vectors (rows) of one integer for each task, and the exact counts.

    `counts` (tasks, labels) are also among the vectors; None where they carry noise. `assigned`
    (workers, tasks) is who was given which task, where that is known.
    """

    vectors: Integers = field(repr=False)
    counts: Integers | None = field(repr=False)
    labels: int
    workers: int
    assigned: Bits | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2 or not self.vectors.size:
            raise UsageError("nothing was opened: there is nothing to recover labels from")

    @property
    def told(self) -> Bits | None:
        """The assignments, if exactly those who were given a task answered it."""
        if self.assigned is None or self.counts is None:
            return None
        exact = np.array_equal(self.assigned.sum(axis=0), self.counts.sum(axis=1))
        return self.assigned if exact and len(self.assigned) == self.workers else None

    @property
    def needed(self) -> int:
        """The rank at which all indicators are in the span: J (K - 1), and that of who has what.

        That is 1 where everybody answered everything, and up to J where nobody did the same.
        """
        free = self.workers * (self.labels - 1)
        if self.told is not None:
            return free + span_of(self.told.astype(np.int64)).rank
        return free + (1 if self.dense else self.workers)

    @property
    def dense(self) -> bool:
        """Whether counts say that everybody answered everything."""
        return self.counts is not None and bool((self.counts.sum(axis=1) == self.workers).all())


@dataclass(frozen=True, slots=True, eq=False)
class Recovered:
    """Columns (columns, tasks) of label codes, -1 where there is no answer, and their owners.

    `outcome` says whether all workers' columns are there, some or none: too little may have been
    opened, or the search ends at a smaller rank ("too large"), or there are so many vectors of
    zeros and ones that they tell nothing ("too many"). `unanimous` has the label of each task on
    which everybody agrees, else -1.
    """

    rank: int
    needed: int
    outcome: Outcome
    columns: Integers = field(repr=False)
    owners: tuple[int | None, ...] = field(repr=False)
    unanimous: Integers = field(repr=False)


def recover(observed: Observed) -> Recovered:
    """Everything that linear algebra finds in what was opened.

    >>> answers = np.array([[0, 0, 1, 1, 1, 0], [0, 1, 0, 1, 0, 0], [0, 0, 0, 1, 1, 1]])
    >>> counts = np.stack([3 - answers.sum(0), answers.sum(0)], 1)
    >>> opened = np.array([[31, 27, 45], [12, 50, 33]]) @ answers
    >>> found = recover(Observed(np.concatenate([counts.T, opened]), counts, 2, 3))
    >>> found.outcome, found.rank, found.needed, sorted(map(tuple, found.columns.tolist()))
    ('all', 4, 4, [(0, 0, 0, 1, 1, 1), (0, 0, 1, 1, 1, 0), (0, 1, 0, 1, 0, 0)])
    """
    known, tasks = observed.told, observed.vectors.shape[1]
    vectors = observed.vectors
    if known is not None:
        # Whoever hands out tasks knows these vectors of the span already.
        vectors = np.concatenate([known.astype(np.int64), vectors])
    span = span_of(vectors)
    columns, outcome = _columns(observed, span, known)
    agreed = np.full(tasks, NONE) if observed.counts is None else unanimous(observed.counts)
    columns, owners = _owned(columns, observed.assigned)
    return Recovered(span.rank, observed.needed, outcome, columns, owners, agreed)


def _columns(observed: Observed, span: Span, known: Bits | None) -> tuple[Integers, Outcome]:
    """All columns, from what was opened or what it can be completed to; else some of them."""
    tasks, needed = span.basis.shape[1], observed.needed
    possible = _possible(observed, span, known)
    chosen = _explaining(observed, possible)
    if chosen is None and observed.counts is not None and needed <= MOST_RANK:
        if (whole := completed(span, needed)) is not None:
            chosen = _explaining(observed, _possible(observed, whole, known))
    if chosen is not None:
        return _coded(chosen, tasks), "all"
    some = distinct(possible or [], _most(observed), _room(observed))
    if some:
        return _coded(some, tasks), "some"
    nothing: Outcome = "none" if possible is not None else "too many"
    if observed.counts is not None and needed > MOST_RANK:
        nothing = "too large"
    return np.empty((0, tasks), np.int64), nothing


def _possible(observed: Observed, span: Span, known: Bits | None) -> list[Column] | None:
    """Every column that could be in a span; None if there are too many."""
    listed = binary_vectors(span)
    return None if listed is None else candidates(listed, _most(observed), known)


def _explaining(observed: Observed, possible: list[Column] | None) -> list[Column] | None:
    if not possible or observed.counts is None:
        return None
    return explaining(possible, observed.counts, observed.workers)


def _most(observed: Observed) -> Integers:
    """How often each label can have been given to each task: noisy counts rule nothing out."""
    if observed.counts is not None:
        return observed.counts
    return np.full((observed.vectors.shape[1], observed.labels), observed.workers)


def _room(observed: Observed) -> Mapping[bytes, int]:
    """How many workers can have had the same tasks: one's labels are no other's missing answers."""
    if observed.assigned is not None:
        return Counter(tasks.tobytes() for tasks in observed.assigned)
    everything = np.ones(observed.vectors.shape[1], np.bool_)
    return {everything.tobytes(): observed.workers} if observed.dense else {}


def _coded(columns: list[Column], tasks: int) -> Integers:
    coded = np.full((len(columns), tasks), NONE, np.int64)
    for row, column in zip(coded, columns, strict=True):
        for label, part in enumerate(column):
            row[part] = label
    return coded


def _owned(columns: Integers, assigned: Bits | None) -> tuple[Integers, tuple[int | None, ...]]:
    """Columns with their owners, in the order of these; those without one come last."""
    if assigned is None or not len(columns):
        return columns, (None,) * len(columns)
    owners = linked(columns != NONE, assigned)
    places = [len(assigned) if owner is None else owner for owner in owners]
    order = np.argsort(places, kind="stable")
    return columns[order], tuple(owners[at] for at in order)
