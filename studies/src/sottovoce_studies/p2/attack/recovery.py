"""Recovery of labels: from totals to columns of labels and, if possible, their workers.

A column is one worker: for each label, the tasks that got it. These sets are disjoint, and the sum
of two or all of them is again a vector of zeros and ones in the span. Columns must explain the
counts. If tasks were assigned individually, the answered tasks identify the worker. On tasks on
which all workers agree, the counts of one round already reveal every label.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.optimize import Bounds, LinearConstraint, milp

from sottovoce.errors import UsageError
from sottovoce_studies.p2.attack.bounded_vectors import bounded_vectors
from sottovoce_studies.p2.attack.integer_span import Integers, Span, completed, span_of

Bits: TypeAlias = npt.NDArray[np.bool_]

MOST_RANK = 44
"""The largest rank of the search for vectors of zeros and ones."""

NONE = -1
"""The code of a missing or unknown label."""

MOST_CANDIDATES = 20_000
SECONDS = 20.0
"""The time limit of the search for columns that explain the counts; it usually takes far less."""

Column: TypeAlias = tuple[Bits, ...]
"""For each label, its tasks."""

RecoveryOutcome: TypeAlias = Literal["all", "some", "none", "too large", "too many"]


@dataclass(frozen=True, eq=False)
class Observed:
    """The opened data: vectors (rows) with one integer per task, and the exact counts.

    `counts` (tasks, labels) are also among the vectors; None if they are noisy. `assigned`
    (workers, tasks) is the assignment of tasks, if known.
    """

    vectors: Integers = field(repr=False)
    counts: Integers | None = field(repr=False)
    labels: int
    workers: int
    assigned: Bits | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2 or not self.vectors.size:
            raise UsageError("nothing was opened, so no labels can be recovered")

    @property
    def told(self) -> Bits | None:
        """The assignments, if every worker answered exactly the assigned tasks."""
        if self.assigned is None or self.counts is None:
            return None
        exact = np.array_equal(self.assigned.sum(axis=0), self.counts.sum(axis=1))
        return self.assigned if exact and len(self.assigned) == self.workers else None

    @cached_property
    def span(self) -> Span:
        """The span of the vectors and, if known, of the assignments."""
        if self.told is None:
            return span_of(self.vectors)
        return span_of(np.concatenate([self.told.astype(np.int64), self.vectors]))

    @property
    def rank(self) -> int:
        """The rank of everything that is known."""
        return self.span.rank

    @property
    def needed(self) -> int:
        """The rank at which all indicators are in the span: J (K - 1), plus that of the assignment.

        The latter is 1 if all workers answered all tasks, and up to J if all had different tasks.
        """
        free = self.workers * (self.labels - 1)
        if self.told is not None:
            return free + span_of(self.told.astype(np.int64)).rank
        return free + (1 if self.dense else self.workers)

    @property
    def dense(self) -> bool:
        """Whether the counts show that all workers answered all tasks."""
        return self.counts is not None and bool((self.counts.sum(axis=1) == self.workers).all())


@dataclass(frozen=True, slots=True, eq=False)
class Recovered:
    """Columns (columns, tasks) of label codes, -1 for no answer, and their owners.

    `outcome` says whether all columns were found, some or none: too little may have been opened,
    the rank may be too large for the search ("too large"), or there may be too many vectors of
    zeros and ones ("too many").
    """

    outcome: RecoveryOutcome
    columns: Integers = field(repr=False)
    owners: tuple[int | None, ...] = field(repr=False)


def recover(observed: Observed) -> Recovered:
    """Recover all labels that linear algebra finds in the opened data.

    >>> answers = np.array([[0, 0, 1, 1, 1, 0], [0, 1, 0, 1, 0, 0], [0, 0, 0, 1, 1, 1]])
    >>> counts = np.stack([3 - answers.sum(0), answers.sum(0)], 1)
    >>> opened = np.array([[31, 27, 45], [12, 50, 33]]) @ answers
    >>> found = recover(Observed(np.concatenate([counts.T, opened]), counts, 2, 3))
    >>> found.outcome, sorted(map(tuple, found.columns.tolist()))
    ('all', [(0, 0, 0, 1, 1, 1), (0, 0, 1, 1, 1, 0), (0, 1, 0, 1, 0, 0)])
    """
    columns, outcome = _columns(observed, observed.span, observed.told)
    columns, owners = _owned(columns, observed.assigned)
    return Recovered(outcome, columns, owners)


def candidates(vectors: Bits, counts: Integers, assigned: Bits | None) -> list[Column]:
    """Every possible column of a worker; if assignments are known, with these tasks only.

    A task cannot have a label more often than its count.
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
    # Many tasks give the same equation: keep each once.
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
    """Distinct columns with at least two labels; the assignment of labels to parts is by majority.

    This is the fallback if the counts are not explained: some columns may still be right. `room` is
    how many workers can have had the same tasks: if there are more columns than that, none is
    accepted.
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


def linked(answered: Bits, assigned: Bits) -> list[int | None]:
    """For each column (rows: columns, tasks), the only worker whose tasks match, or None.

    A worker with exactly these tasks comes first, otherwise one that had these tasks among others.
    If two workers fit equally well, or two columns fit one worker, there is no match.

    >>> answered = np.array([[1, 1, 0], [0, 1, 1]], bool)
    >>> linked(answered, np.array([[0, 1, 1], [1, 1, 0], [1, 1, 0]], bool))
    [None, 0]
    """
    same = (answered[:, None, :] == assigned[None, :, :]).all(axis=2)
    within = (answered[:, None, :] <= assigned[None, :, :]).all(axis=2)
    fits = np.where(same.any(axis=1, keepdims=True), same, within)
    alone = (fits.sum(axis=1) == 1)[:, None] & (fits.sum(axis=0) == 1)[None, :] & fits
    return [int(row.argmax()) if row.any() else None for row in alone]


def unanimous(counts: Integers) -> Integers:
    """The label that all answers to a task have, for each task of counts (tasks, labels).

    μᵢ(0) is 0 or 1 there (P2, protocol 1, line 2), which theorem 1 leaves out by its assumption.

    >>> unanimous(np.array([[0, 3], [1, 2], [2, 0], [0, 0]])).tolist()
    [1, -1, 0, -1]
    """
    total = counts.sum(axis=1)
    label = counts.argmax(axis=1)
    agreed = (total > 0) & (counts.max(axis=1) == total)
    return np.where(agreed, label, NONE).astype(np.int64)


def _columns(
    observed: Observed, span: Span, known: Bits | None
) -> tuple[Integers, RecoveryOutcome]:
    """All columns, from the opened span or its completion; otherwise some of them."""
    tasks, needed = span.basis.shape[1], observed.needed
    possible = _possible(observed, span, known)
    chosen = _explaining(observed, possible)
    if chosen is None and observed.counts is not None and needed <= MOST_RANK:
        if (whole := completed(span, needed)) is not None:
            chosen = _explaining(observed, _possible(observed, whole.span, known))
    if chosen is not None:
        return _coded(chosen, tasks), "all"
    some = distinct(possible or [], _most(observed), _room(observed))
    if some:
        return _coded(some, tasks), "some"
    nothing: RecoveryOutcome = "none" if possible is not None else "too many"
    if observed.counts is not None and needed > MOST_RANK:
        nothing = "too large"
    return np.empty((0, tasks), np.int64), nothing


def _possible(observed: Observed, span: Span, known: Bits | None) -> list[Column] | None:
    """Every possible column in a span; None if there are too many."""
    if span.rank > MOST_RANK or span.rank == span.basis.shape[1]:
        return None
    listed = bounded_vectors(span, np.ones(span.basis.shape[1], np.int64))
    if listed is None:
        return None
    return candidates(listed[listed.any(axis=1)].astype(np.bool_), _most(observed), known)


def _explaining(observed: Observed, possible: list[Column] | None) -> list[Column] | None:
    if not possible or observed.counts is None:
        return None
    return explaining(possible, observed.counts, observed.workers)


def _most(observed: Observed) -> Integers:
    """The most times that each label can occur at each task; noisy counts give no limit."""
    if observed.counts is not None:
        return observed.counts
    return np.full((observed.vectors.shape[1], observed.labels), observed.workers)


def _room(observed: Observed) -> Mapping[bytes, int]:
    """How many workers can have had the same tasks."""
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
    """Columns sorted by owner; those without one come last."""
    if assigned is None or not len(columns):
        return columns, (None,) * len(columns)
    owners = linked(columns != NONE, assigned)
    places = [len(assigned) if owner is None else owner for owner in owners]
    order = np.argsort(places, kind="stable")
    return columns[order], tuple(owners[at] for at in order)
