"""Locations of tasks under Student-t errors, workers' residuals from them, and their likelihood."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy  # its parts are imported on first use

from sottovoce.inference.steps.arithmetic import compiled, grouped_sums, segment_sums, total
from sottovoce.inference.steps.means import centred
from sottovoce.inference.steps.medians import medians_of
from sottovoce.model import Codes, FloatArray, NumberPart, Part, numbers_of
from sottovoce.seams import Kernel

INNER = 20
"""The most rounds for the location of a task."""
SETTLED = 1e-6
"""A location that moves by less than this share of its error has converged."""


@dataclass(frozen=True, slots=True)
class Scale:
    """y = (v − centre) / unit, or with `log` (ln v − centre) / unit."""

    log: bool
    centre: float = 0.0
    unit: float = 1.0

    def standard(self, values: FloatArray) -> FloatArray:
        """Numbers on this scale."""
        return ((np.log(values) if self.log else values) - self.centre) / self.unit

    def original(self, locations: FloatArray) -> FloatArray:
        """The numbers that locations on this scale stand for."""
        found = self.centre + self.unit * locations
        return np.exp(found) if self.log else found


@dataclass(frozen=True, slots=True)
class ScaleSums:
    """Sums over answers: 1, y, |d|, √|d|, ln v, how many v ≤ 0; answers compared, tied; tasks.

    y is v, or with `log` ln v, for tables of positive numbers; d is its offset from its task's
    mean. Answers are compared if their task has others, and tied if one of these is equal. Opens
    these sums.
    """

    log: bool

    shape: ClassVar[tuple[int, ...]] = (9,)

    def __call__(self, part: Part) -> FloatArray:
        part = numbers_of(part)
        counts, positive = np.diff(part.starts), part.values > 0
        logs = np.log(np.where(positive, part.values, 1.0))
        if self.log:
            part = NumberPart(0, part.starts - part.starts[0], part.reporters, logs)
        away = np.abs(centred(part)[1])
        sums = [total(each) for each in (part.values, away, np.sqrt(away), logs)]
        compared = counts[counts > 1].sum(), _tied(part), np.count_nonzero(counts)
        return np.array([len(logs), *sums, np.count_nonzero(~positive), *compared], np.float64)

    def kernel(self) -> None:
        return None


def _tied(part: NumberPart) -> int:
    """How many answers equal another answer to their task."""
    order = np.lexsort((part.values, part.task))
    values, task = part.values[order], part.task[order]
    same = (values[1:] == values[:-1]) & (task[1:] == task[:-1])
    return int(np.count_nonzero(np.append(same, False) | np.append(False, same)))


@dataclass(frozen=True, slots=True)
class Tails:
    """Errors of answers: Student t with `freedom` degrees, in units of each worker's deviation.

    `precision` is 1 / σₖ² on the `scale`. A task's location is clamped to `known`, by its place,
    where that is not NaN.
    """

    precision: FloatArray
    freedom: float
    scale: Scale
    known: FloatArray | None = None

    def among(self, workers: Codes) -> Self:
        """The same for a subset of the workers."""
        return replace(self, precision=self.precision[workers])

    def fixed(self, part: NumberPart) -> FloatArray:
        """The known locations of a part's tasks, NaN where unknown."""
        if self.known is None:
            return np.full(part.tasks, np.nan)
        return self.scale.standard(self.known[part.first : part.first + part.tasks])


class _Located(NamedTuple):
    """Tasks' locations and variances; residuals of answers, their squares, and their weights."""

    location: FloatArray
    variance: FloatArray
    residual: FloatArray
    squares: FloatArray
    weight: FloatArray


def _located(part: NumberPart, tails: Tails) -> _Located:
    """Iteratively reweighted means, from the median.

    uᵢ = (ν + 1) / (ν + ((yᵢ − x)² + V) / σᵢ²),   x = Σ uᵢ yᵢ/σᵢ² · V,   V = 1 / Σ uᵢ/σᵢ²

    A task's location is final once it settles, whatever the others of the part do.
    """
    answers, task = tails.scale.standard(part.values), part.task
    precision, inverse = tails.precision[part.reporters], 1 / tails.freedom
    filled, fixed = np.diff(part.starts) > 0, tails.fixed(part)
    start = medians_of(part, np.ones(len(tails.precision)))
    location = tails.scale.standard(np.where(filled, start, 1.0))
    location = np.where(filled, np.where(np.isnan(fixed), location, fixed), 0.0)
    free = np.isnan(fixed) & filled
    variance, moving = np.zeros(part.tasks), free
    for _ in range(INNER):
        residual = answers - location[task]
        squares = np.square(residual) + variance[task]
        weight = (1 + inverse) / (1 + inverse * squares * precision)
        pull = weight * precision
        mass = np.where(filled, segment_sums(pull, part.starts), 1.0)
        moved = np.where(moving, segment_sums(pull * residual, part.starts) / mass, 0.0)
        location, variance = location + moved, np.where(moving, 1 / mass, variance)
        moving = moving & (np.abs(moved) > SETTLED * np.sqrt(variance))
        if not moving.any():
            break
    residual = answers - location[task]
    squares = np.square(residual) + variance[task]
    weight = (1 + inverse) / (1 + inverse * squares * precision)
    return _Located(location, variance, residual, squares, weight)


@dataclass(frozen=True, slots=True)
class TailSums:
    """Σ u ((y − x)² + V) of each worker; of all tasks (Σ x, Σ x², Σ V, Σ u (y − x)²/σ², Σ u/σ²).

    Opens each worker's distance from the crowd, and the truths' mean and spread.
    """

    tails: Tails

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.tails.precision) + 5,)

    def __call__(self, part: Part) -> FloatArray:
        part = numbers_of(part)
        found = _located(part, self.tails)
        pull = found.weight * self.tails.precision[part.reporters]
        filled = np.diff(part.starts) > 0
        location, variance = found.location[filled], found.variance[filled]
        columns = location, np.square(location), variance, pull * np.square(found.residual), pull
        size = len(self.tails.precision)
        workers = grouped_sums(part.reporters, found.weight * found.squares, size)
        return np.concatenate([workers, [total(column) for column in columns]])

    def among(self, workers: Codes, count: int) -> Self:
        return replace(self, tails=self.tails.among(workers))

    def kernel(self) -> Kernel:
        run = _tails_kernel()

        def add(part: Part, out: FloatArray) -> None:
            part = numbers_of(part)
            run(*_arguments(part, self.tails), np.empty((0, 4)), out)

        return add


@dataclass(frozen=True, slots=True)
class TailTruths:
    """Each task's (location, its variance, Σ u (y − x)²/σ² / Σ u/σ², number of answers)."""

    tails: Tails

    shape: ClassVar[tuple[int, ...]] = (4,)

    def __call__(self, part: Part) -> FloatArray:
        part = numbers_of(part)
        found, counts = _located(part, self.tails), np.diff(part.starts)
        pull = found.weight * self.tails.precision[part.reporters]
        mass = np.where(counts > 0, segment_sums(pull, part.starts), 1.0)
        spread = segment_sums(pull * np.square(found.residual), part.starts) / mass
        return np.stack([found.location, found.variance, spread, counts], axis=1)

    def kernel(self) -> Kernel:
        run = _tails_kernel()

        def fill(part: Part, out: FloatArray) -> None:
            part = numbers_of(part)
            run(*_arguments(part, self.tails), out, np.empty(0))

        return fill


@dataclass(frozen=True, slots=True)
class TailLikelihood:
    """(Σ ln density of y, Σ ln P(y ± width), Σⱼ ½ ln 2πVⱼ of either), at the tasks' locations.

    The last two are the volumes of the locations' posteriors (Laplace); if answers are known up to
    ± width only, posteriors are wider. Opens these four numbers.
    """

    tails: Tails
    width: float

    shape: ClassVar[tuple[int, ...]] = (4,)

    def __call__(self, part: Part) -> FloatArray:
        part = numbers_of(part)
        found, freedom = _located(part, self.tails), self.tails.freedom
        precision = self.tails.precision[part.reporters]
        root, away = np.sqrt(precision), np.abs(found.residual)
        density = _log_density(away * root, freedom) + np.log(root)
        tail = _lower_tail(freedom)
        mass = tail((self.width - away) * root) - tail(-(self.width + away) * root)
        cells = np.log(np.maximum(mass, np.finfo(float).tiny))
        spread = (1 + 2 / (freedom + 1)) / precision + self.width**2 / 3
        known = segment_sums(1 / spread, part.starts)
        free = found.variance > 0
        volumes = np.log(2 * np.pi * found.variance[free]) / 2, np.log(2 * np.pi / known[free]) / 2
        return np.array([total(each) for each in (density, cells, *volumes)])

    def kernel(self) -> None:
        return None


def _log_density(away: FloatArray, freedom: float) -> FloatArray:
    """ln of Student's density at the deviations `away`; the normal one for infinite freedom."""
    if np.isinf(freedom):
        return np.asarray(-(np.square(away) + np.log(2 * np.pi)) / 2)
    half, gammaln = freedom / 2, scipy.special.gammaln
    peak = gammaln(half + 0.5) - gammaln(half) - np.log(np.pi * freedom) / 2
    return np.asarray(peak - (half + 0.5) * np.log1p(np.square(away) / freedom))


def _lower_tail(freedom: float) -> Callable[[FloatArray], FloatArray]:
    if np.isinf(freedom):
        return lambda at: np.asarray(scipy.special.ndtr(at))
    return lambda at: np.asarray(scipy.special.stdtr(freedom, at))


def _arguments(part: NumberPart, tails: Tails) -> tuple[Any, ...]:
    scale = tails.scale
    numbers = 1 / tails.freedom, scale.log, scale.centre, scale.unit
    return part.starts, part.worker, part.value, tails.fixed(part), tails.precision, *numbers


@cache
def _tails_kernel() -> Callable[..., None]:
    """The compiled version of `_located`, then each task's row, or the sums."""

    @compiled
    def run(starts, workers, values, fixed, precision, inverse, log, centre, unit, rows, sums):  # type: ignore[no-untyped-def]
        longest = 0
        for task in range(len(starts) - 1):
            longest = max(longest, starts[task + 1] - starts[task])
        answers = np.empty(longest, np.float64)
        for task in range(len(starts) - 1):
            first, last = starts[task], starts[task + 1]
            if first == last:
                if len(rows) > 0:
                    rows[task] = 0.0
                continue
            for i in range(first, last):
                value = np.log(values[i]) if log else values[i]
                answers[i - first] = (value - centre) / unit
            free = np.isnan(fixed[task])
            x, variance = fixed[task], 0.0
            if free:
                x = np.median(values[first:last])
                x = ((np.log(x) if log else x) - centre) / unit
            for _ in range(INNER):
                mass, moved = 0.0, 0.0
                for i in range(first, last):
                    held = precision[workers[i]]
                    residual = answers[i - first] - x
                    weight = 1 + inverse * (residual * residual + variance) * held
                    pull = (1 + inverse) / weight * held
                    mass += pull
                    moved += pull * residual
                if not free:
                    break
                moved /= mass
                x += moved
                variance = 1 / mass
                if abs(moved) <= SETTLED * np.sqrt(variance):
                    break
            mass, spread = 0.0, 0.0
            for i in range(first, last):
                held = precision[workers[i]]
                residual = answers[i - first] - x
                squares = residual * residual + variance
                weight = (1 + inverse) / (1 + inverse * squares * held)
                mass += weight * held
                spread += weight * held * residual * residual
                if len(sums) > 0:
                    sums[workers[i]] += weight * squares
            if len(sums) > 0:
                end = len(precision)
                sums[end] += x
                sums[end + 1] += x * x
                sums[end + 2] += variance
                sums[end + 3] += spread
                sums[end + 4] += mass
            if len(rows) > 0:
                rows[task, 0], rows[task, 1] = x, variance
                rows[task, 2], rows[task, 3] = spread / mass, last - first

    return run
