"""A planned campaign: its size and its crowd, from which answers can be drawn.

The ability of workers is a plan's assumption, or estimated from a pilot.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from sottovoce.datasets.seeded_randomness import distinct
from sottovoce.errors import UsageError
from sottovoce.model import Codes, Domain, FloatArray, Grid, Kind, Reports
from sottovoce.model.guarantee import check_count

Assumption: TypeAlias = Literal["mixed", "able", "expert"]
"""Named crowds: many weak workers among able ones, all fairly able, all very able."""

ABLE_SHARE = 0.4
"""The share of able workers in a mixed crowd."""

MEAN_VARIANCE = 0.01
"""The mean variance of a mixed crowd's errors, as a share of the squared range."""

_ACCURACIES: dict[str, tuple[float, float]] = {"able": (0.55, 0.8), "expert": (0.85, 0.98)}

_DEVIATIONS: dict[str, tuple[float, float]] = {"able": (0.05, 0.1), "expert": (0.01, 0.05)}

MOST_LABELS, MOST_NUMBERS = 100_000, 20_000
"""Campaigns with more reports than this are simulated on a smaller one; numbers take longer."""

LARGEST = 1 << 31
"""Workers and tasks have 4-byte codes."""


@dataclass(frozen=True, slots=True)
class LabelAbility:
    """The accuracy of each worker: a named assumption, or accuracies to resample from.

    - mixed: 40 % of the workers U(0.8, 0.95), the others U(1/s - 0.05, 0.6), for s labels;
    - able: U(0.55, 0.8);
    - expert: U(0.85, 0.98).

    >>> LabelAbility((0.5, 0.75)).draw(np.random.default_rng(1), 3, labels=2).tolist()
    [0.75, 0.5, 0.5]
    """

    accuracies: Assumption | tuple[float, ...] = "mixed"

    def __post_init__(self) -> None:
        _check("accuracies", self.accuracies)

    def draw(self, rng: np.random.Generator, workers: int, labels: int) -> FloatArray:
        """The accuracy of each of `count` workers; the first ones do not depend on the count."""
        draws = rng.random((workers, 2))
        if not isinstance(self.accuracies, str):
            return _resampled(self.accuracies, draws[:, 0])
        if self.accuracies != "mixed":
            return _between(draws[:, 0], *_ACCURACIES[self.accuracies])
        able = draws[:, 1] < ABLE_SHARE
        return np.where(
            able, _between(draws[:, 0], 0.8, 0.95), _between(draws[:, 0], _weakest(labels), 0.6)
        )

    def sentence(self, labels: int) -> str:
        """The assumption in words."""
        if not isinstance(self.accuracies, str):
            return _resampled_words(self.accuracies, "accuracies")
        if self.accuracies != "mixed":
            low, high = _ACCURACIES[self.accuracies]
            return f"assumed crowd ({self.accuracies}): workers are right {_percent(low, high)}"
        return (
            "assumed crowd (mixed): 4 in 10 workers are right 80 to 95 % of the time, the others "
            f"{_percent(_weakest(labels), 0.6)}"
        )


@dataclass(frozen=True, slots=True)
class NumberAbility:
    """The standard deviation of each worker's errors, as a share of the range.

    By name, or as deviations to resample from:

    - mixed: variances ~ Exp with mean 1 % of the squared range (P3 §V-A with a range of 10);
    - able: deviations U(0.05, 0.1);
    - expert: deviations U(0.01, 0.05).
    """

    deviations: Assumption | tuple[float, ...] = "mixed"

    def __post_init__(self) -> None:
        _check("deviations", self.deviations)

    def draw(self, rng: np.random.Generator, workers: int) -> FloatArray:
        """Each worker's deviation, as a share of the range."""
        draws = rng.random(workers)
        if not isinstance(self.deviations, str):
            return _resampled(self.deviations, draws)
        if self.deviations == "mixed":
            return np.sqrt(-MEAN_VARIANCE * np.log1p(-draws))
        return _between(draws, *_DEVIATIONS[self.deviations])

    def sentence(self, labels: int = 0) -> str:
        """The assumption in words; there are no labels."""
        if not isinstance(self.deviations, str):
            return _resampled_words(self.deviations, "deviations")
        if self.deviations == "mixed":
            return (
                "assumed crowd (mixed): workers err with a variance that is exponential with mean "
                "1 % of the squared range"
            )
        low, high = _DEVIATIONS[self.deviations]
        return (
            f"assumed crowd ({self.deviations}): workers err with a standard deviation of "
            f"{100 * low:g} to {100 * high:g} % of the range"
        )


Ability: TypeAlias = LabelAbility | NumberAbility


def _check(field: str, given: str | tuple[float, ...]) -> None:
    if isinstance(given, str):
        if given not in get_args(Assumption):
            named = ", ".join(get_args(Assumption))
            raise UsageError(f"ability must be one of {named}, not {given!r}")
    elif not given or not all(0 <= value <= 1 for value in given):
        raise UsageError(f"{field} to resample from must be one or more numbers from 0 to 1")


def _between(draws: FloatArray, low: float, high: float) -> FloatArray:
    return low + (high - low) * draws


def _resampled(sample: tuple[float, ...], draws: FloatArray) -> FloatArray:
    return np.array(sample)[(draws * len(sample)).astype(np.int64)]


def _weakest(labels: int) -> float:
    return max(0.0, 1 / labels - 0.05)


def _percent(low: float, high: float) -> str:
    return f"{100 * low:.0f} to {100 * high:.0f} % of the time"


def _resampled_words(sample: tuple[float, ...], what: str) -> str:
    middle = f"{100 * float(np.median(sample)):.3g} %"
    of = "" if what == "accuracies" else " of the range"
    crowd = f"crowd as in the pilot: {what} of {len(sample):,} workers"
    return f"{crowd}, half of them below {middle}{of}"


@dataclass(frozen=True, slots=True)
class Scenario:
    """Every worker answers a uniformly random set of `answers_per_worker` tasks.

    Truths are uniform over the labels or the range, or resampled from `truths`: label codes or
    numbers. A wrong answer is uniform over the other labels; on ordinal labels it is at distance d
    with weight 2^-d. Numbers are the truth plus a Gaussian error, clipped to the range. With
    `hide_participation` every worker reports on every task.

    >>> scenario = Scenario(Domain.categorical("ab"), tasks=30, workers=10, answers_per_worker=6)
    >>> answers, truths = scenario.draw(7)
    >>> len(answers), len(truths)
    (60, 30)
    """

    domain: Domain
    tasks: int
    workers: int
    answers_per_worker: int
    ability: Assumption | Ability = "mixed"
    hide_participation: bool = False
    truths: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for field in ("tasks", "workers", "answers_per_worker"):
            size = getattr(self, field)
            check_count(field, size)
            if not 1 <= size < LARGEST:
                raise UsageError(f"{field} must be from 1 to 2^31 - 1, not {size:,}")
        if self.answers_per_worker > self.tasks:
            raise UsageError(
                f"a worker answers a task once: answers_per_worker can be at most the "
                f"{self.tasks:,} tasks, not {self.answers_per_worker:,}"
            )
        _check_domain(self.domain)
        wanted = NumberAbility if self.domain.is_numeric else LabelAbility
        if not isinstance(self.crowd, wanted):
            raise UsageError(f"{self.domain.kind} answers need a {wanted.__name__}")
        _check_truths(self.truths, self.domain)

    @property
    def crowd(self) -> Ability:
        """The ability of the workers."""
        if not isinstance(self.ability, str):
            return self.ability
        return NumberAbility(self.ability) if self.domain.is_numeric else LabelAbility(self.ability)

    @property
    def cells(self) -> int:
        """The number of reports."""
        each = self.tasks if self.hide_participation else self.answers_per_worker
        return self.workers * each

    @property
    def answers_per_task(self) -> float:
        """The mean number of answers to a task."""
        return self.workers * self.answers_per_worker / self.tasks

    def draw(self, seed: int) -> tuple[Reports, npt.NDArray[Any]]:
        """The answers of one such campaign, and its truths by task.

        Truths and abilities come from separate streams, so that campaigns of different sizes share
        them as far as possible.
        """
        truths = self.draw_truths(seed)
        _, for_crowd, for_cells, for_errors = _streams(seed)
        task = distinct(for_cells, self.workers, self.answers_per_worker, self.tasks).ravel()
        worker = np.repeat(np.arange(self.workers, dtype=np.int32), self.answers_per_worker)
        value = self._answers(truths[task], worker, for_crowd, for_errors)
        workers, tasks = np.arange(self.workers), np.arange(self.tasks)
        table = Reports.of(worker, task, value, domain=self.domain, workers=workers, tasks=tasks)
        return replace(table, simulated=True), truths

    def smaller(self, most: int | None = None) -> Scenario:
        """A campaign with at most about `most` reports, and as many of them per task.

        Workers and tasks shrink together. If that is not enough, or if participation is hidden and
        the share of answers among reports has to stay, tasks and answers per worker shrink.
        """
        if most is None:
            most = MOST_NUMBERS if self.domain.is_numeric else MOST_LABELS
        factor = min(1.0, most / self.cells)
        if self.hide_participation:
            return self._with_fewer_tasks(factor)
        factor = max(factor, self.answers_per_worker / self.tasks)
        tasks, workers = round(self.tasks * factor), max(1, round(self.workers * factor))
        fewer = replace(self, tasks=tasks, workers=workers)
        return fewer._with_fewer_tasks(min(1.0, most / fewer.cells))

    def _with_fewer_tasks(self, factor: float) -> Scenario:
        tasks = max(1, round(self.tasks * factor))
        answers = max(1, round(self.answers_per_worker * factor))
        return replace(self, tasks=tasks, answers_per_worker=min(answers, tasks))

    def draw_truths(self, seed: int) -> npt.NDArray[Any]:
        """The truths of that campaign: label codes, or numbers."""
        draws = _streams(seed)[0].random(self.tasks)
        if self.truths:
            known = np.array(self.truths)
            drawn = known[(draws * len(known)).astype(np.int64)]
            return drawn if self.domain.is_numeric else drawn.astype(np.int32)
        if not self.domain.is_numeric:
            return (draws * self.domain.size).astype(np.int32)
        return self._on_grid(self.domain.low + (self.domain.high - self.domain.low) * draws)

    def _answers(
        self,
        truths: npt.NDArray[Any],
        worker: Codes,
        for_crowd: np.random.Generator,
        for_errors: np.random.Generator,
    ) -> npt.NDArray[Any]:
        crowd = self.crowd
        if isinstance(crowd, NumberAbility):
            deviations = crowd.draw(for_crowd, self.workers)[worker]
            low, high = self.domain.low, self.domain.high
            errors = (high - low) * deviations * for_errors.standard_normal(len(worker))
            return self._on_grid(np.clip(truths + errors, low, high))
        draws = for_errors.random((len(worker), 2))
        right = draws[:, 0] < crowd.draw(for_crowd, self.workers, self.domain.size)[worker]
        return np.where(right, truths, _wrong(truths, self.domain, draws[:, 1])).astype(np.int32)

    def _on_grid(self, numbers: FloatArray) -> FloatArray:
        if self.domain.step is None:
            return numbers
        grid = Grid.over(self.domain)
        return np.clip(grid.values(grid.codes(numbers)), self.domain.low, self.domain.high)


def _streams(seed: int) -> list[np.random.Generator]:
    """Streams for truths, crowd, cells and errors."""
    return [np.random.default_rng(each) for each in np.random.SeedSequence(seed).spawn(4)]


def _wrong(truths: Codes, domain: Domain, draws: FloatArray) -> Codes:
    """A different label from each truth, by a draw from [0, 1)."""
    labels = domain.size
    if domain.kind is Kind.CATEGORICAL:
        shift = 1 + (draws * (labels - 1)).astype(np.int32)
        return np.asarray((truths + shift) % np.int32(labels), np.int32)
    distance = np.abs(np.subtract.outer(np.arange(labels), np.arange(labels)))
    weights = np.where(distance > 0, 0.5**distance, 0.0)
    shares = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    shares[:, -1] = 1.0
    # Row t of the shares lies in [t, t + 1], so that one search finds all positions.
    places = np.searchsorted((shares + np.arange(labels)[:, None]).ravel(), truths + draws, "right")
    return np.asarray(np.minimum(places - truths * labels, labels - 1), np.int32)


def _check_domain(domain: Domain) -> None:
    if domain.is_numeric:
        Grid.over(domain)  # refuses numbers without a range, and steps that do not divide it
    elif domain.size < 2:
        raise UsageError(f"a plan needs two labels or more, not {domain.size}")


def _check_truths(truths: tuple[float, ...], domain: Domain) -> None:
    low, high = (domain.low, domain.high) if domain.is_numeric else (0, domain.size - 1)
    if not all(math.isfinite(truth) and low <= truth <= high for truth in truths):
        raise UsageError(f"truths to resample from must lie from {low:g} to {high:g}")
