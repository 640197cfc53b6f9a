"""Agreement of reports beyond what each worker's own habits explain.

A report is the labels that it names, mostly one, or a number. Its residual is its difference from
what its worker reports on average.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import ClassVar, Self

import numpy as np

from sottovoce.inference.steps.arithmetic import compiled, grouped_sums, segment_sums, total
from sottovoce.inference.steps.label_sets import Sets, members_of
from sottovoce.model import Codes, FloatArray, Part, StartsArray, labels_of, numbers_of
from sottovoce.seams import Kernel


@dataclass(frozen=True, slots=True)
class WorkerLabels:
    """How often each worker named each label, then how many of its reports named any.

    Opens those counts.
    """

    workers: int
    labels: int
    sets: Sets

    @property
    def shape(self) -> tuple[int, ...]:
        return self.workers, self.labels + 1

    def __call__(self, part: Part) -> FloatArray:
        part = labels_of(part)
        itself = np.arange(self.labels + 1)  # what a label names if answers are clean
        if np.array_equal(self.sets.starts, itself) and (self.sets.members == itself[:-1]).all():
            named = np.bincount(part.report, minlength=self.workers * self.labels)
            named = named.reshape(self.workers, -1)
            return np.column_stack([named, named.sum(axis=1)]).astype(np.float64)
        worker, symbol = np.divmod(part.report.astype(np.int64), part.labels)
        rows, member = members_of(part, self.sets)
        named = np.bincount(
            worker[rows] * self.labels + member, minlength=self.workers * self.labels
        )
        any_named = np.diff(self.sets.starts)[symbol] > 0
        reports = np.bincount(worker[any_named], minlength=self.workers)
        return np.column_stack([named.reshape(self.workers, -1), reports]).astype(np.float64)

    def among(self, workers: Codes, count: int) -> Self:
        return replace(self, workers=len(workers))

    def kernel(self) -> None:
        return None


@dataclass(frozen=True, slots=True)
class WorkerMoments:
    """Rows (n, Σ(v − centre), Σ(v − centre)²) for each worker. Opens those sums."""

    workers: int
    centre: float

    @property
    def shape(self) -> tuple[int, ...]:
        return self.workers, 3

    def __call__(self, part: Part) -> FloatArray:
        part = numbers_of(part)
        offset = part.values - self.centre
        powers = (np.ones_like(offset), offset, np.square(offset))
        sums = [grouped_sums(part.reporters, power, self.workers) for power in powers]
        return np.stack(sums, axis=1)

    def among(self, workers: Codes, count: int) -> Self:
        return replace(self, workers=len(workers))

    def kernel(self) -> None:
        return None


@dataclass(frozen=True, slots=True)
class LabelResiduals:
    """Σ e·e' over pairs of reports to one task, their number, and the number of such tasks.

    e = the labels a report names, as 0 and 1, minus `habits` of its worker. Reports that name no
    label are left out. Opens three sums over all workers.
    """

    habits: FloatArray
    sets: Sets

    shape: ClassVar[tuple[int, ...]] = (3,)

    def __call__(self, part: Part) -> FloatArray:
        part = labels_of(part)
        worker, symbol = np.divmod(part.report.astype(np.int64), part.labels)
        sizes = np.diff(self.sets.starts)
        named = (sizes > 0)[symbol]
        owner = np.repeat(np.arange(len(sizes)), sizes)
        both, own = np.zeros(part.tasks), np.zeros(len(symbol))
        for label in range(self.habits.shape[1]):
            held = np.zeros(len(sizes))
            held[owner[self.sets.members == label]] = 1.0
            residual = np.where(named, held[symbol] - self.habits[worker, label], 0.0)
            both += np.square(segment_sums(residual, part.starts))
            own += np.square(residual)
        return _pair_sums(both - segment_sums(own, part.starts), named, part.starts)

    def kernel(self) -> Kernel:
        run = _residuals_kernel()

        def add(part: Part, out: FloatArray) -> None:
            part = labels_of(part)
            sets = self.sets.starts, self.sets.members
            run(part.starts, part.coded, part.labels, *sets, self.habits, out)

        return add


@dataclass(frozen=True, slots=True)
class NumberResiduals:
    """The same sums for numbers: e = (v − mean) / deviation of the worker; then Σ e²."""

    means: FloatArray
    deviations: FloatArray

    shape: ClassVar[tuple[int, ...]] = (4,)

    def __call__(self, part: Part) -> FloatArray:
        part = numbers_of(part)
        residual = (part.values - self.means[part.reporters]) / self.deviations[part.reporters]
        own = np.square(residual)
        twice = np.square(segment_sums(residual, part.starts)) - segment_sums(own, part.starts)
        return np.append(_pair_sums(twice, np.ones(len(own), bool), part.starts), total(own))

    def kernel(self) -> None:
        return None


def _pair_sums(twice: FloatArray, counted: np.ndarray, starts: StartsArray) -> FloatArray:
    count = segment_sums(counted.astype(np.float64), starts)
    compared = count > 1
    pairs = count * (count - 1) / 2
    return np.array([total(np.where(compared, twice, 0.0)) / 2, pairs.sum(), compared.sum()])


@cache
def _residuals_kernel() -> Callable[..., None]:
    @compiled
    def run(starts, coded, symbols, set_starts, members, habits, out):  # type: ignore[no-untyped-def]
        labels = habits.shape[1]
        sums = np.empty(labels, np.float64)
        for task in range(len(starts) - 1):
            for label in range(labels):
                sums[label] = 0.0
            own, count = 0.0, 0
            for i in range(starts[task], starts[task + 1]):
                worker = coded[i] // symbols
                symbol = coded[i] - worker * symbols
                first, last = set_starts[symbol], set_starts[symbol + 1]
                if first == last:
                    continue
                count += 1
                own += last - first
                for label in range(labels):
                    habit = habits[worker, label]
                    sums[label] -= habit
                    own += habit * habit
                for j in range(first, last):
                    sums[members[j]] += 1.0
                    own -= 2.0 * habits[worker, members[j]]
            if count > 1:
                both = 0.0
                for label in range(labels):
                    both += sums[label] * sums[label]
                out[0] += (both - own) / 2
                out[1] += count * (count - 1) / 2
                out[2] += 1.0

    return run
