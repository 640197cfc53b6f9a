"""Crowds that are assumed: named ones, with hard tasks and shared errors, and given abilities.

The mixed crowd has the parameters of public datasets with gold (bluebirds, rte, web, duchenne and
dog for labels; emotion, peer grades and calories for numbers); abler crowds are assumptions. Crowds
differ, so every simulated campaign draws its parameters from a range, and a forecast's band covers
the range.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from sottovoce.datasets.seeded_randomness import distinct
from sottovoce.errors import UsageError
from sottovoce.model import Codes, Domain, FloatArray, Grid, Kind, Reports

Assumption: TypeAlias = Literal["mixed", "able", "expert"]
"""Named crowds: as public datasets have them, more able ones, experts."""

Range: TypeAlias = tuple[float, float]

CLASS_SHARES = 8.0
"""Class shares are drawn from a Dirichlet law with this parameter: of two labels, .5 ± .12."""

LEAST, MOST = 0.02, 0.98
"""Bounds of the probability that an answer is right."""


class Design(NamedTuple):
    """The size of a campaign: each worker answers `answers_per_worker` of the tasks."""

    domain: Domain
    tasks: int
    workers: int
    answers_per_worker: int

    @property
    def answers_per_task(self) -> float:
        """The mean number of answers to a task."""
        return self.workers * self.answers_per_worker / self.tasks


class Crowd(Protocol):
    """Workers and tasks from which the answers of a campaign can be drawn."""

    def draw(self, design: Design, seed: int) -> tuple[Reports, npt.NDArray[Any]]:
        """Answers, and truths by task, of one campaign; the same for the same seed."""
        ...

    def suits(self, domain: Domain) -> bool:
        """Whether its answers are of this domain."""
        ...

    def sentence(self, domain: Domain) -> str:
        """The assumption in words."""
        ...


class LabelTraits(NamedTuple):
    """Ranges of a named crowd: how often answers are right, and how that varies.

    `beyond_chance` is g for answers that are right with probability 1/s + g (1 - 1/s) in the mean,
    for s labels. `workers` and `tasks` are standard deviations of the probability of a right
    answer, between workers and between tasks. `trapped` is the share of wrong answers to a task
    that give the same wrong label.
    """

    beyond_chance: Range
    workers: Range
    tasks: Range
    trapped: Range = (0.3, 0.95)

    def right(self, labels: int) -> Range:
        """How often answers are right in the mean."""
        low, high = (1 / labels + gain * (1 - 1 / labels) for gain in self.beyond_chance)
        return low, high


class NumberTraits(NamedTuple):
    """Ranges of a named crowd, as shares of the range of answers.

    Standard deviations of an answer's own error, of an error that all answers to a task share, of
    a worker's bias, and of the truths. `own` is of each worker; None stands for variances that are
    exponential with mean 1 %.
    """

    own: Range | None
    shared: Range
    bias: Range
    truths: Range = (0.07, 0.15)


LABELS: Mapping[str, LabelTraits] = {
    "mixed": LabelTraits((0.2, 0.7), (0.07, 0.17), (0.09, 0.2)),
    "able": LabelTraits((0.5, 0.8), (0.05, 0.15), (0.08, 0.15)),
    "expert": LabelTraits((0.75, 0.95), (0.02, 0.06), (0.03, 0.08)),
}
NUMBERS: Mapping[str, NumberTraits] = {
    "mixed": NumberTraits(None, (0.03, 0.08), (0.03, 0.07)),
    "able": NumberTraits((0.05, 0.1), (0.02, 0.05), (0.01, 0.04)),
    "expert": NumberTraits((0.01, 0.05), (0.005, 0.02), (0.005, 0.02)),
}
MEAN_VARIANCE = 0.01


@dataclass(frozen=True, slots=True)
class LabelAbility:
    """A named crowd, or accuracies of workers who err independently, to resample from.

    In a named crowd worker w is right on task i with probability m + a_w + d_i, bounded: m, and the
    deviations of the normal a and d, are drawn for each campaign. A wrong answer is the task's own
    wrong label in a share of cases, else any other; on ordinal labels one at distance d has weight
    2^-d.
    """

    accuracies: Assumption | tuple[float, ...] = "mixed"

    def __post_init__(self) -> None:
        _check("accuracies", self.accuracies)

    def suits(self, domain: Domain) -> bool:
        """Whether answers are labels."""
        return not domain.is_numeric

    def draw(self, design: Design, seed: int) -> tuple[Reports, npt.NDArray[Any]]:
        """Answers and truths of one campaign."""
        domain = design.domain
        for_truths, for_crowd, for_cells, for_errors = _streams(seed)
        shares = for_truths.dirichlet(np.full(domain.size, CLASS_SHARES))
        if not isinstance(self.accuracies, str):
            shares = np.full(domain.size, 1 / domain.size)
        truths = _placed(shares, for_truths.random(design.tasks))
        trap = _wrong(truths, domain, for_truths.random(design.tasks))
        worker, task = _cells(design, for_cells)
        right, trapped = self._chances(design, worker, task, for_crowd, for_truths)
        draws = for_errors.random((len(worker), 3))
        other = _wrong(truths[task], domain, draws[:, 1])
        wrong = np.where(draws[:, 2] < trapped, trap[task], other)
        value = np.where(draws[:, 0] < right, truths[task], wrong).astype(np.int32)
        return _table(design, worker, task, value), truths

    def _chances(
        self,
        design: Design,
        worker: Codes,
        task: Codes,
        for_crowd: np.random.Generator,
        for_tasks: np.random.Generator,
    ) -> tuple[FloatArray, float]:
        """The probability that each answer is right, and that a wrong one is the trap."""
        if not isinstance(self.accuracies, str):
            known = np.array(self.accuracies)
            return known[for_crowd.integers(len(known), size=design.workers)][worker], 0.0
        traits = LABELS[self.accuracies]
        right = for_crowd.uniform(*traits.right(design.domain.size))
        of_workers, of_tasks, trapped = (for_crowd.uniform(*each) for each in traits[1:])
        ability = of_workers * for_crowd.standard_normal(design.workers)
        ease = of_tasks * for_tasks.standard_normal(design.tasks)
        return np.clip(right + ability[worker] + ease[task], LEAST, MOST), trapped

    def sentence(self, domain: Domain) -> str:
        """The assumption in words."""
        if not isinstance(self.accuracies, str):
            return _resampled_words(self.accuracies, "accuracies")
        traits = LABELS[self.accuracies]
        return (
            f"assumed crowd ({self.accuracies}): answers are right "
            f"{_percent(traits.right(domain.size))} of the "
            f"time, ± {_percent(traits.workers)} between workers and ± {_percent(traits.tasks)} "
            f"between tasks; {_percent(traits.trapped)} of the wrong answers to a task agree; "
            f"{_source(self.accuracies)}, drawn for every simulated campaign"
        )


@dataclass(frozen=True, slots=True)
class NumberAbility:
    """A named crowd, or deviations of workers who err independently, to resample from.

    In a named crowd an answer is truth + error of the task + bias of the worker + own error, all
    normal, cut to the range. Deviations are shares of the range.
    """

    deviations: Assumption | tuple[float, ...] = "mixed"

    def __post_init__(self) -> None:
        _check("deviations", self.deviations)

    def suits(self, domain: Domain) -> bool:
        """Whether answers are numbers."""
        return domain.is_numeric

    def draw(self, design: Design, seed: int) -> tuple[Reports, npt.NDArray[Any]]:
        """Answers and truths of one campaign."""
        for_truths, for_crowd, for_cells, for_errors = _streams(seed)
        worker, task = _cells(design, for_cells)
        if isinstance(self.deviations, str):
            traits = NUMBERS[self.deviations]
            spread, shared, bias = (
                for_crowd.uniform(*each) for each in (traits.truths, traits.shared, traits.bias)
            )
            middle = for_truths.uniform(2 * spread, 1 - 2 * spread)
            truths = np.clip(middle + spread * for_truths.standard_normal(design.tasks), 0, 1)
            of_task = shared * for_truths.standard_normal(design.tasks)
            of_worker = bias * for_crowd.standard_normal(design.workers)
            own = _own(traits, for_crowd.random(design.workers))
        else:
            truths, known = for_truths.random(design.tasks), np.array(self.deviations)
            of_task, of_worker = np.zeros(design.tasks), np.zeros(design.workers)
            own = known[for_crowd.integers(len(known), size=design.workers)]
        errors = of_task[task] + of_worker[worker]
        errors = errors + own[worker] * for_errors.standard_normal(len(worker))
        low, span = design.domain.low, design.domain.high - design.domain.low
        truths = on_grid(low + span * truths, design.domain)
        value = on_grid(truths[task] + span * errors, design.domain)
        return _table(design, worker, task, value), truths

    def sentence(self, domain: Domain) -> str:
        """The assumption in words."""
        if not isinstance(self.deviations, str):
            return _resampled_words(self.deviations, "deviations")
        traits = NUMBERS[self.deviations]
        own = "10 %" if traits.own is None else _percent(traits.own)
        return (
            f"assumed crowd ({self.deviations}): answers err by {own} of the range each, by "
            f"{_percent(traits.shared)} together on a task, and by {_percent(traits.bias)} by a "
            f"worker's bias; truths spread by {_percent(traits.truths)}; "
            f"{_source(self.deviations)}, drawn for every simulated campaign"
        )


def named_crowd(name: str, domain: Domain) -> Crowd:
    """The crowd of this name for answers of a domain."""
    if domain.is_numeric:
        return NumberAbility(name)  # type: ignore[arg-type]  # checked there
    return LabelAbility(name)  # type: ignore[arg-type]


def on_grid(numbers: FloatArray, domain: Domain) -> FloatArray:
    """Numbers moved into the range of a domain, and onto its steps."""
    numbers = np.clip(numbers, domain.low, domain.high)
    if domain.step is None:
        return numbers
    grid = Grid.over(domain)
    return np.clip(grid.values(grid.codes(numbers)), domain.low, domain.high)


def _check(field: str, given: str | tuple[float, ...]) -> None:
    if isinstance(given, str):
        if given not in get_args(Assumption):
            named = ", ".join(get_args(Assumption))
            raise UsageError(f"ability must be one of {named}, not {given!r}")
    elif not given or not all(0 <= value <= 1 for value in given):
        raise UsageError(f"{field} to resample from must be one or more numbers from 0 to 1")


def _streams(seed: int) -> list[np.random.Generator]:
    """Streams for truths, crowd, cells and errors."""
    return [np.random.default_rng(each) for each in np.random.SeedSequence(seed).spawn(4)]


def _cells(design: Design, rng: np.random.Generator) -> tuple[Codes, Codes]:
    """The worker and the task of each answer: every worker answers random tasks."""
    each = design.answers_per_worker
    task = distinct(rng, design.workers, each, design.tasks).ravel()
    return np.repeat(np.arange(design.workers, dtype=np.int32), each), task


def _table(design: Design, worker: Codes, task: Codes, value: npt.NDArray[Any]) -> Reports:
    workers, tasks = np.arange(design.workers), np.arange(design.tasks)
    table = Reports.of(worker, task, value, domain=design.domain, workers=workers, tasks=tasks)
    return replace(table, simulated=True)


def _own(traits: NumberTraits, draws: FloatArray) -> FloatArray:
    if traits.own is None:
        return np.sqrt(-MEAN_VARIANCE * np.log1p(-draws))
    low, high = traits.own
    return low + (high - low) * draws


def _placed(shares: FloatArray, draws: FloatArray) -> Codes:
    ends = np.cumsum(shares)
    return np.minimum(np.searchsorted(ends, draws, "right"), len(shares) - 1).astype(np.int32)


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


def _source(name: str) -> str:
    """The origin of a named crowd's ranges."""
    if name == "mixed":
        return "as public datasets have it"
    return "an assumption, abler than public datasets have it"


def _percent(ends: Range) -> str:
    return f"{100 * ends[0]:.3g} to {100 * ends[1]:.3g} %"


def _resampled_words(sample: tuple[float, ...], what: str) -> str:
    middle = f"{100 * float(np.median(sample)):.3g} %"
    of = "" if what == "accuracies" else " of the range"
    return f"workers err independently: {len(sample):,} {what}, half of them below {middle}{of}"
