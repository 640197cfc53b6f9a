"""Candidate columns of workers whose tasks are known: proven ones, and likely ones.

A column says how often a worker gave each label to each task. Let n_jl be the vector over tasks of
worker j's answers with the label l, and r_j = Σ_l n_jl, which the server knows if it assigns the
tasks. The following holds for the true columns, so only wrong ones are removed:

1. Span. Every opened total is Σ_jl g_jl n_jl, hence in the span W of the n_jl and r_j, of rank at
   most rank(r) + J (K - 1). If the totals and the r_j have this rank, they span W: this is proven,
   for any scale and modulo any prime. Where a task is answered repeatedly, a worker's sum is
   rounded once, so totals are in W up to one half per worker. See `_proven_relations` for this.
2. Support. n_jl is in W, is 0 outside worker j's tasks, and is within 0 … r_j and the counts.
3. Rank. If x is worker j's column, then the totals without its contribution f(x), which anyone
   can compute, have rank at most (J - 1)(K - 1) modulo the r_j.
4. Sum. The contributions of all workers add up to the totals: a linear system for the choice of one
   candidate per worker.

Workers whose columns follow are subtracted, and the rest is tried again. Workers with exactly the
same tasks are interchangeable: they form one group, which has one set of columns.

Then the rest is tried with a likely span. If the rank is smaller, short relations between tasks
complete it (`integer_span`). They are orthogonal to all n_jl unless small integers w_jl solve
Σ_jl g_jl w_jl = 0 for every total. They are used only if the totals have twice the bits of all w_jl
together, and no opened vector depends on the others. This is no proof: workers with equal g in
every opened round can be confused, and then the true column can be missing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

from sottovoce.model import FloatArray
from sottovoce_studies.p2.attack.bounded_vectors import bounded_vectors
from sottovoce_studies.p2.attack.contributions import Contributions
from sottovoce_studies.p2.attack.integer_span import (
    PRIME,
    Integers,
    Span,
    completed,
    orthogonal,
    shortest,
    span_of,
    within,
)

MOST_COLUMNS = 20_000
"""The most candidates of a worker that are listed."""

MOST_CHOICES = 1_200
"""The most candidates of all workers in the linear system."""

FEW_COLUMNS = 1 << 12
"""A worker with at most this many columns has them listed even without a span."""

MOST_FREE = 300
"""The most unknown vectors n_jl of all workers: beyond, linear algebra takes minutes."""

SAFETY = 2
"""Evidence for relations: the totals have this many times the bits of the w_jl."""

WEAK = 1e-5
"""A singular value below which a combination of candidates is not determined."""

NEAR = 1e-3
"""The most that errors of rounding may move a solution."""

LOOSE = 1e-10
"""The most of a unit vector, squared, that is not determined by the equations."""

LARGE_SCALE = 10**9
"""The scale from which errors of one unit are small, and not avoided."""

MOST_PROGRAMS = 250
"""The most candidates for which linear programs are solved."""

MOST_COMPLETED = 120
"""The largest rank to which a span is completed: lattice reduction takes minutes beyond."""

MOST_NOISY_TASKS = 200
BLOCK = 256
FLOAT = 1e-12
"""More than the relative error of sums and projections of floats here."""

APART = 1e-3
"""The smallest singular value of the r_j, relative to the largest, for projections in floats."""


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Workers with the same tasks, and the columns (columns, tasks, labels) each may have.

    `columns` is None if they were not listed: too many, or the span is not known. If `known`, the
    columns are those of the workers, one each.
    """

    workers: tuple[int, ...]
    times: Integers = field(repr=False)
    columns: Integers | None = field(default=None, repr=False)
    known: bool = False

    @property
    def left(self) -> int | None:
        """The number of columns."""
        return None if self.columns is None else len(self.columns)

    @property
    def distinct(self) -> Integers | None:
        """Every possible column, once."""
        return None if self.columns is None else np.unique(self.columns, axis=0)

    def certain(self) -> npt.NDArray[np.bool_]:
        """The tasks on which all possible columns agree."""
        if self.columns is None or not len(self.columns):
            return np.zeros(len(self.times), np.bool_)
        same = (self.columns == self.columns[0]).all(axis=(0, 2))
        return np.asarray(same & (self.times > 0))


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The opened data, less the contributions of known workers.

    `vectors` (rows, tasks) are integers without error, among them the `counts` (tasks, labels);
    `contributions` has the rounds in which every worker took part, with errors up to `error` (the
    norm of all), because the last digit of a logarithm may differ between machines.
    """

    counts: Integers
    vectors: Integers
    contributions: Contributions
    error: float = 0.0

    def without(self, group: Group) -> View:
        """The data without the workers of a group whose columns are known."""
        view, tasks = self, np.arange(len(self.counts))
        columns: Iterable[Integers] = () if group.columns is None else group.columns
        for column in columns:
            theirs = view.contributions
            numbers = theirs.numbers(column, theirs.steps(column[None])[0], tasks)
            unsure = theirs.unsure(numbers)
            totals = theirs.totals - np.rint(numbers).astype(np.int64)
            counts = view.counts - column
            view = View(
                counts,
                np.concatenate([counts.T, totals[~unsure.any(axis=1)]]),
                replace(theirs, totals=totals),
                view.error + (1 + theirs.slack) * math.sqrt(unsure.sum()),
            )
        return view


class ContradictionError(Exception):
    """No columns explain the totals: they are not those of an honest run of these workers."""


def narrowed(view: View, times: Integers) -> tuple[tuple[Group, ...], tuple[Group, ...]]:
    """The proven candidate columns of all workers, and the likely ones.

    `times` (workers, tasks) says who answered what.
    """
    rows, which = np.unique(times, axis=0, return_inverse=True)
    groups: Sequence[Group] = [
        Group(tuple(np.flatnonzero(which.reshape(-1) == place).tolist()), row)
        for place, row in enumerate(rows)
    ]
    known: list[Group] = []
    found = []
    for proven in (True, False):
        if len(times) * (view.counts.shape[1] - 1) <= MOST_FREE:
            with suppress(ContradictionError):
                view, done, groups = _narrowed(view, groups, proven)
                known += done
        found.append(tuple(sorted([*known, *groups], key=lambda group: group.workers)))
    return found[0], found[1]


def _narrowed(
    view: View, groups: Sequence[Group], proven: bool
) -> tuple[View, list[Group], Sequence[Group]]:
    """The view without known groups, these groups, and the others."""
    known: list[Group] = []
    while groups:
        before = [group.left for group in groups]
        groups = _pass(view, groups, proven)
        done = [group for group in groups if group.known]
        if not done and [group.left for group in groups] == before:
            break
        for group in done:
            view = view.without(group)
        known += done
        groups = [group for group in groups if not group.known]
    return view, known, groups


def _pass(view: View, groups: Sequence[Group], proven: bool) -> list[Group]:
    """Conditions 1 to 4 once."""
    span = true_span(view, groups, proven)
    test = RankTest(view, groups)
    found = []
    for group in groups:
        columns = _listed(view, group, span)
        if columns is not None:
            columns = columns[(columns <= view.counts).all(axis=(1, 2))]
            columns = columns[test.passed(columns)]
            if not len(columns):
                raise ContradictionError
        found.append(replace(group, columns=columns))
    return _selected(view, found)


def true_span(view: View, groups: Sequence[Group], proven: bool) -> Span | None:
    """A span that contains every n_jl of these groups, or None if none is proven (or likely)."""
    labels, tasks = view.counts.shape[1], view.counts.shape[0]
    times = np.array([group.times for group in groups])
    workers = sum(len(group.workers) for group in groups)
    known = span_of(times)
    free = workers * (labels - 1)
    if int(times.max(initial=0)) > 1:
        return _noisy_span(view, groups, free, proven)
    span = span_of(np.concatenate([times, view.vectors]))
    if span.rank >= min(known.rank + free, tasks):
        return span
    # A rank below what was opened shows that workers are alike, not that rounds are missing.
    dependent = span.rank - known.rank < min(free, len(view.vectors) - 1)
    if proven or dependent or known.rank + free > MOST_COMPLETED:
        return None
    whole = completed(span, known.rank + free)
    if whole is None or not whole.clear:
        return None
    bits = math.log2(min(view.contributions.terms.scale, PRIME))
    return whole.span if _is_evident((span.rank - known.rank) * bits, free, whole.size) else None


def _is_evident(bits: float, free: int, size: int) -> bool:
    """Whether the totals have more bits than all small w_jl: |w_jl| is at most size / 2."""
    return bits >= SAFETY * free * math.log2(size + 1)


def _noisy_span(view: View, groups: Sequence[Group], free: int, proven: bool) -> Span | None:
    """The span by relations that hold up to rounding.

    A relation u has Σ_i u_i r_ji = 0, and its product with each total is at most the rounding
    errors of the workers who answer repeatedly.
    """
    tasks = view.counts.shape[0]
    if tasks > MOST_NOISY_TASKS or not len(view.contributions.totals):
        return None
    rows, _, error = _modulo(view, groups)
    _, sizes, right = np.linalg.svd(rows, full_matrices=False)
    signal = sizes > 32 * error
    weights = np.minimum(32 * sizes[signal] / error, 2.0**28)
    if not weights.size or (proven and signal.sum() < free):
        return None
    times = np.array([group.times for group in groups])
    lines = [times[span_of(times.T).pivots] << 20, np.rint(right[signal] * weights[:, None])]
    lattice = np.concatenate([np.eye(tasks), np.concatenate(lines).T], axis=1).astype(np.int64)
    short, clear = shortest(lattice, tasks - len(lines[0]) - free)
    short = short[:, :tasks]
    if proven:
        return orthogonal(_proven_relations(short, times, right[:free], sizes[free - 1], error))
    if not clear or (short @ times.T).any():
        return None
    size = int(np.abs(short).sum(axis=1).max())
    if not _is_evident(float(np.log2(weights).sum()), free, size):
        return None
    return orthogonal(short)


def _proven_relations(
    short: Integers, times: Integers, axes: FloatArray, size: float, error: float
) -> Integers:
    """The rows u of `short` that are orthogonal to every n_jl, for certain.

    Modulo the r_j, the totals are M + E with |E| ≤ error, and all n_jl are in a space of at most as
    many dimensions as there are `axes`, the first singular vectors V. If the last of their singular
    values, s = `size`, exceeds the error, M spans this space. A unit vector of it is then M'a with
    |a| ≤ 1 / (s - error), and its distance to V is at most d = 2 error / (s - error). Modulo r_j,
    n_jl has norm |r_j| / 2 at most. Hence |u n_jl| ≤ (|V u| + d |u|) |r_j| / 2. It is an integer,
    so it is 0 if this is below 1.
    """
    distance = 2 * error / (size - error)
    along = np.linalg.norm(short @ axes.T, axis=1)
    most = float(np.linalg.norm(times, axis=1).max()) / 2
    zero = (along + distance * np.linalg.norm(short, axis=1)) * most < 0.9
    return np.asarray(short[zero & ~(short @ times.T).any(axis=1)])


def _modulo(view: View, groups: Sequence[Group]) -> tuple[FloatArray, FloatArray, float]:
    """The totals modulo the r_j of these groups, axes of the r_j, and the norm of all errors."""
    totals = view.contributions.totals.astype(np.float64)
    times = np.array([group.times for group in groups], np.float64)
    _, sizes, right = np.linalg.svd(times, full_matrices=False)
    axes = right[sizes > APART * sizes[0]]
    repeating = np.zeros(times.shape[1])
    for group in groups:
        if group.times.max() > 1:
            repeating += len(group.workers) * (group.times > 0)
    rounding = 0.5 * math.sqrt(len(totals)) * float(np.linalg.norm(repeating))
    error = view.error + rounding + FLOAT * float(np.linalg.norm(totals))
    if len(axes) < span_of(np.array([group.times for group in groups])).rank:
        error = math.inf
    return totals - (totals @ axes.T) @ axes, axes, error


class RankTest:
    """Condition 3: the smallest singular value that must vanish if a column is subtracted.

    By Weyl's inequality it is at most the norm of the rounding errors.
    """

    def __init__(self, view: View, groups: Sequence[Group]) -> None:
        self._contributions = view.contributions
        labels = view.counts.shape[1]
        self._rank = (sum(len(group.workers) for group in groups) - 1) * (labels - 1)
        self._core: FloatArray | None = None
        if not groups or len(view.contributions.totals) <= self._rank:
            return
        rows, known, self._error = _modulo(view, groups)
        _, sizes, right = np.linalg.svd(rows, full_matrices=False)
        if len(sizes) <= self._rank or sizes[self._rank] <= self._error:
            return
        self._axes = right[: self._rank + 1]
        self._axes = self._axes - (self._axes @ known.T) @ known
        self._core = rows @ self._axes.T

    def passed(self, columns: Integers) -> npt.NDArray[np.bool_]:
        """Whether each of the columns (columns, tasks, labels) may be true."""
        if self._core is None or not len(columns):
            return np.ones(len(columns), np.bool_)
        blocks = np.array_split(columns, range(BLOCK, len(columns), BLOCK))
        return np.concatenate([self._passed(block, self._core) for block in blocks])

    def _passed(self, columns: Integers, core: FloatArray) -> npt.NDArray[np.bool_]:
        steps = self._contributions.steps(columns)
        sizes = np.sqrt((columns.astype(np.float64) ** 2).sum(axis=(1, 2)))
        error = self._error + FLOAT * np.linalg.norm(steps, axis=(1, 2)) * sizes
        if columns.sum(axis=2).max() <= 1:
            unsure = self._contributions.unsure(steps).any(axis=2).sum(axis=1)
            error = error + (1 + self._contributions.slack) * np.sqrt(unsure) * sizes
            steps = np.rint(steps)
        else:
            error = error + self._contributions.slack * math.sqrt(steps.shape[1]) * sizes
        factors = np.einsum("cil,ai->cla", columns.astype(np.float64), self._axes)
        left = core - np.einsum("crl,cla->cra", steps[:, :, 1:] - steps[:, :, :1], factors[:, 1:])
        smallest = np.linalg.svd(left, compute_uv=False)[:, -1]
        return np.asarray(smallest <= error)


def _listed(view: View, group: Group, span: Span | None) -> Integers | None:
    """Condition 2: every column of a worker of this group; None if there are too many."""
    times, labels = group.times, view.counts.shape[1]
    if group.columns is not None:
        return group.columns if span is None else group.columns[_inside(group.columns, span)]
    if span is not None:
        own = within(span, times > 0)
    elif times.sum() * math.log2(labels) <= math.log2(FEW_COLUMNS):
        places = np.flatnonzero(times)
        own = Span(np.eye(len(times), dtype=np.int64)[places], places)
    else:
        return None
    grown = [np.zeros((len(times), 0), np.int64)]
    for label in range(1, labels):
        most = np.minimum(times, view.counts[:, label])
        least = np.maximum(times - view.counts[:, 0], 0) if labels == 2 else None
        vectors = bounded_vectors(own, most, least, MOST_COLUMNS)
        if vectors is None or len(vectors) * len(grown) > 10 * MOST_COLUMNS:
            return None
        grown = [
            np.concatenate([column, vector[:, None]], axis=1)
            for column in grown
            for vector in vectors[(vectors + column.sum(axis=1) <= times).all(axis=1)]
        ]
        if len(grown) > MOST_COLUMNS:
            return None
    columns = np.array(grown, np.int64).reshape(len(grown), len(times), labels - 1)
    first = times[None, :, None] - columns.sum(axis=2, keepdims=True)
    return np.concatenate([first, columns], axis=2)


def _inside(columns: Integers, span: Span) -> npt.NDArray[np.bool_]:
    """Whether all vectors of a column are in the span."""
    vectors = columns.transpose(0, 2, 1)
    again = vectors[..., span.pivots] @ span.basis
    return np.asarray(((again - vectors) % PRIME == 0).all(axis=(1, 2)))


def _selected(view: View, groups: Sequence[Group]) -> list[Group]:
    """Condition 4, at the tasks that were answered only by groups whose columns are listed.

    Σ_c m_c f(c) = totals and Σ_c m_c = workers of the group, where m_c is how many of them have the
    column c. An m_c that is the same in all solutions is known.
    """
    listed = [group for group in groups if group.columns is not None]
    choices = sum(group.left or 0 for group in listed)
    hidden = np.zeros(view.counts.shape[0], np.bool_)
    for group in groups:
        if group.columns is None:
            hidden |= group.times > 0
    seen = np.flatnonzero(~hidden)
    if not len(seen) or not 0 < choices <= MOST_CHOICES:
        return list(groups)
    times = iter(np.split(*_solved(view, listed, seen)))
    return [
        group if group.columns is None else _chosen(group, group.columns, next(times))
        for group in groups
    ]


def _chosen(group: Group, columns: Integers, times: FloatArray) -> Group:
    """The group with the columns that are left; `times` is nan where it is not determined."""
    if np.isnan(times).any():
        return replace(group, columns=columns[np.isnan(times) | (times > 0)])
    columns = np.repeat(columns, times.astype(np.int64), axis=0)
    if len(columns) != len(group.workers):
        raise ContradictionError
    return replace(group, columns=columns, known=True)


def _solved(view: View, groups: Sequence[Group], seen: Integers) -> tuple[FloatArray, Integers]:
    """How often each column occurs, nan if not determined; and where the next group begins."""
    columns = np.concatenate([group.columns for group in groups if group.columns is not None])
    sizes = [group.left or 0 for group in groups]
    workers = sum(len(group.workers) for group in groups)
    rows, weak = _equations(view, columns, seen, workers)
    member = np.repeat(np.eye(len(groups)), sizes, axis=0)
    matrix = np.concatenate([rows[:-1], member], axis=1)
    wanted = np.append(rows[-1], [float(len(group.workers)) for group in groups])
    axes, strength, right = np.linalg.svd(matrix, full_matrices=False)
    strong = strength > weak
    lines, values = axes[:, strong].T, (right[strong] @ wanted) / strength[strong]
    solved, loose = values @ lines, 1 - np.square(lines).sum(axis=0)
    times = np.where(loose < LOOSE, np.rint(solved), np.nan)
    if (np.abs(solved - times) > NEAR).any() or (times < 0).any():
        raise ContradictionError
    if len(times) <= MOST_PROGRAMS:
        unknown = np.flatnonzero(np.isnan(times))
        times[[at for at in unknown if _is_absent(lines, values, int(at))]] = 0
    return times, np.cumsum(sizes)[:-1]


def _is_absent(lines: FloatArray, values: FloatArray, place: int) -> bool:
    """Whether no m ≥ 0 with lines · m = values has a half or more at a place."""
    aim = np.zeros(lines.shape[1])
    aim[place] = -1
    bounds = np.append(values + 2 * NEAR, 2 * NEAR - values)
    found = linprog(aim, np.concatenate([lines, -lines]), bounds)
    return bool(found.status == 0 and float(np.asarray(found.x)[place]) < 0.5)


def _equations(
    view: View, columns: Integers, seen: Integers, workers: int
) -> tuple[FloatArray, float]:
    """The counts and totals, in units of 1, of each column at the tasks seen; last row: of all.

    Also the singular value below which errors of rounding could move a solution by `NEAR`. At a
    small scale rows that may have an error are left out; at a large one errors are small.
    """
    theirs, scale = view.contributions, view.contributions.terms.scale
    numbers = np.array(
        [
            theirs.numbers(column, steps, seen)
            for column, steps in zip(columns, theirs.steps(columns), strict=True)
        ]
    )
    kept: npt.NDArray[np.bool_] = np.ones(len(theirs.totals), np.bool_)
    error = view.error
    if scale < LARGE_SCALE and not error:
        kept = np.logical_not(theirs.unsure(numbers).any(axis=(0, 2)))
    else:
        error += workers * (1 + theirs.slack) * math.sqrt(numbers[0].size)
    counts = np.concatenate([columns[:, seen], view.counts[None, seen]]).astype(np.float64)
    totals = np.concatenate([np.rint(numbers[:, kept]), theirs.totals[None, kept][:, :, seen]])
    rows = [each.reshape(len(each), -1) for each in (counts, totals / scale)]
    return np.concatenate(rows, axis=1), max(WEAK, error / scale / NEAR)
