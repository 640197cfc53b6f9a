"""Study `never-worse`: aware inference is not worse where it does not help."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sottovoce.figures import Chart, Level
from sottovoce.model import Domain
from sottovoce.planning.pipelines import Pipeline, papers
from sottovoce.planning.trials import Spread
from sottovoce_studies.contests import CONSTANT, Contest, spreads
from sottovoce_studies.crowds import Dataset
from sottovoce_studies.paper_tables import curve
from sottovoce_studies.rulings import Ruling, Rulings
from sottovoce_studies.study import Outcome, Row, Size, Study, Work

__all__ = ["ALLOWED", "LABELS", "RANGES", "STUDY", "Case", "best_other", "judge"]

OURS_LABELS = Pipeline("randomised response + aware", "randomized-response")
OURS_NUMBERS = (
    Pipeline("subset selection + aware", "subset-selection"),
    Pipeline("piecewise + aware", "piecewise"),
)
"""Chosen without using truths: the first up to epsilon 3, the second above, where bins are coarse
compared with the noise.
"""
COARSE = 3.0
OURS = frozenset(pair.name for pair in (OURS_LABELS, *OURS_NUMBERS))

LABELS = ("duchenne", "adult2", "web", "bluebirds", "rte", "dog", "trec2010")
RANGES: Mapping[str, tuple[float, float]] = {
    "emotion": (-100.0, 100.0),
    "calories": (0.0, 5000.0),  # kcal have no upper bound: a round number above any plate
    "peer_grades": (0.0, 14.0),
}
EPSILONS: Mapping[Size, tuple[float, ...]] = {"quick": (1, 4), "full": (0.1, 0.5, 1, 2, 4, 8)}
QUICK = ("bluebirds", "rte")
TRIALS: Mapping[Size, int] = {"quick": 3, "full": 20}

ABSENT = "no dataset in the cache"

ALLOWED = 0.01
"""The allowed excess of ours: error rate, or share of the range."""

UNITS: Mapping[str, str] = {
    "emotion": "MAE, points of -100..100",
    "calories": "MAE, kcal",
    "peer_grades": "MAE, grades",
}


@dataclass(frozen=True, slots=True)
class Case:
    """A dataset at an epsilon; `contest` is None if it is not in the cache."""

    dataset: str
    epsilon: float
    contest: Contest | None

    @property
    def ours(self) -> Pipeline:
        """Our pair on this dataset."""
        if self.dataset not in RANGES:
            return OURS_LABELS
        return OURS_NUMBERS[0] if self.epsilon <= COARSE else OURS_NUMBERS[1]

    @property
    def allowed(self) -> float:
        """The allowed excess, in the unit of the errors."""
        low, high = RANGES.get(self.dataset, (0.0, 1.0))
        return ALLOWED * (high - low)


def plan(size: Size, seed: int) -> Work:
    """Every trial of every dataset at every epsilon; quick runs have two datasets."""
    names = QUICK if size == "quick" else (*LABELS, *RANGES)
    cases = [_case(name, epsilon) for name in names for epsilon in EPSILONS[size]]
    trials = TRIALS[size]
    there = [case.contest for case in cases if case.contest is not None]
    cells = [cell for contest in there for cell in contest.cells(trials, seed)]
    return Work(cells, lambda results: judge(cases, results, trials))


def judge(cases: Sequence[Case], results: Sequence[Any], trials: int) -> Outcome:
    """Fails if the mean of differences - 2 standard errors is above the allowed excess anywhere."""
    rest = iter(results)
    found = [[] if case.contest is None else [next(rest) for _ in range(trials)] for case in cases]
    rows = tuple(_row(case, errors) for case, errors in zip(cases, found, strict=True))
    worse = [
        f"{row['dataset']} at epsilon {row['epsilon']:g}" for row in rows if row["worse"] == "yes"
    ]
    judged = sum(row["worse"] in ("yes", "no") for row in rows)
    ruling = Ruling("holds") if judged else Ruling("cannot be checked", ABSENT)
    if worse:
        ruling = Ruling("fails", f"worse in {len(worse)} of {judged} cells")
    words = f"worse in {len(worse)} of {judged} cells, {trials} trials each"
    words += f": {'; '.join(worse)}" if worse else ""
    if judged:
        words += f"; {_closest(rows)}"
    words += f"; {len(rows) - judged} skipped, not in the cache" if judged < len(rows) else ""
    return Outcome(rows, Rulings(shape=ruling), f"{words}.", tuple(_charts(cases, found)))


def best_other(case_errors: Sequence[Mapping[str, float]]) -> str:
    """The pair that is not ours with the lowest mean error."""
    seen = spreads(case_errors)
    return min((name for name in seen if name not in {*OURS, CONSTANT}), key=lambda n: seen[n].mean)


def _closest(rows: Sequence[Row]) -> str:
    """The largest difference relative to the allowed one, and the number beyond noise."""
    seen = [row for row in rows if row["worse"] in ("yes", "no")]
    near = max(seen, key=lambda row: _number(row, "difference") / _number(row, "allowed"))
    above = [row for row in seen if _number(row, "difference") > 2 * _number(row, "s.e.")]
    return (
        "the largest difference, relative to the allowed one, is "
        f"{_number(near, 'difference'):+.3g} (standard error {_number(near, 's.e.'):.2g}, allowed "
        f"{_number(near, 'allowed'):g}) on {near['dataset']} at epsilon {near['epsilon']:g}; ours "
        f"is above within the allowed excess, but beyond two standard errors, in {len(above)} "
        "cells"
    )


def _number(row: Row, column: str) -> float:
    return float(row[column] or 0.0)


def _case(name: str, epsilon: float) -> Case:
    dataset = Dataset.of(name, RANGES.get(name))
    case = Case(name, epsilon, None)
    if dataset is None:
        return case
    kind = Domain.numeric(0, 1) if name in RANGES else Domain.categorical("ab")
    sound = tuple(pair for pair in papers(kind) if not pair.published)
    ours = OURS_NUMBERS if name in RANGES else (OURS_LABELS,)
    return Case(name, epsilon, Contest(dataset, epsilon, (*ours, *sound)))


def _row(case: Case, errors: Sequence[Mapping[str, float]]) -> Row:
    numbers = case.dataset in RANGES
    row: dict[str, Any] = {
        "part": "Numbers, MAE" if numbers else "Labels, error rate",
        "dataset": case.dataset,
        "epsilon": case.epsilon,
        "our pair": case.ours.name,
    }
    if not errors:
        return {**row, "worse": "skipped: dataset not in the cache"}
    other = best_other(errors)
    seen = spreads(errors)
    # Trials share answers and noise words, so differences vary less than errors.
    apart = Spread.of([trial[case.ours.name] - trial[other] for trial in errors])
    worse = apart.mean - 2 * apart.standard_error > case.allowed
    return {
        **row,
        "ours": seen[case.ours.name].mean,
        "best of the papers": other,
        "theirs": seen[other].mean,
        "difference": apart.mean,
        "s.e.": apart.standard_error,
        "allowed": case.allowed,
        "worse": "yes" if worse else "no",
        CONSTANT: seen[CONSTANT].mean,
        "trials": apart.trials,
    }


def _charts(
    cases: Sequence[Case], found: Sequence[Sequence[Mapping[str, float]]]
) -> Iterator[Chart]:
    """One chart per dataset: every pair's error by epsilon."""
    for name in dict.fromkeys(case.dataset for case in cases):
        seen = {
            float(case.epsilon): spreads(errors)
            for case, errors in zip(cases, found, strict=True)
            if case.dataset == name and errors
        }
        if seen:
            yield _chart(name, seen)


def _chart(name: str, seen: Mapping[float, Mapping[str, Spread]]) -> Chart:
    first = next(iter(seen.values()))
    series = tuple(
        curve(
            pair,
            tuple(seen),
            [at[pair] for at in seen.values()],
            "ours" if pair in OURS else "theirs",
        )
        for pair in first
        if pair != CONSTANT
    )
    return Chart(
        f"Ours and the papers' pipelines: {name}",
        "epsilon per answer, true",
        UNITS.get(name, "error rate"),
        series,
        (Level(CONSTANT, first[CONSTANT].mean),),
        f"At no epsilon is ours worse than the best of the papers' pipelines by more than "
        f"{Case(name, 1.0, None).allowed:g}. Bands are two standard errors.",
        better="lower",
        x_scale="log",
        y_scale="log" if name in RANGES else "linear",  # noise of numbers spans orders of magnitude
    )


STUDY = Study(
    "never-worse",
    "At no epsilon and on no dataset is aware inference worse than the better of the papers' "
    "pipelines by more than 0.01 (1 % of the range for numbers) beyond two standard errors "
    "(ties of votes broken at random)",
    "P1 and P3's pipelines at the same guarantee; datasets of the cache with gold",
    "every dataset of the cache with gold; ours is randomised response for labels, for numbers "
    "subset selection up to epsilon 3 and piecewise above; ties of votes are broken at random",
    plan,
    "two datasets at two epsilons, 3 trials each instead of 20",
    recorded=("not claimed", "holds", "not claimed"),
)
