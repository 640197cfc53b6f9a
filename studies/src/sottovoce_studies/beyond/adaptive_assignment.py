"""Study `adaptive-assignment`: giving the most needed tasks first saves answers.

Both assignments read the same reports and are fitted by the default method. The number of answers
with which assignment by need reaches an accuracy is divided by the number that the hash assignment
takes for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from sottovoce.datasets import CategoricalCrowd
from sottovoce.figures import Chart, Series
from sottovoce.model import FloatArray
from sottovoce_studies.beyond.assignment_trials import (
    FRESH,
    Crowd,
    PublicCrowd,
    SimulatedCrowd,
    accuracies,
)
from sottovoce_studies.cells import Cell
from sottovoce_studies.crowds import Dataset
from sottovoce_studies.rulings import Rulings, Statement, explained, ruling_on
from sottovoce_studies.study import Outcome, Row, Size, Study, Work

__all__ = ["LIMIT", "MARKS", "STUDY", "judged", "share_of"]

LIMIT = 0.7
MARKS: tuple[float, ...] = tuple(3 + 1.5 * step for step in range(25))
"""Answers per task at which both are scored."""

LEVELS = (12.0, 19.5, 30.0, 39.0)
"""Answers per task of the hash assignment whose accuracy is to be reached; the last is judged."""

EPSILONS = (1.0, 2.0)
TRIALS: Mapping[Size, int] = {"quick": 2, "full": 20}

PART = "Answers for the same accuracy"
PUBLIC = "bluebirds"


def _drawn(labels: int = 2, **kind: Any) -> SimulatedCrowd:
    crowd = CategoricalCrowd(workers=234, tasks=108, labels=labels, accuracy=0.75, **kind)
    return SimulatedCrowd(crowd, 18)


CROWDS: Mapping[str, Crowd] = {
    "workers alike": _drawn(ability="homogeneous"),
    "mixed workers": _drawn(),
    "mixed workers, hard tasks": _drawn(difficulty=0.8),
    "spammers, harder tasks": _drawn(ability="spammers", difficulty=0.4),
    "4 labels, mixed workers": _drawn(labels=4),
}


def plan(size: Size, seed: int) -> Work:
    """Every trial of every crowd, epsilon and assignment; quick runs have one crowd."""
    crowds = dict(list(CROWDS.items())[-1:] if size == "quick" else CROWDS)
    dataset = Dataset.of(PUBLIC) if size == "full" else None
    if dataset is not None:
        crowds[PUBLIC] = PublicCrowd(dataset, 27, 4)
    work = list(_cells(crowds, TRIALS[size], seed))

    def judge(results: Sequence[Any]) -> Outcome:
        found: dict[tuple[str, float, bool], list[list[float]]] = {}
        for (place, _), result in zip(work, results, strict=True):
            found.setdefault(place, []).append(result)
        absent = size == "full" and dataset is None
        return judged(found, *([f"Not in the cache: {PUBLIC}"] if absent else []))

    return Work([cell for _, cell in work], judge)


def _cells(
    crowds: Mapping[str, Crowd], trials: int, seed: int
) -> Iterator[tuple[tuple[str, float, bool], Cell]]:
    for name, crowd in crowds.items():
        for epsilon in EPSILONS:
            for by_need in (False, True):
                for trial in range(trials):
                    cell = Cell(accuracies, (crowd, epsilon, MARKS, by_need, trial, seed))
                    yield (name, epsilon, by_need), cell


def judged(
    found: Mapping[tuple[str, float, bool], Sequence[Sequence[float]]], *more: str
) -> Outcome:
    """Accuracies with fewer answers in each setting, judged at the most answers, within noise."""
    places = [(name, epsilon) for name, epsilon, by_need in found if by_need]
    rows = [row for place in places for row in _rows(place, found)]
    statements = [
        _statement(where, [row for row in rows if (row["crowd"] == PUBLIC) is (where == PUBLIC)])
        for where in ("simulated crowds", PUBLIC)
        if any((name == PUBLIC) is (where == PUBLIC) for name, _ in places)
    ]
    return Outcome(
        tuple(rows),
        Rulings(numbers=ruling_on(statements)),
        explained(statements, *more),
        tuple(_chart(name, found) for name in dict.fromkeys(name for name, _ in places)),
    )


def _statement(where: str, rows: Sequence[Row]) -> Statement:
    """Whether fewer answers are enough at the most answers; the other levels are reported."""
    last = [row for row in rows if row["answers by hash"] == LEVELS[-1]]
    met = sum(row["met"] == "yes" for row in last)
    found = (
        f"{row['crowd']}, epsilon {row['epsilon']:g}: {row['difference']:+.3f} ± "
        f"{row['standard error']:.3f}"
        for row in last
    )
    reached = sum(row["share"] is not None and float(row["share"]) <= LIMIT for row in last)
    return Statement(
        f"on {where} {LIMIT:.0%} of {LEVELS[-1]:g} answers per task, by need, are at least as "
        "accurate as all of them by hash",
        met == len(last),
        f"in {met} of {len(last)} settings, within two standard errors; the mean accuracy is "
        f"reached with {LIMIT:.0%} in {reached} of them; differences: {'; '.join(found)}",
    )


def _rows(
    place: tuple[str, float], found: Mapping[tuple[str, float, bool], Sequence[Sequence[float]]]
) -> Iterator[Row]:
    name, epsilon = place
    by_hash, by_need = (_filled(found[name, epsilon, way]) for way in (False, True))
    for level in LEVELS:
        wanted = by_hash[:, MARKS.index(level)]
        fewer = np.array([np.interp(LIMIT * level, MARKS, trial) for trial in by_need])
        apart = fewer - wanted
        error = float(apart.std(ddof=1) / np.sqrt(len(apart)))
        yield {
            "part": PART,
            "crowd": name,
            "epsilon": epsilon,
            "answers by hash": level,
            "accuracy by hash": float(wanted.mean()),
            f"accuracy by need with {LIMIT:.0%}": float(fewer.mean()),
            "difference": float(apart.mean()),
            "standard error": error,
            "met": "yes" if apart.mean() >= -2 * error else "no",
            "share": share_of(float(wanted.mean()), by_need.mean(axis=0), level),
            "trials": len(apart),
        }


def _filled(trials: Sequence[Sequence[float]]) -> FloatArray:
    """Accuracies at every mark. After the last question that is asked, the accuracy stays."""
    return np.array([[*trial, *[trial[-1]] * (len(MARKS) - len(trial))] for trial in trials])


def share_of(wanted: float, by_need: FloatArray, level: float) -> float | None:
    """The share of a level's answers with which need reaches an accuracy; None if it does not.

    Accuracies are those of the best result so far, interpolated between marks.

    >>> rising = np.linspace(0.5, 0.9, len(MARKS))
    >>> share_of(0.9, rising, 39.0), share_of(0.95, rising, 39.0)
    (1.0, None)
    """
    best = np.maximum.accumulate(by_need)
    after = int(np.searchsorted(best, wanted - 1e-12))
    if after == len(best):
        return None
    if after == 0:
        return MARKS[0] / level
    rise = (wanted - best[after - 1]) / (best[after] - best[after - 1])
    return float((MARKS[after - 1] + rise * (MARKS[after] - MARKS[after - 1])) / level)


def _chart(name: str, found: Mapping[tuple[str, float, bool], Sequence[Sequence[float]]]) -> Chart:
    return Chart(
        f"Accuracy by answers per task: {name}",
        "answers per task, on average",
        "share of right truths",
        tuple(
            Series(
                f"by {'need' if by_need else 'hash'}, epsilon {epsilon:g}",
                MARKS,
                tuple(_filled(trials).mean(axis=0).tolist()),
                role="ours" if by_need else "theirs",
            )
            for (crowd, epsilon, by_need), trials in found.items()
            if crowd == name
        ),
        note=f"Mean of {len(next(iter(found.values())))} trials.",
    )


STUDY = Study(
    "adaptive-assignment",
    "Giving the most needed tasks first reaches the accuracy of the hash assignment at 39 answers "
    "per task with at most 70 % of the answers, at epsilon 1 and 2",
    "simulated crowds, and bluebirds (39 workers, 108 tasks, every worker answered every task)",
    "reports by randomised response, drawn once for every worker and task; workers come in random "
    "order; simulated ones come once and answer 18 of 108 tasks, those of bluebirds come 4 times "
    "and answer 27 tasks each time; the rule and its constants are the server's, chosen on "
    "simulated crowds with other seeds, not on bluebirds; a result is made when there are "
    f"{FRESH - 1:.0%} more reports; settled tasks are not asked; ties go to the first label",
    plan,
    "one simulated crowd with 2 trials instead of 20, and no bluebirds",
    recorded=("partly", "not claimed", "not claimed"),
    quick_recorded=("holds", "not claimed", "not claimed"),
)
