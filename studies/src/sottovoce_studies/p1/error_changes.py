"""Changes of the error under one and two layers: P1's tables and curves, compared with ours.

The rows give P1's nominal epsilon and the true guarantee of two layers (Thms. 6.3 and 6.4).
Statements of P1's text about curves are judged at the nominal epsilon; the true guarantee decides
only the verdict on privacy.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sottovoce.figures import Chart, Level, Series
from sottovoce.model import Domain, Reports, Unit
from sottovoce.planning.trials import Spread
from sottovoce_studies.cells import Cell
from sottovoce_studies.choices import Choice, distances
from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.crowds import Source
from sottovoce_studies.p1.layers import (
    OURS,
    PUBLISHED,
    Setting,
    errors_at,
    most_answers,
    one_layer,
    settings_at,
    two_layer,
)
from sottovoce_studies.paper_tables import BAND, compared_row, curve, printed
from sottovoce_studies.rulings import Ruling, Statement
from sottovoce_studies.study import Row, Size

__all__ = [
    "ABSENT",
    "ALIKE",
    "EPSILONS",
    "EQUAL",
    "MANY",
    "PAPER_TRIALS",
    "Answered",
    "Grid",
    "Seen",
    "SettingsGrid",
    "absent_chart",
    "absent_rows",
    "better_throughout",
    "chart",
    "distance",
    "grows_as_epsilon_falls",
    "lower_at",
    "pooled",
    "reversals",
    "rows",
    "votes_alike",
]


ABSENT = "the dataset is not in the cache"

PAPER_TRIALS = 100
"""P1 §7.1.4."""
UNIT = 1e-4
"""One unit of the last printed digit."""
MANY = 3.0
"""The number of standard errors that counts as more than chance."""

EPSILONS: Mapping[Size, tuple[float, ...]] = {
    "quick": (1.0, 0.5, 0.0),
    "full": printed("P1 Table 3").column("epsilon"),
}

LOW = 0.1
"""A small nominal epsilon, at which guarantees per worker are stated too."""

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


@dataclass(frozen=True, slots=True)
class SettingsGrid:
    """P1's four methods under several settings, in every trial at every epsilon."""

    source: Source
    epsilons: tuple[float, ...]
    trials: int
    settings: tuple[Setting, ...]

    def cells(self, seed: int) -> list[Cell]:
        """One cell per trial and epsilon."""
        return [
            Cell(settings_at, (self.source, epsilon, trial, seed, self.settings))
            for epsilon in self.epsilons
            for trial in range(self.trials)
        ]

    def seen(self, results: Sequence[Any]) -> dict[Setting, dict[float, Seen]]:
        """The results of the cells, by setting and epsilon."""
        starts = range(0, len(results), self.trials)
        parts = [results[start : start + self.trials] for start in starts]
        return {
            setting: {
                epsilon: Seen(tuple(trial[place] for trial in part))
                for epsilon, part in zip(self.epsilons, parts, strict=True)
            }
            for place, setting in enumerate(self.settings)
        }


def distance(setting: Setting, table: str, seen: Mapping[float, Seen]) -> Choice:
    """How many numbers of a printed table come out under a setting, and their distance."""
    figures = printed(f"P1 {table}")
    pairs = [
        (at.change(method), figures.number(method, epsilon))
        for epsilon, at in seen.items()
        for method in PUBLISHED
    ]
    return distances(setting.values, pairs, paper_trials=PAPER_TRIALS, unit=UNIT)


def pooled(seen: Mapping[float, Seen], first: str, second: str) -> Spread:
    """The mean excess of the first method's change over the second's, over trials and epsilons."""
    gaps = [at.apart(first, second) for at in seen.values()]
    mean = sum(gap.mean for gap in gaps) / len(gaps)
    error = math.sqrt(sum(gap.standard_error**2 for gap in gaps)) / len(gaps)
    low, high = min(gap.low for gap in gaps), max(gap.high for gap in gaps)
    return Spread(sum(gap.trials for gap in gaps), mean, error, low, high)


def reversals(seen: Mapping[float, Seen], method: str) -> list[tuple[float, float]]:
    """Steps to a smaller epsilon at which the change falls by more than 3 standard errors."""
    order = sorted(seen, reverse=True)
    found = []
    for larger, smaller in itertools.pairwise(order):
        before, after = seen[larger].change(method), seen[smaller].change(method)
        noise = math.hypot(before.standard_error, after.standard_error)
        if after.mean < before.mean - MANY * noise:
            found.append((larger, smaller))
    return found


def _largest_printed_gap() -> float:
    """The largest difference between the two layers that P1 prints for majority vote."""
    tables = [printed(f"P1 {table}") for table in ("Table 2", "Table 3")]
    return max(
        float(abs(one - two))
        for table in tables
        for one, two in zip(table.column("one-layer MV"), table.column("two-layer MV"), strict=True)
    )


ALIKE = _largest_printed_gap()
"""Votes whose changes differ by at most this are alike, as P1 calls its own differences."""


def votes_alike(seen: Mapping[float, Seen]) -> Statement:
    """P1 §7.2 (1): majority vote performs alike under both layers.

    True if over all epsilons the difference is at most the largest that P1 prints, or not above it
    by two standard errors.
    """
    gap = pooled(seen, "two-layer MV", "one-layer MV")
    true = abs(gap.mean) <= ALIKE + BAND * gap.standard_error
    return Statement("majority vote alike under both layers", true, _gap_words(gap))


def better_throughout(seen: Mapping[float, Seen], first: str, second: str) -> Statement:
    """The first method changes less than the second over all epsilons, and at none more.

    Less is by two standard errors, more at an epsilon by three.
    """
    gap = pooled(seen, first, second)
    worse = lower_at(seen, first, second, MANY)[1]
    true = gap.mean < -BAND * gap.standard_error and not worse
    words = _gap_words(gap) + (f", worse at epsilon {worse[0]:g}" if worse else "")
    return Statement(f"{first} changes less than {second}", true, words)


def grows_as_epsilon_falls(seen: Mapping[float, Seen], method: str) -> Statement:
    """The change grows as epsilon falls, and turns back nowhere by 3 standard errors."""
    first, last = seen[max(seen)].change(method), seen[min(seen)].change(method)
    back = reversals(seen, method)
    grown = last.mean - first.mean
    true = grown > BAND * math.hypot(first.standard_error, last.standard_error) and not back
    words = f"{first.mean:.3f} at epsilon {max(seen):g}, {last.mean:.3f} at {min(seen):g}"
    words += f", turns back at {back[0][1]:g}" if back else ""
    return Statement(f"the change of {method} grows as epsilon falls", true, words)


def _gap_words(gap: Spread) -> str:
    return f"{gap.mean:+.3f} ± {gap.standard_error:.3f}"


def lower_at(
    seen: Mapping[float, Seen], first: str, second: str, errors: float = BAND
) -> tuple[list[float], list[float]]:
    """The epsilons at which the first method changes less than the second, and those with more.

    By this number of standard errors of the differences of trials, which share answers and noise.
    """
    apart = {epsilon: at.apart(first, second) for epsilon, at in seen.items()}
    less = [e for e, gap in apart.items() if gap.mean < -errors * gap.standard_error]
    return less, [e for e, gap in apart.items() if gap.mean > errors * gap.standard_error]


def rows(
    table: str,
    seen: Mapping[float, Seen],
    ours: Mapping[float, Seen] | None = None,
    *,
    compared: bool = True,
) -> Iterator[Row]:
    """P1's table compared with ours, then errors to the truth and the best constant.

    `ours` has the trials of our methods, if they are not those of P1's. Where our data are not the
    paper's, its numbers are shown without a difference.
    """
    further = seen if ours is None else ours
    figures = printed(f"P1 {table}")
    part = f"{table}: change of the error rate"
    for epsilon, at in seen.items():
        for method in PUBLISHED:
            place: Row = {"part": part, "epsilon": epsilon, "method": method}
            row = compared_row(place, at.change(method), figures.number(method, epsilon))
            yield row if compared else {**row, "difference": None}
    parts = (("as published", PUBLISHED, seen), ("ours on the same answers", OURS, further))
    for title, methods, trials in parts:
        for epsilon, at in trials.items():
            errors = {NAMES.get(method, method): at.error(method).mean for method in methods}
            part = f"{table}: error to the truth, {title}"
            constant = further[epsilon].error(CONSTANT).mean
            yield {"part": part, "epsilon": epsilon, **errors, CONSTANT: constant}


def chart(
    title: str,
    table: str,
    note: str,
    seen: Mapping[float, Seen],
    ours: Mapping[float, Seen] | None = None,
) -> Chart:
    """P1 Figure 3: changes against epsilon, with the printed curve of two-layer TD."""
    further = seen if ours is None else ours
    published = [
        curve(method, list(seen), [at.change(method) for at in seen.values()])
        for method in PUBLISHED
    ]
    changes = [at.change(EQUAL) for at in further.values()]
    equal = curve(NAMES[EQUAL], list(further), changes, "ours")
    constants = [at.change(CONSTANT).mean for at in further.values()]
    level = Level(CONSTANT, sum(constants) / len(constants))
    series = (*published, equal, _printed(table, "two-layer TD", "two-layer TD, printed"))
    return Chart(title, *_AXES, series, (level,), note, better="lower")


def absent_rows(table: str) -> tuple[Row, ...]:
    """The paper's printed numbers, for a run without the data."""
    figures = printed(f"P1 {table}")
    part = f"{table} as printed"
    return tuple(
        {"part": part, **dict(zip(figures.columns, row, strict=True))} for row in figures.rows
    )


def absent_chart(table: str, title: str) -> Chart:
    """The paper's printed curves, for a run without the data."""
    series = tuple(_printed(table, method, method) for method in PUBLISHED)
    return Chart(title, *_AXES, series, better="lower")


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

    def per_worker(self, epsilon: float) -> tuple[float, float]:
        """The median worker's pure epsilons for all its answers: two layers, then one layer."""
        layers = (two_layer(_BINARY, epsilon), one_layer(_BINARY, epsilon))
        two, one = (each.guarantee(self.median, Unit.WORKER).epsilon for each in layers)
        return two, one

    def ruling(self, epsilon: float) -> Ruling:
        """Whether two layers have the nominal epsilon, per answer and per worker.

        P1's definition is about one answer; the same noise hides all answers of a worker.
        """
        true, (two, one) = self.true_epsilon(epsilon), self.per_worker(epsilon)
        words = f"epsilon {true:.1f} per answer for {self.median} answers, not {epsilon:g}"
        if not self.more_than(epsilon):
            return Ruling("holds", f"epsilon {true:.2f} per answer for {self.median} answers")
        return Ruling("fails", f"{words}; per worker {two:.3g} ({one:.3g} with one layer)")

    def words(self, epsilon: float) -> str:
        """The true guarantees of both layers at both units; per worker at all of P1's epsilons."""
        per_worker = {each: self.per_worker(each) for each in (epsilon, LOW, *EPSILONS["full"])}
        (two, one), (two_low, one_low) = per_worker[epsilon], per_worker[LOW]
        less = [each for each in EPSILONS["full"] if per_worker[each][0] < per_worker[each][1]]
        return (
            f"The true epsilon of two layers at the nominal {epsilon:g} is "
            f"{self.true_epsilon(epsilon):.2f} per answer for {self.median} answers, and "
            f"{epsilon:g} with one layer. Per worker the order depends on epsilon: {two:.3g} with "
            f"two layers and {one:.3g} with one at {epsilon:g}, {two_low:.3g} and {one_low:.3g} at "
            f"{LOW:g}. Shared noise has the smaller epsilon per worker at {len(less)} of P1's "
            f"{len(EPSILONS['full'])} epsilons."
        )

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
