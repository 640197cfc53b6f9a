"""Study `calibration`: a confidence of 0.8 is right in 8 cases of 10, at any noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.figures import Chart, Series, Table
from sottovoce.model import FloatArray
from sottovoce.planning.pipelines import Pipeline
from sottovoce_studies.cells import Cell
from sottovoce_studies.contests import Contest, trial_of
from sottovoce_studies.crowds import LabelCrowd
from sottovoce_studies.rulings import Ruling, Rulings
from sottovoce_studies.study import Outcome, Row, Size, Study, Work

__all__ = ["BINS", "LIMIT", "STUDY", "Reliability", "reliability"]

BINS = 15
LIMIT = 0.05
EPSILONS: Mapping[Size, tuple[float, ...]] = {"quick": (1, 4), "full": (0.5, 1, 2, 4)}
TRIALS: Mapping[Size, int] = {"quick": 3, "full": 20}

_RESPONSE = Pipeline("randomised response + aware", "randomized-response")
_SUBSETS = Pipeline("subset selection + aware", "subset-selection")

CROWDS: tuple[tuple[str, LabelCrowd, Pipeline], ...] = (
    ("s 5, heterogeneous", LabelCrowd(100, 300, 60, 5, "heterogeneous"), _RESPONSE),
    ("s 20, homogeneous", LabelCrowd(200, 300, 60, 20, "homogeneous"), _SUBSETS),
    ("s 20, heterogeneous", LabelCrowd(200, 300, 60, 20, "heterogeneous"), _SUBSETS),
)


class Reliability(NamedTuple):
    """Bins of equal mass: sizes, mean confidences, shares right; and the calibration error."""

    size: FloatArray
    confidence: FloatArray
    right: FloatArray
    error: float


def reliability(confidence: FloatArray, right: FloatArray, bins: int = BINS) -> Reliability:
    """Expected calibration error over bins of equal mass: the mean of |confidence - share right|.

    >>> reliability(np.array([0.5, 0.5, 1.0, 1.0]), np.array([0.0, 1.0, 1.0, 1.0]), bins=2).error
    0.0
    """
    if len(confidence) < bins:
        raise UsageError(f"{bins} bins need as many truths, not {len(confidence)}")
    # Stable, so that the order of tasks breaks ties.
    order = np.array_split(np.argsort(confidence, kind="stable"), bins)
    size = np.array([len(rows) for rows in order], np.float64)
    means = np.array([confidence[rows].mean() for rows in order])
    shares = np.array([right[rows].mean() for rows in order])
    return Reliability(size, means, shares, float(np.abs(means - shares) @ size / size.sum()))


def plan(size: Size, seed: int) -> Work:
    """The confidences of every trial of every crowd; quick runs have one crowd."""
    crowds = CROWDS[:1] if size == "quick" else CROWDS
    cases = [
        (name, epsilon, Contest(crowd, epsilon, (pair,)))
        for name, crowd, pair in crowds
        for epsilon in EPSILONS[size]
    ]
    trials = TRIALS[size]
    cells = [Cell(confidences, (case[2], trial, seed)) for case in cases for trial in range(trials)]
    return Work(cells, lambda results: judge(cases, results, trials))


def confidences(contest: Contest, trial: int, seed: int) -> dict[str, list[float]]:
    """Each task's confidence, and whether its truth was right."""
    [pair] = contest.pairs
    seen = trial_of(contest, pair, trial, seed)
    if seen.confidence is None:
        raise UsageError(f"{pair.name} gives no confidence")
    return {
        "confidence": np.round(seen.confidence, 6).tolist(),
        "right": (1 - seen.errors).tolist(),
    }


def judge(
    cases: Sequence[tuple[str, float, Contest]], results: Sequence[Any], trials: int
) -> Outcome:
    """Holds if the calibration error of each case, over pooled trials, is under the limit."""
    found = [_pooled(results[place * trials : (place + 1) * trials]) for place in range(len(cases))]
    rows = tuple(_row(case, seen, trials) for case, seen in zip(cases, found, strict=True))
    missed = [f"{row['crowd']} at epsilon {row['epsilon']:g}" for row in rows if row["met"] == "no"]
    words = f"under {LIMIT} in {len(rows) - len(missed)} of {len(rows)} cases"
    words += f"; not in {'; '.join(missed)}" if missed else ""
    ruling = Ruling("holds")
    if missed:
        ruling = Ruling("fails", f"{len(missed)} of {len(rows)} cases are not under {LIMIT}")
    return Outcome(
        rows,
        Rulings(numbers=ruling),
        f"{words}.",
        tuple(_charts(cases, found)),
        tuple(_table(case, seen) for case, seen in zip(cases, found, strict=True)),
    )


def _pooled(trials: Sequence[Mapping[str, Sequence[float]]]) -> Reliability:
    confidence, right = (
        np.concatenate([np.array(trial[name], np.float64) for trial in trials])
        for name in ("confidence", "right")
    )
    return reliability(confidence, right)


def _row(case: tuple[str, float, Contest], seen: Reliability, trials: int) -> Row:
    name, epsilon, contest = case
    return {
        "part": "Expected calibration error",
        "crowd": name,
        "epsilon": epsilon,
        "our pair": contest.pairs[0].name,
        "error": seen.error,
        "limit": LIMIT,
        "difference": seen.error - LIMIT,
        "accuracy": float(seen.right @ seen.size / seen.size.sum()),
        "met": "yes" if seen.error < LIMIT else "no",
        "trials": trials,
    }


def _table(case: tuple[str, float, Contest], seen: Reliability) -> Table:
    rows = zip(
        seen.size.astype(int).tolist(), seen.confidence.tolist(), seen.right.tolist(), strict=True
    )
    caption = f"Reliability: {case[0]}, epsilon {case[1]:g}"
    return Table(("truths", "mean confidence", "share right"), tuple(rows), caption)


def _charts(
    cases: Sequence[tuple[str, float, Contest]], found: Sequence[Reliability]
) -> list[Chart]:
    """One chart per crowd: the share that is right by confidence, at each epsilon."""
    return [
        Chart(
            f"Reliability of confidences: {crowd}",
            "stated confidence, mean of a bin",
            "share of truths that are right",
            (
                *(
                    _curve(f"epsilon {case[1]:g} per answer", seen)
                    for case, seen in zip(cases, found, strict=True)
                    if case[0] == crowd
                ),
                Series("ideal", (0.0, 1.0), (0.0, 1.0), role="reference"),
            ),
            note="Stated confidences match the share of right truths. Expected calibration "
            "errors: "
            + ", ".join(
                f"{seen.error:.3f} at epsilon {case[1]:g}"
                for case, seen in zip(cases, found, strict=True)
                if case[0] == crowd
            )
            + ".",
            better="neither",
        )
        for crowd in dict.fromkeys(case[0] for case in cases)
    ]


def _curve(name: str, seen: Reliability) -> Series:
    # Bins may share a confidence, most often 1; a chart has one value per confidence.
    places, inverse = np.unique(np.round(seen.confidence, 4), return_inverse=True)
    shares = np.bincount(inverse, seen.right * seen.size) / np.bincount(inverse, seen.size)
    return Series(name, tuple(places.tolist()), tuple(shares.tolist()), role="ours")


STUDY = Study(
    "calibration",
    f"The expected calibration error of truths from randomised labels is under {LIMIT} "
    f"({BINS} bins of equal mass, trials pooled)",
    "the crowds of aware-vs-papers",
    "drawn crowds that answer with labels, whose workers err as in the model; on real data, "
    "where workers share mistakes, confidences are too high; the correct confidence of a bin is "
    "the share of its truths that are right; ties are broken at random",
    plan,
    "one crowd at two epsilons, 3 trials each instead of 20",
    recorded=("holds", "not claimed", "not claimed"),
)
