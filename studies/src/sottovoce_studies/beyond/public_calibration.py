"""The public datasets in study `calibration`: confidences of labels, and intervals of numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from sottovoce.planning.trials import Spread
from sottovoce_studies.beyond.judged_part import Groups, Judged, Placed
from sottovoce_studies.beyond.label_trials import AUTO, FREQUENT, VOTE, label_trial
from sottovoce_studies.beyond.number_trials import FORMER, TEACHES, intervals, taught_intervals
from sottovoce_studies.beyond.public_sets import LABEL_SETS, NUMBER_SETS, found_sets
from sottovoce_studies.cells import Cell
from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.rulings import Statement
from sottovoce_studies.study import Row, Size

__all__ = ["KNOWN", "TAUGHT", "interval_cells", "judge_intervals", "judge_labels", "label_cells"]

EXCESS = 0.04
"""Allowed for the mean of calibration errors above that of perfect calibration."""
COVERAGE = 0.88, 0.99
TAUGHT, KNOWN = "calories", 20
"""The dataset whose answers are biased all alike, so that only known truths give intervals."""

EPSILONS: Mapping[Size, tuple[float, ...]] = {"quick": (1, 4), "full": (0.5, 1, 2, 3, 4, 8)}
SEEDS: Mapping[Size, int] = {"quick": 3, "full": 40}

REAL, MEANS, INTERVALS = (
    "Labels of public datasets",
    "Labels of public datasets, mean over datasets",
    "95 % intervals of numbers",
)
MEAN_COLUMNS = (
    "excess",
    "log loss",
    "log loss of votes",
    "mean confidence",
    "accuracy",
    VOTE,
    FREQUENT,
    CONSTANT,
)


def label_cells(size: Size, seed: int) -> Iterator[Placed]:
    """The default on every dataset, clean (epsilon None) and at every epsilon."""
    for dataset in found_sets(LABEL_SETS[size]).there:
        yield (dataset.name, None), Cell(label_trial, (dataset, None, 0, seed))
        for epsilon in EPSILONS[size]:
            for trial in range(SEEDS[size]):
                arguments = (dataset, float(epsilon), trial, seed)
                yield (dataset.name, float(epsilon)), Cell(label_trial, arguments)


def judge_labels(found: Groups) -> Judged:
    """Excess calibration errors and log losses in the mean over datasets, at each epsilon."""
    rows = [_real_row(place, trials) for place, trials in found.items()]
    epsilons = list(dict.fromkeys(row["epsilon"] for row in rows))
    means = [_mean_row([row for row in rows if row["epsilon"] == each]) for each in epsilons]
    return Judged([*means, *rows], [_excess(means), _losses(means)])


def _real_row(place: tuple[Any, ...], trials: Sequence[Mapping[str, float]]) -> Row:
    name, epsilon = place
    seen = {key: float(np.mean([trial[key] for trial in trials])) for key in trials[0]}
    return {
        "part": REAL,
        "dataset": name,
        "epsilon": "clean" if epsilon is None else f"{epsilon:g}",
        "calibration error": seen["calibration error"],
        "of perfect calibration": seen["perfect"],
        "excess": seen["calibration error"] - seen["perfect"],
        "log loss": seen["log loss"],
        "log loss of votes": seen["log loss of votes"],
        "mean confidence": seen["confidence"],
        "accuracy": seen[AUTO],
        VOTE: seen[VOTE],
        FREQUENT: seen[FREQUENT],
        CONSTANT: seen[CONSTANT],
        "trials": len(trials),
    }


def _mean_row(rows: Sequence[Row]) -> Row:
    means = {
        column: float(np.mean([_number(row, column) for row in rows])) for column in MEAN_COLUMNS
    }
    higher = sum(_number(row, "log loss") >= _number(row, "log loss of votes") for row in rows)
    return {
        "part": MEANS,
        "epsilon": rows[0]["epsilon"],
        **means,
        "datasets": len(rows),
        "with higher log loss": higher,
    }


def _excess(means: Sequence[Row]) -> Statement:
    worst = max(means, key=lambda row: _number(row, "excess"))
    text = (
        "the calibration error above that of perfect calibration, in the mean over public "
        f"datasets, is at most {EXCESS:g}, clean and at every epsilon"
    )
    seen = f"{_number(worst, 'excess'):.3f} {_at(worst)}"
    return Statement(text, _number(worst, "excess") <= EXCESS, seen)


def _losses(means: Sequence[Row]) -> Statement:
    apart = {
        _at(row): _number(row, "log loss") - _number(row, "log loss of votes") for row in means
    }
    worst = max(apart, key=lambda place: apart[place])
    text = "the log loss, in the mean over public datasets, is below that of shares of votes"
    return Statement(text, apart[worst] < 0, f"difference {apart[worst]:+.3f} {worst}")


def _at(row: Row) -> str:
    return "clean" if row["epsilon"] == "clean" else f"at epsilon {row['epsilon']}"


def interval_cells(size: Size, seed: int) -> Iterator[Placed]:
    """Intervals on every dataset, and on one with known truths."""
    for dataset in found_sets(NUMBER_SETS[size]).there:
        yield (dataset.name, 0), Cell(intervals, (dataset,))
        if dataset.name == TAUGHT and TEACHES:
            for trial in range(SEEDS[size]):
                arguments = (dataset, KNOWN, trial, seed)
                yield (dataset.name, KNOWN), Cell(taught_intervals, arguments)


def judge_intervals(found: Groups) -> Judged:
    """Coverage within bounds, and a score below the former default's."""
    rows = [_interval_row(place, found) for place in found]
    judged = [row for row in rows if row["judged"] == "yes"]
    low, high = COVERAGE
    wrong = [_covering(row) for row in judged if not low <= _number(row, "coverage") <= high]
    worse = [
        str(row["dataset"]) for row in judged if _number(row, "score") >= _number(row, "former")
    ]
    every = "; ".join(map(_covering, judged))
    return Judged(
        rows,
        [
            Statement(f"95 % intervals of numbers cover {low:g} to {high:g}", not wrong, every),
            Statement(
                "their interval score is below that of the former default",
                not worse,
                ", ".join(worse) or f"on {len(judged)} of {len(judged)} datasets",
            ),
        ],
    )


def _covering(row: Row) -> str:
    if row["coverage"] is None:
        return f"{row['dataset']} none, since the default does not learn from known truths"
    return f"{row['dataset']} {_number(row, 'coverage'):.3f}"


def _interval_row(place: tuple[Any, ...], found: Groups) -> Row:
    (name, known), trials = place, found[place]
    seen = [trial if known else trial[AUTO] for trial in trials]
    means = {
        column: Spread.of([each[column] for each in seen]).mean if all(seen) else None
        for column in ("coverage", "score", "width")
    }
    former = found[name, 0][0][FORMER]
    return {
        "part": INTERVALS,
        "dataset": name,
        "known truths": known,
        "judged": "no" if name == TAUGHT and not known else "yes",
        **means,
        "former": former["score"],
        "former coverage": former["coverage"],
        "trials": len(trials),
    }


def _number(row: Row, column: str) -> float:
    return float(row[column] or 0.0)
