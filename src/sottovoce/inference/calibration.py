"""Calibration on known truths: probabilities that hold, and scores for prediction sets.

The tasks of the known truths must be a random sample of the tasks. Their posteriors come from fits
that did not know their truths (cross-fitting): `folds` says which truths each fit leaves out.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sottovoce.inference.steps.arithmetic import TIE
from sottovoce.model import Codes, FloatArray, Names

FOLDS = 5
"""Fits in which each known truth is left out once."""
FEWEST = 10
"""With fewer known truths, nothing is recalibrated."""
SLOPE, SHIFT = 0.5, 0.5
"""Prior standard deviations of the slope (around 1) and of the shift (around 0)."""
FLATTEST = 0.02
"""The smallest slope, so that order is kept."""
MARGIN = 1e-6
"""The lead of the most probable label, in log-odds, where the map would put it behind."""
_ROUNDS = 50


def folds(tasks: Names) -> npt.NDArray[np.intp]:
    """The fold of each task: by the order of the hashes of their names, all about equally large.

    >>> sorted(folds(np.array(["a", "b", "c", "d", "e"])).tolist())
    [0, 1, 2, 3, 4]
    """
    hashes = [hashlib.sha256(str(task).encode()).digest() for task in tasks]
    fold = np.empty(len(tasks), np.intp)
    fold[sorted(range(len(tasks)), key=hashes.__getitem__)] = np.arange(len(tasks)) % FOLDS
    return fold


class Recalibration(NamedTuple):
    """A map of posteriors that keeps the most probable label and the order of the others.

        P'(t) ∝ (P(t) + floor)^slope · exp(shift if t is the most probable label)

    For two labels this is Platt's scaling of the confidence, for more labels temperature scaling
    with a shift of the first label. n truths cannot show a probability far below 1/n, so `floor` is
    1 / (5 n labels).
    """

    slope: float
    shift: float
    floor: float

    @classmethod
    def fitted(cls, posterior: FloatArray, truths: Codes) -> Recalibration:
        """The mode of slope and shift, given truths and their posteriors.

        Normal priors keep the map near the identity where truths are few.
        """
        rows = np.arange(len(truths))
        floor = 1 / (5 * max(posterior.size, 1))
        features = _features(posterior, floor)
        identity, precision = np.array([1.0, 0.0]), np.array([SLOPE, SHIFT]) ** -2.0
        found = identity
        for _ in range(_ROUNDS):
            share = _softmax(features @ found)
            mean = np.einsum("nk,nkf->nf", share, features)
            gradient = (features[rows, truths] - mean).sum(axis=0) - precision * (found - identity)
            curvature = np.einsum("nk,nkf,nkg->fg", share, features, features) - mean.T @ mean
            step = np.linalg.solve(curvature + np.diag(precision), gradient)
            step /= max(1.0, float(np.abs(step).max()))
            before, found = found, np.maximum(found + step, (FLATTEST, -np.inf))
            if np.abs(found - before).max() < 1e-9:
                break
        return cls(float(found[0]), float(found[1]), floor)

    def __call__(self, posterior: FloatArray) -> FloatArray:
        """The recalibrated posteriors."""
        top = _most_probable(posterior)
        scores = _features(posterior, self.floor) @ np.array([self.slope, self.shift])
        others = np.where(top, -np.inf, scores).max(axis=1, keepdims=True)
        # The truth stays, just ahead.
        return _softmax(np.where(top, np.maximum(scores, others + MARGIN), scores))

    def __str__(self) -> str:
        return f"confidence recalibrated: slope {self.slope:.2f}, shift {self.shift:.2f}"


def _features(posterior: FloatArray, floor: float) -> FloatArray:
    """[task, label, 2]: the log-probability, and whether the label is the most probable one."""
    return np.stack([np.log(posterior + floor), _most_probable(posterior)], axis=2)


def _most_probable(posterior: FloatArray) -> npt.NDArray[np.bool_]:
    top = posterior.max(axis=1, keepdims=True)
    return np.asarray(posterior >= top - TIE * top)


def _softmax(scores: FloatArray) -> FloatArray:
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def label_scores(posterior: FloatArray, truths: Codes, fold: npt.NDArray[np.intp]) -> FloatArray:
    """1 - P'(truth) of each known task, sorted; P' is recalibrated on the other folds."""
    scores = np.empty(len(truths))
    for each in range(FOLDS):
        out = fold == each
        learnt = Recalibration.fitted(posterior[~out], truths[~out])
        scores[out] = 1 - learnt(posterior[out])[np.arange(out.sum()), truths[out]]
    return np.sort(scores)


def raised(error: FloatArray) -> FloatArray:
    """Standard errors, at least a tenth of their median: answers may agree by chance."""
    positive = error[error > 0]
    return np.maximum(error, 0.1 * float(np.median(positive)) if len(positive) else 1.0)


def error_factor(scores: FloatArray) -> float:
    """The factor by which standard errors must grow, so that 1.96 of them cover 95 %.

    The root mean square of the scores, times Student's quantile over the normal one.
    """
    from scipy.stats import norm, t

    wider = t.ppf(0.975, len(scores)) / norm.ppf(0.975)
    return float(np.sqrt(np.mean(np.square(scores))) * wider)
