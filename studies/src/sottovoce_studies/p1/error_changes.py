"""Changes of the error under one and two layers: P1's tables and curves, compared with ours.

The rows give P1's nominal epsilon and the true guarantee of two layers (Thms. 6.3 and 6.4).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sottovoce.figures import Chart, Level, Series
from sottovoce.model import Domain, Reports, Unit
from sottovoce.planning.trials import Spread
from sottovoce_studies.cells import Cell
from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.crowds import Source
from sottovoce_studies.p1.layers import OURS, PUBLISHED, errors_at, most_answers, two_layer
from sottovoce_studies.paper_tables import BAND, compared_row, curve, printed
from sottovoce_studies.study import Outcome, Row, Size

__all__ = [
    "EPSILONS",
    "EQUAL",
    "PAPER_TRIALS",
    "Answered",
    "Grid",
    "Seen",
    "absent",
    "chart",
    "lower_at",
    "rows",
]


ABSENT = "the dataset is not in the cache"

PAPER_TRIALS = 100
"""P1 §7.1.4."""

EPSILONS: Mapping[Size, tuple[float, ...]] = {
    "quick": (1.0, 0.5, 0.0),
    "full": printed("P1 Table 3").column("epsilon"),
}

EQUAL = "equal TD"
NAMES: Mapping[str, str] = {
    "equal TD": "one-layer TD, equal guarantee",
    "equal aware": "one-layer aware, equal guarantee",
}
"""Names in rows and curves for the short names of a trial."""

_AXES = ("epsilon per answer, nominal", "change of the error rate")

_BINARY = Domain.categorical((0, 1))


@dataclass(frozen=True, slots=True)
class Seen:
    """The trials at one epsilon."""

    trials: tuple[Mapping[str, float], ...]

    def change(self, method: str) -> Spread:
        """P1's measure: the error on reports minus that of the same method on the answers."""
        return Spread.of(self._changes(method))

    def error(self, method: str) -> Spread:
        """The error to the truth."""
        return Spread.of([trial[method] for trial in self.trials])

    def apart(self, first: str, second: str) -> Spread:
        """The excess of the first method's change over the second's, by trial."""
        pairs = zip(self._changes(first), self._changes(second), strict=True)
        return Spread.of([one - other for one, other in pairs])

    def errors_off(self, method: str, figure: float) -> float:
        """The distance of a figure of the paper's 100 trials from our mean, in standard errors.

        Both means vary over their trials; the paper's trials are assumed to have the same spread as
        ours.
        """
        ours = self.change(method)
        both = self.deviation(method) * math.sqrt(1 / ours.trials + 1 / PAPER_TRIALS)
        return abs(ours.mean - figure) / both

    def deviation(self, method: str) -> float:
        """The standard deviation of one trial's change."""
        ours = self.change(method)
        return ours.standard_error * math.sqrt(ours.trials)

    def off_symmetry(self, figure: float, clean: float) -> float:
        """Distance of a change at epsilon 0 from 1/2 - clean error, in errors of 100 trials.

        U(0, 1) draws p as often as 1 - p, so reports of two labels and flipped reports have the
        same distribution. A method that treats labels alike, with ties broken at random, then finds
        each truth as often as its opposite: its expected error is 1/2 (proven). The spread is that
        of the errors of two-layer TD in our trials, because the paper's clean error is one number.
        """
        error = self.error("two-layer TD")
        hundred = error.standard_error * math.sqrt(error.trials / PAPER_TRIALS)
        return abs(figure - (0.5 - clean)) / hundred

    def _changes(self, method: str) -> list[float]:
        # The best constant uses no reports: its change is relative to P1's method.
        reader = "TD" if method == CONSTANT else method.split()[-1]
        return [trial[method] - trial[f"clean {reader}"] for trial in self.trials]


@dataclass(frozen=True, slots=True)
class Grid:
    """Every trial at every epsilon on one source."""

    source: Source
    epsilons: tuple[float, ...]
    trials: int

    def cells(self, seed: int) -> list[Cell]:
        """One cell per trial and epsilon."""
        return [
            Cell(errors_at, (self.source, epsilon, trial, seed))
            for epsilon in self.epsilons
            for trial in range(self.trials)
        ]

    def seen(self, results: Sequence[Any]) -> dict[float, Seen]:
        """The results of the cells, by epsilon."""
        return {
            epsilon: Seen(tuple(results[place * self.trials : (place + 1) * self.trials]))
            for place, epsilon in enumerate(self.epsilons)
        }


def lower_at(
    seen: Mapping[float, Seen], first: str, second: str, errors: float = BAND
) -> tuple[list[float], list[float]]:
    """The epsilons at which the first method changes less than the second, and those with more.

    By this number of standard errors of the differences of trials, which share answers and noise.
    """
    apart = {epsilon: at.apart(first, second) for epsilon, at in seen.items()}
    less = [e for e, gap in apart.items() if gap.mean < -errors * gap.standard_error]
    return less, [e for e, gap in apart.items() if gap.mean > errors * gap.standard_error]


def rows(table: str, seen: Mapping[float, Seen], *, compared: bool = True) -> Iterator[Row]:
    """P1's table compared with ours, then errors to the truth and the best constant.

    Where our data are not the paper's, its numbers are shown without a difference.
    """
    figures = printed(f"P1 {table}")
    part = f"{table}: change of the error rate"
    for epsilon, at in seen.items():
        for method in PUBLISHED:
            place: Row = {"part": part, "epsilon": epsilon, "method": method}
            row = compared_row(place, at.change(method), figures.number(method, epsilon))
            yield row if compared else {**row, "difference": None}
    for title, methods in (("as published", PUBLISHED), ("ours on the same answers", OURS)):
        for epsilon, at in seen.items():
            errors = {NAMES.get(method, method): at.error(method).mean for method in methods}
            part = f"{table}: error to the truth, {title}"
            yield {"part": part, "epsilon": epsilon, **errors, CONSTANT: at.error(CONSTANT).mean}


def chart(title: str, table: str, note: str, seen: Mapping[float, Seen]) -> Chart:
    """P1 Figure 3: changes against epsilon, with the printed curve of two-layer TD."""
    published = [
        curve(method, list(seen), [at.change(method) for at in seen.values()])
        for method in PUBLISHED
    ]
    equal = curve(NAMES[EQUAL], list(seen), [at.change(EQUAL) for at in seen.values()], "ours")
    constants = [at.change(CONSTANT).mean for at in seen.values()]
    level = Level(CONSTANT, sum(constants) / len(constants))
    series = (*published, equal, _printed(table, "two-layer TD", "two-layer TD, printed"))
    return Chart(title, *_AXES, series, (level,), note, better="lower")


def absent(table: str, title: str) -> Outcome:
    """The outcome without data: only the paper's printed numbers."""
    figures = printed(f"P1 {table}")
    part = f"{table} as printed"
    lines: tuple[Row, ...] = tuple(
        {"part": part, **dict(zip(figures.columns, row, strict=True))} for row in figures.rows
    )
    series = tuple(_printed(table, method, method) for method in PUBLISHED)
    words = f"{ABSENT}: add duchenne to it and rerun."
    picture = Chart(title, *_AXES, series, better="lower")
    return Outcome(lines, "cannot be checked", ABSENT, words, (picture,))


def _printed(table: str, method: str, name: str) -> Series:
    figures = printed(f"P1 {table}")
    return Series(name, figures.column("epsilon"), figures.column(method), role="reference")


@dataclass(frozen=True, slots=True)
class Answered:
    """Answers of the median worker (rounded down) and of the worker with most answers.

    All answers of a worker share a flip probability, so their privacy loss grows with their number
    k.

    >>> round(Answered(104, 1834).true_epsilon(1.0), 2)
    4.64
    """

    median: int
    most: int

    @classmethod
    def of(cls, answers: Reports) -> Self:
        """The counts in a table of answers."""
        return cls(int(np.median(np.bincount(answers.worker))), most_answers(answers))

    def true_epsilon(self, epsilon: float) -> float:
        """The pure epsilon per answer of the median worker at a nominal epsilon."""
        return two_layer(_BINARY, epsilon).guarantee(self.median, Unit.ANSWER).epsilon

    def more_than(self, epsilon: float) -> bool:
        """Whether the median worker's true epsilon exceeds the nominal one by over 1 %."""
        return self.true_epsilon(epsilon) > 1.01 * epsilon

    def rows(self, table: str, epsilons: Sequence[float]) -> Iterator[Row]:
        """Pure epsilons of both workers at every nominal epsilon, and delta at the nominal one."""
        workers = {self.most: "most", self.median: "median"}
        for epsilon in epsilons:
            noise = two_layer(_BINARY, epsilon)
            for answers, worker in workers.items():
                yield {
                    "part": f"{table}: true guarantee of two layers",
                    "epsilon": epsilon,
                    "worker": worker,
                    "answers": answers,
                    "per answer": noise.guarantee(answers, Unit.ANSWER).epsilon,
                    "per worker": noise.guarantee(answers, Unit.WORKER).epsilon,
                    "delta at epsilon": noise.delta(epsilon, answers, Unit.ANSWER),
                }
