"""Scores of labels and intervals: ties at random, calibration error, log loss, interval score."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.inference.steps.arithmetic import TIE
from sottovoce.model import FloatArray

__all__ = [
    "BINS",
    "CalibrationError",
    "Reliability",
    "calibration_error",
    "chances",
    "interval_score",
    "log_loss",
    "reliability",
    "rightness",
    "smoothed_shares",
]

BINS = 15
DRAWS = 200
"""Simulated outcomes of a perfectly calibrated method."""
SMOOTHING = 0.5
FLOOR = 1e-12
"""The least probability in a log loss; only rounding makes one smaller."""


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


class CalibrationError(NamedTuple):
    """The expected calibration error, and that of a perfectly calibrated method of this size."""

    error: float
    perfect: float

    @property
    def excess(self) -> float:
        """The error above that of perfect calibration; sampling alone may make it negative."""
        return self.error - self.perfect


def calibration_error(
    confidence: FloatArray, right: FloatArray, rng: np.random.Generator
) -> CalibrationError:
    """The error over 15 bins, and its mean if each truth is right with its own confidence.

    The second is not 0: a bin of 7 truths is rarely right in exactly the share that it states.
    """
    seen = reliability(confidence, right).error
    ordered = np.sort(confidence)
    starts = np.cumsum([0, *map(len, np.array_split(ordered, BINS)[:-1])])
    drawn = (rng.random((DRAWS, len(ordered))) < ordered) - ordered
    apart = np.abs(np.add.reduceat(drawn, starts, axis=1)).sum(axis=1)
    return CalibrationError(seen, float(apart.mean() / len(ordered)))


def chances(scores: FloatArray) -> FloatArray:
    """The probability of each label to be chosen, with ties broken at random.

    A row without a finite score, of a task that nobody reported on, ties in all labels.

    >>> chances(np.array([[2.0, 2.0, 1.0], [0.0, 3.0, 0.0]])).tolist()
    [[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]]
    """
    known = np.where(np.isfinite(scores).all(axis=1, keepdims=True), scores, 0.0)
    top = known.max(axis=1, keepdims=True)
    tied = known >= top - TIE * np.abs(top)
    return np.asarray(tied / tied.sum(axis=1, keepdims=True), np.float64)


def rightness(scores: FloatArray, truths: npt.NDArray[Any]) -> FloatArray:
    """The probability of each task's truth to be right, with ties broken at random.

    A truth that is no label of the domain is never right.
    """
    inside = truths < scores.shape[1]
    right = chances(scores)[np.arange(len(truths)), np.where(inside, truths, 0)]
    return np.asarray(right * inside, np.float64)


def smoothed_shares(votes: FloatArray) -> FloatArray:
    """Shares of votes with 1/2 added to each label's count, so that none is 0."""
    counts = votes + SMOOTHING
    return np.asarray(counts / counts.sum(axis=1, keepdims=True), np.float64)


def log_loss(posterior: FloatArray, truths: npt.NDArray[Any]) -> float:
    """The mean of -ln P(truth); truths that are no label of the domain are left out."""
    rows = np.flatnonzero(truths < posterior.shape[1])
    chosen = posterior[rows, truths[rows]]
    return float(-np.log(np.maximum(chosen, FLOOR)).mean())


def interval_score(
    low: FloatArray, high: FloatArray, truths: FloatArray, level: float = 0.95
) -> FloatArray:
    """The width of each interval, and a penalty for a truth outside (Gneiting & Raftery 2007, §6).

    (high - low) + 2 / (1 - level) · the distance of the truth from the interval

    >>> interval_score(np.zeros(2), np.ones(2), np.array([0.5, 1.1])).round(6).tolist()
    [1.0, 5.0]
    """
    outside = np.maximum(low - truths, 0) + np.maximum(truths - high, 0)
    return np.asarray(high - low + 2 / (1 - level) * outside, np.float64)
