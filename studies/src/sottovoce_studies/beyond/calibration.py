"""Study `calibration`: a confidence of 0.8 is right in 8 cases of 10, at any noise.

On drawn crowds, whose workers err as in the model; on the public datasets, where they do not; and
on labels that say nothing, where the default must say so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.figures import Chart, Series, Table
from sottovoce.planning.pipelines import Pipeline
from sottovoce_studies.beyond.judged_part import Groups, Judged, Placed
from sottovoce_studies.beyond.no_signal import (
    EDGES,
    judge_noise,
    judge_weak,
    noise_cells,
    weak_cells,
)
from sottovoce_studies.beyond.noise_trials import SIZES
from sottovoce_studies.beyond.public_calibration import (
    KNOWN,
    TAUGHT,
    interval_cells,
    judge_intervals,
    judge_labels,
    label_cells,
)
from sottovoce_studies.beyond.public_sets import LABEL_SETS, NUMBER_SETS, found_sets, provenance
from sottovoce_studies.beyond.scores import BINS, Reliability, reliability
from sottovoce_studies.cells import Cell
from sottovoce_studies.contests import Contest, trial_of
from sottovoce_studies.crowds import LabelCrowd
from sottovoce_studies.rulings import Rulings, Statement, explained, ruling_on
from sottovoce_studies.study import Outcome, Row, Size, Study, Work

__all__ = ["LIMIT", "STUDY", "judge_crowds"]

LIMIT = 0.05
EPSILONS: Mapping[Size, tuple[float, ...]] = {"quick": (1, 4), "full": (0.5, 1, 2, 4)}
TRIALS: Mapping[Size, int] = {"quick": 3, "full": 40}

CROWD = "Expected calibration error on drawn crowds"

_RESPONSE = Pipeline("randomised response + aware", "randomized-response")
_SUBSETS = Pipeline("subset selection + aware", "subset-selection")

CROWDS: Mapping[str, tuple[LabelCrowd, Pipeline]] = {
    "s 5, heterogeneous": (LabelCrowd(100, 300, 60, 5, "heterogeneous"), _RESPONSE),
    "s 20, homogeneous": (LabelCrowd(200, 300, 60, 20, "homogeneous"), _SUBSETS),
    "s 20, heterogeneous": (LabelCrowd(200, 300, 60, 20, "heterogeneous"), _SUBSETS),
}


class Part(NamedTuple):
    """The cells of a part at a size and a seed, and the function that judges their results."""

    cells: Callable[[Size, int], Iterator[Placed]]
    judge: Callable[[Groups], Judged]


def plan(size: Size, seed: int) -> Work:
    """The cells of all parts; a part without cells, because its data are absent, is left out."""
    work = [(part, *placed) for part in PARTS for placed in part.cells(size, seed)]
    names = (*LABEL_SETS[size], *NUMBER_SETS[size])

    def judged(results: Sequence[Any]) -> Outcome:
        found: dict[Part, dict[tuple[Any, ...], list[Any]]] = {}
        for (part, place, _), result in zip(work, results, strict=True):
            found.setdefault(part, {}).setdefault(place, []).append(result)
        return _outcome([part.judge(groups) for part, groups in found.items()], names)

    return Work([cell for _, _, cell in work], judged)


def _outcome(parts: Sequence[Judged], names: Sequence[str]) -> Outcome:
    statements = [statement for part in parts for statement in part.statements]
    more = [provenance(names)]
    absent = found_sets(names).absent
    more += [f"Not in the cache: {', '.join(absent)}"] if absent else []
    return Outcome(
        tuple(row for part in parts for row in part.rows),
        Rulings(numbers=ruling_on(statements)),
        explained(statements, *more),
        tuple(chart for part in parts for chart in part.charts),
        tuple(table for part in parts for table in part.details),
    )


def crowd_cells(size: Size, seed: int) -> Iterator[Placed]:
    """The confidences of every trial of every crowd; quick runs have one crowd."""
    for name, (crowd, pair) in list(CROWDS.items())[: 1 if size == "quick" else None]:
        for epsilon in EPSILONS[size]:
            contest = Contest(crowd, epsilon, (pair,))
            for trial in range(TRIALS[size]):
                yield (name, epsilon), Cell(confidences, (contest, trial, seed))


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


def judge_crowds(found: Groups) -> Judged:
    """The calibration error of each crowd and epsilon, over pooled trials, is under the limit."""
    pooled = {place: _pooled(trials) for place, trials in found.items()}
    rows = [_crowd_row(place, seen, len(found[place])) for place, seen in pooled.items()]
    met = sum(row["met"] == "yes" for row in rows)
    text = f"the expected calibration error on drawn crowds is under {LIMIT:g}"
    return Judged(
        rows,
        [Statement(text, met == len(rows), f"in {met} of {len(rows)} cases")],
        _charts(pooled),
        [_table(place, seen) for place, seen in pooled.items()],
    )


def _pooled(trials: Sequence[Mapping[str, Sequence[float]]]) -> Reliability:
    confidence, right = (
        np.concatenate([np.array(trial[name], np.float64) for trial in trials])
        for name in ("confidence", "right")
    )
    return reliability(confidence, right)


def _crowd_row(place: tuple[Any, ...], seen: Reliability, trials: int) -> Row:
    name, epsilon = place
    return {
        "part": CROWD,
        "crowd": name,
        "epsilon": epsilon,
        "our pair": CROWDS[name][1].name,
        "error": seen.error,
        "limit": LIMIT,
        "difference": seen.error - LIMIT,
        "accuracy": float(seen.right @ seen.size / seen.size.sum()),
        "met": "yes" if seen.error < LIMIT else "no",
        "trials": trials,
    }


def _table(place: tuple[Any, ...], seen: Reliability) -> Table:
    rows = zip(
        seen.size.astype(int).tolist(), seen.confidence.tolist(), seen.right.tolist(), strict=True
    )
    caption = f"Reliability: {place[0]}, epsilon {place[1]:g}"
    return Table(("truths", "mean confidence", "share right"), tuple(rows), caption)


def _charts(found: Mapping[tuple[Any, ...], Reliability]) -> list[Chart]:
    """One chart per crowd: the share that is right by confidence, at each epsilon."""
    return [
        Chart(
            f"Reliability of confidences: {crowd}",
            "stated confidence, mean of a bin",
            "share of truths that are right",
            (
                *(
                    _curve(f"epsilon {place[1]:g} per answer", seen)
                    for place, seen in found.items()
                    if place[0] == crowd
                ),
                Series("ideal", (0.0, 1.0), (0.0, 1.0), role="reference"),
            ),
            note="Stated confidences match the share of right truths. Expected calibration "
            "errors: "
            + ", ".join(
                f"{seen.error:.3f} at epsilon {place[1]:g}"
                for place, seen in found.items()
                if place[0] == crowd
            )
            + ".",
            better="neither",
        )
        for crowd in dict.fromkeys(place[0] for place in found)
    ]


def _curve(name: str, seen: Reliability) -> Series:
    # Bins may share a confidence, most often 1; a chart has one value per confidence.
    places, inverse = np.unique(np.round(seen.confidence, 4), return_inverse=True)
    shares = np.bincount(inverse, seen.right * seen.size) / np.bincount(inverse, seen.size)
    return Series(name, tuple(places.tolist()), tuple(shares.tolist()), role="ours")


PARTS = (
    Part(crowd_cells, judge_crowds),
    Part(label_cells, judge_labels),
    Part(interval_cells, judge_intervals),
    Part(noise_cells, judge_noise),
    Part(weak_cells, judge_weak),
)

STUDY = Study(
    "calibration",
    "Stated confidences match the share of right truths, on drawn crowds and on public datasets, "
    "clean and at every epsilon; intervals of numbers cover; and the result warns if answers carry "
    "no signal",
    "the crowds of aware-vs-papers, public datasets with gold, and simulated noise",
    f"calibration errors are over {BINS} bins of equal mass; on drawn crowds of pooled trials, on "
    "datasets of single trials, less the error that a method with these confidences shows if each "
    "truth is right with its confidence (200 simulations); the log loss of votes is that of "
    "shares with 1/2 added to each label's count; ties are broken at random; intervals are judged "
    f"on all datasets of numbers but {TAUGHT}, there with {KNOWN} known truths drawn at random, "
    "on the other tasks; pure noise is uniform labels that do not depend on the task, on "
    f"{', '.join(f'{tasks:,} tasks of {workers} workers' for tasks, workers in SIZES)} in turn; a "
    f"weak signal is 1,000 answers that are right {' or '.join(map(str, EDGES))} more often than "
    "by chance, and is judged where the test of Neyman and Pearson, which knows how often, has few "
    "false warnings",
    plan,
    "one crowd, the tuning sets at two epsilons, 3 trials each instead of 40; 6 tables of noise "
    "instead of 200",
    recorded=("partly", "not claimed", "not claimed"),
)
