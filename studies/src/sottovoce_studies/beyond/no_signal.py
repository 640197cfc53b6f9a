"""Answers without a signal in study `calibration`: confidences near chance, and a warning."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from sottovoce.planning.trials import Spread
from sottovoce_studies.beyond.judged_part import Groups, Judged, Placed
from sottovoce_studies.beyond.noise_trials import WEAK_ANSWERS, pure_noise, weak_signal
from sottovoce_studies.cells import Cell
from sottovoce_studies.rulings import Statement
from sottovoce_studies.study import Row, Size

__all__ = ["EDGES", "judge_noise", "judge_weak", "noise_cells", "separation", "weak_cells"]

NEAR_CHANCE, WARNED, FALSE = 0.05, 0.95, 0.01
APART = 4.0
"""Standard deviations between noise and a signal that 95 % warnings and 1 % false ones need."""

TABLES: Mapping[Size, int] = {"quick": 6, "full": 200}
BATCH = 50
LABELS: Mapping[Size, tuple[int, ...]] = {"quick": (2, 5), "full": (2, 3, 4, 5)}
NOISE_ANSWERS: Mapping[Size, tuple[int, ...]] = {"quick": (3, 5), "full": (3, 4, 5)}
SIGNAL_ANSWERS: Mapping[Size, tuple[int, ...]] = {"quick": (30,), "full": (3, 5, 10, 30)}
EDGES = (0.1, 0.2)
"""How much more often than by chance a worker with a weak signal is right."""

NOISE, WEAK = "Pure noise", "Weak signal, false warnings"
NO_WARNINGS = "results have no warnings"


def noise_cells(size: Size, seed: int) -> Iterator[Placed]:
    """Tables of pure noise, by the number of labels and of answers per task."""
    for labels in LABELS[size]:
        for answers in NOISE_ANSWERS[size]:
            for first, count in _batches(size):
                cell = Cell(pure_noise, (labels, answers, first, count, seed))
                yield (labels, answers), cell


def weak_cells(size: Size, seed: int) -> Iterator[Placed]:
    """Tables with a weak signal, also by how much better than chance the workers are."""
    for labels in LABELS[size]:
        for answers in SIGNAL_ANSWERS[size]:
            for edge in EDGES:
                for first, count in _batches(size):
                    cell = Cell(weak_signal, (labels, answers, edge, first, count, seed))
                    yield (labels, answers, edge), cell


def _batches(size: Size) -> Iterator[tuple[int, int]]:
    for first in range(0, TABLES[size], BATCH):
        yield first, min(BATCH, TABLES[size] - first)


def judge_noise(found: Groups) -> Judged:
    """Mean confidences are near chance, and almost every table has a warning."""
    rows: list[Row] = []
    for (labels, answers), batches in found.items():
        confidence = Spread.of([value for batch in batches for value in batch["confidence"]])
        rows.append(
            {
                "part": NOISE,
                "labels": labels,
                "answers per task": answers,
                "mean confidence": confidence.mean,
                "chance": 1 / labels,
                "warned": _share(batches),
                "tables": confidence.trials,
            }
        )
    far = max(abs(_number(row, "mean confidence") - _number(row, "chance")) for row in rows)
    text = f"on pure noise the mean confidence is within {NEAR_CHANCE:g} of chance"
    return Judged(
        rows, [Statement(text, far <= NEAR_CHANCE, f"at most {far:.3f} away"), _noticed(rows)]
    )


def _noticed(rows: Sequence[Row]) -> Statement:
    text = f"pure noise is reported in at least {WARNED:.0%} of the tables of each setting"
    if any(row["warned"] is None for row in rows):
        return Statement(text, False, NO_WARNINGS)
    least = min(_number(row, "warned") for row in rows)
    return Statement(text, least >= WARNED, f"in at least {least:.1%}")


def judge_weak(found: Groups) -> Judged:
    """Almost no table has a warning where noise and signal can be told apart at all."""
    rows: list[Row] = []
    for (labels, answers, edge), batches in found.items():
        apart = separation(labels, answers, edge)
        rows.append(
            {
                "part": WEAK,
                "labels": labels,
                "answers per task": answers,
                "right": 1 / labels + edge,
                "agreement above chance, s.d.": apart,
                "judged": "yes" if apart >= APART else "no",
                "warned": _share(batches),
                "tables": sum(len(batch["warned"]) for batch in batches),
            }
        )
    return Judged(rows, [_unfounded([row for row in rows if row["judged"] == "yes"])])


def _unfounded(rows: Sequence[Row]) -> Statement:
    text = (
        f"at most {FALSE:.0%} of tables with a weak signal, where agreement is {APART:g} standard "
        "deviations above chance or more, are reported as noise"
    )
    if any(row["warned"] is None for row in rows):
        return Statement(text, False, NO_WARNINGS)
    false = [
        f"{row['labels']} labels, {row['answers per task']} answers a task, right with "
        f"{_number(row, 'right'):.2f}: {_number(row, 'warned'):.1%}"
        for row in rows
        if _number(row, "warned") > FALSE
    ]
    return Statement(text, not false, "; ".join(false) or f"in {len(rows)} settings")


def separation(labels: int, answers: int, edge: float) -> float:
    """How far the agreement of workers is above chance, in standard deviations under noise.

    Two workers who are right with probability 1/K + d, and err evenly, agree with probability
    1/K + d² K/(K - 1). Under noise their agreement has variance (K - 1)/K² for each pair.

    >>> round(separation(2, 3, 0.1), 2)
    1.26
    """
    pairs = WEAK_ANSWERS // answers * answers * (answers - 1) / 2
    excess = edge**2 * labels / (labels - 1)
    return excess * math.sqrt(pairs) * labels / math.sqrt(labels - 1)


def _share(batches: Sequence[Mapping[str, Sequence[bool | None]]]) -> float | None:
    """The share of tables with a warning; None if results cannot warn."""
    warned = [each for batch in batches for each in batch["warned"]]
    return None if None in warned else float(np.mean([bool(each) for each in warned]))


def _number(row: Row, column: str) -> float:
    return float(row[column] or 0.0)
