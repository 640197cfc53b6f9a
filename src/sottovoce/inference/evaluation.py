"""Evaluation of truths against gold."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sottovoce.errors import DataError
from sottovoce.model import FloatArray, Gold, Names, Result, Score

LEVEL = 0.95
_RESAMPLES = 2_000
_MOST_DRAWS = 20_000_000


def score(result: Result, gold: Gold, *, seed: int = 0) -> Score:
    """Accuracy for labels, mean absolute and root mean squared error for numbers.

    The interval is a percentile bootstrap over tasks, drawn with a fixed seed so that the same
    result always prints the same interval. Gold tasks without an answer, and those whose truth the
    method knew, are counted, not scored.
    """
    rows, answered = positions(result.tasks, gold.tasks)
    if not answered.any():
        raise DataError("no gold task has an answer: compare the task names")
    found = answered if result.known is None else answered & ~result.known[rows]
    if not found.any():
        raise DataError("the truth of every gold task was known: there is none left to score")
    truths = result.values[rows[found]]
    wanted = gold.truths[found]
    unanswered, known = int((~answered).sum()), int((answered & ~found).sum())
    rng = np.random.default_rng(seed)
    if result.domain.is_numeric:
        errors = np.abs(truths.astype(np.float64) - wanted.astype(np.float64))
        low, high = _interval(errors, rng)
        rmse = float(np.sqrt(np.mean(np.square(errors))))
        mae = float(errors.mean())
        return Score(len(errors), unanswered, low, high, mae=mae, rmse=rmse, known=known)
    right = (_as_text(truths) == _as_text(wanted)).astype(np.float64)
    low, high = np.clip(_interval(right, rng), 0.0, 1.0).tolist()
    accuracy = float(right.mean())
    return Score(len(right), unanswered, low, high, accuracy=accuracy, known=known)


def positions(names: Names, wanted: Names) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
    """The position of each name, and whether it is there; as text unless both are integers."""
    if not (names.dtype.kind in "iu" and wanted.dtype.kind in "iu"):
        names, wanted = _as_text(names), _as_text(wanted)
    order = np.argsort(names)
    at = np.minimum(np.searchsorted(names, wanted, sorter=order), len(names) - 1)
    rows = order[at]
    return rows, np.asarray(names[rows] == wanted)


def _as_text(values: npt.NDArray[np.generic]) -> npt.NDArray[np.str_]:
    return values.astype(str)


def _interval(errors: FloatArray, rng: np.random.Generator) -> tuple[float, float]:
    """Percentiles of the resampled mean; for very many tasks, of its normal limit."""
    tails = (1 - LEVEL) / 2, (1 + LEVEL) / 2
    if len(errors) * _RESAMPLES > _MOST_DRAWS:
        from scipy.special import ndtri

        width = errors.std() / np.sqrt(len(errors)) * ndtri(tails[1])
        return float(errors.mean() - width), float(errors.mean() + width)
    errors = np.sort(errors)  # so that the interval does not depend on the order of tasks
    draws = rng.integers(0, len(errors), (_RESAMPLES, len(errors)), dtype=np.int32)
    low, high = np.quantile(errors[draws].mean(axis=1), tails)
    return float(low), float(high)
