"""Known truths beside the answers, and the best that one answer for all tasks could do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.errors import DataError
from sottovoce.model import Domain, Gold, Names, Reports, label_text

__all__ = ["BestConstant", "best_constant", "truths_by_task"]


def truths_by_task(answers: Reports, gold: Gold, *, as_numbers: bool = False) -> npt.NDArray[Any]:
    """The truth of each task of a table: a label code (-1 where unknown), or a number (NaN).

    A label nobody may answer gets a code that no result has, so that it counts as wrong. With
    `as_numbers`, ordinal labels become the numbers they stand for.
    """
    rows, found = _rows_of(answers.tasks, gold.tasks)
    if not found.any():
        raise DataError("none of the gold tasks is among the answered ones: compare the task names")
    if answers.domain.is_numeric:
        return _placed(gold.truths[found].astype(np.float64), rows[found], answers, np.nan)
    codes = _placed(_codes(gold.truths[found], answers.domain), rows[found], answers, -1)
    if not as_numbers:
        return codes
    scale = answers.domain.scale
    known = (codes >= 0) & (codes < len(scale))
    if not known.any():
        raise DataError("no truth in the gold table is one of the answers' labels")
    return np.where(known, scale[np.where(known, codes, 0)], np.nan)


@dataclass(frozen=True, slots=True)
class BestConstant:
    """One answer for every task, the best there is against the truths, and its mean error."""

    value: float
    error: float


def best_constant(truths: npt.NDArray[Any]) -> BestConstant:
    """The most frequent truth of labels (a code), the median of numbers: nothing fixed does better.

    It knows the truths, so a method that does worse has learnt nothing about the tasks.

    >>> best_constant(np.array([1, 1, 0, -1])).error
    0.33333333333333337
    """
    if truths.dtype.kind == "f":
        known = truths[np.isfinite(truths)]
        middle = float(np.median(known))
        return BestConstant(middle, float(np.abs(known - middle).mean()))
    counts = np.bincount(truths[truths >= 0])
    return BestConstant(int(counts.argmax()), float(1 - counts.max() / counts.sum()))


def _rows_of(tasks: Names, wanted: Names) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
    """Where each wanted task is among the tasks, compared as text unless both are integers."""
    if not (tasks.dtype.kind in "iu" and wanted.dtype.kind in "iu"):
        tasks, wanted = tasks.astype(str), wanted.astype(str)
    order = np.argsort(tasks)
    at = np.minimum(np.searchsorted(tasks, wanted, sorter=order), len(tasks) - 1)
    return order[at], np.asarray(tasks[order[at]] == wanted)


def _codes(labels: npt.NDArray[Any], domain: Domain) -> npt.NDArray[np.int64]:
    texts = {text: code for code, label in enumerate(domain.labels)
             for text in (str(label), label_text(label))}  # fmt: skip
    return np.array([texts.get(str(label), domain.size) for label in labels.tolist()], np.int64)


def _placed(
    values: npt.NDArray[Any], rows: npt.NDArray[np.intp], answers: Reports, unknown: float
) -> npt.NDArray[Any]:
    placed = np.full(len(answers.tasks), unknown, values.dtype)
    placed[rows] = values
    return placed
