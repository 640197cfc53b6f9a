"""Answers without a signal in study `calibration`: confidences near chance, and a warning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from sottovoce.planning.trials import Spread
from sottovoce_studies.beyond.judged_part import Groups, Judged, Placed
from sottovoce_studies.beyond.noise_trials import WARNED, least_false, pure_noise, weak_signal
from sottovoce_studies.cells import Cell
from sottovoce_studies.rulings import Statement
from sottovoce_studies.study import Row, Size

__all__ = ["EDGES", "judge_noise", "judge_weak", "noise_cells", "weak_cells"]

NEAR_CHANCE, FALSE = 0.05, 0.01
POSSIBLE = 0.005
"""Settings are judged where the best rule has at most this share of false warnings."""

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
                # First, before the batches of tables of this place.
                yield (labels, answers, edge), Cell(least_false, (labels, answers, edge, seed))
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
    """Almost no table has a warning, where some rule can avoid it."""
    rows: list[Row] = []
    for (labels, answers, edge), (least, *batches) in found.items():
        rows.append(
            {
                "part": WEAK,
                "labels": labels,
                "answers per task": answers,
                "above chance": edge,
                "warned": _share(batches),
                "least possible": least,
                "judged": "yes" if least <= POSSIBLE else "no",
                "tables": sum(len(batch["warned"]) for batch in batches),
            }
        )
    return Judged(rows, [_unfounded(rows)])


def _unfounded(rows: Sequence[Row]) -> Statement:
    text = (
        f"at most {FALSE:.0%} of tables with a weak signal have this warning, where a rule that "
        f"reports {WARNED:.0%} of pure noise can reach that"
    )
    judged = [row for row in rows if row["judged"] == "yes"]
    if any(row["warned"] is None for row in judged):
        return Statement(text, False, NO_WARNINGS)
    false = [row for row in judged if _number(row, "warned") > FALSE]
    seen = [*map(_setting, false)] or [f"in {len(judged)} settings"]
    return Statement(text, not false, "; ".join([*seen, *_impossible(rows)]))


def _impossible(rows: Sequence[Row]) -> Iterator[str]:
    """The settings where no rule can avoid false warnings."""
    others = [_number(row, "least possible") for row in rows if row["judged"] == "no"]
    if others:
        yield (
            f"in {len(others)} other settings no rule has fewer than {min(others):.1%} to "
            f"{max(others):.0%}"
        )


def _setting(row: Row) -> str:
    return (
        f"{row['labels']} labels, {row['answers per task']} answers a task, "
        f"{row['above chance']:g} above chance: {_number(row, 'warned'):.1%}"
    )


def _share(batches: Sequence[Mapping[str, Sequence[bool | None]]]) -> float | None:
    """The share of tables with a warning; None if results cannot warn."""
    warned = [each for batch in batches for each in batch["warned"]]
    return None if None in warned else float(np.mean([bool(each) for each in warned]))


def _number(row: Row, column: str) -> float:
    return float(row[column] or 0.0)
