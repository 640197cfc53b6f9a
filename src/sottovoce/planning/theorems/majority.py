"""How often a weighted vote of workers of known accuracy errs: exactly, and a bound.

Two labels. Workers answer on their own; worker u is right with probability pᵤ. The label with the
greater sum of weights wins, and a coin decides between equal sums.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import scipy  # its parts are loaded when first used

from sottovoce.errors import UsageError
from sottovoce.model import FloatArray
from sottovoce.planning.theorems.checking import open_probabilities

__all__ = ["error_bound", "flipped", "log_odds", "vote_error"]

MOST_SCORES = 1 << 20
"""More different sums of weights than this are not followed: 20 workers, all different."""
TIE = 1e-9
"""Sums closer to 0 than this, with the greatest weight 1, are ties; rounding leaves about 1e-12."""


def log_odds(accuracy: npt.ArrayLike) -> FloatArray:
    """The best weights, w = ln(p / (1 − p)) (P1 §6.2.1): no other vote errs less."""
    right = open_probabilities("accuracy", accuracy)
    return np.asarray(np.log(right) - np.log1p(-right))


def flipped(accuracy: npt.ArrayLike, flip: npt.ArrayLike) -> FloatArray:
    """The accuracy of reports that are flipped answers: p + f (1 − 2p) (P1 eq. 7).

    >>> flipped([0.9, 0.6], 0.25).round(3).tolist()
    [0.7, 0.55]
    """
    right = open_probabilities("accuracy", accuracy)
    chance = np.asarray(flip, np.float64)
    if not ((chance >= 0) & (chance <= 1)).all():
        raise UsageError(f"flip must lie in [0, 1], not {chance}")
    if chance.ndim and chance.shape != right.shape:
        raise UsageError(f"flip must be one number or {len(right)}, one per worker")
    return np.asarray(right + chance * (1 - 2 * right))


def error_bound(accuracy: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> float:
    """No vote with these weights errs more often, even if it loses every tie (Chernoff).

        P(Σ w x ≤ 0) ≤ E exp(−t Σ w x) = Π (p exp(−tw) + (1 − p) exp(tw)),   any t ≥ 0

    Here x is +1 for a right answer and −1 for a wrong one. With log-odds weights, the default,
    t = ½ is best and the product is Π 2 √(p (1 − p)); with others the best t is searched for.

    >>> round(error_bound([0.9] * 5), 5)
    0.07776
    """
    right = open_probabilities("accuracy", accuracy)
    if weights is None:
        return float(np.exp(np.log(4 * right * (1 - right)).sum() / 2))
    scaled = _scaled(right, weights)

    def log_product(t: float) -> float:
        right_part, wrong_part = np.log(right) - t * scaled, np.log1p(-right) + t * scaled
        return float(np.logaddexp(right_part, wrong_part).sum())

    return math.exp(min(0.0, log_product(_best_tilt(right, scaled, log_product))))


def vote_error(accuracy: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> float:
    """How often the vote errs, by adding up the chances of all sums of weights; ties count half.

    Equal sums are merged, so workers of one accuracy cost little, however many. Different ones
    double the sums, and beyond 20 or so the crowd is refused.

    >>> round(vote_error([0.9] * 5), 5)
    0.00856
    """
    right = open_probabilities("accuracy", accuracy)
    scaled = _scaled(right, log_odds(right) if weights is None else weights)
    sums: FloatArray = np.zeros(1)
    chances: FloatArray = np.ones(1)
    for p, w in zip(right, scaled, strict=True):
        both = np.round(np.concatenate([sums + w, sums - w]), 12)
        sums, place = np.unique(both, return_inverse=True)
        both = np.concatenate([chances * p, chances * (1 - p)])
        chances = np.bincount(place, both).astype(np.float64)
        if len(sums) > MOST_SCORES:
            raise UsageError(
                f"{len(right)} workers have too many different weights for an exact error; use "
                "error_bound, or round their accuracies"
            )
    tied = np.abs(sums) < TIE
    return float(chances[(sums < 0) & ~tied].sum() + chances[tied].sum() / 2)


def _scaled(right: FloatArray, weights: npt.ArrayLike) -> FloatArray:
    """The weights over the greatest of them: a vote does not depend on their scale."""
    given = np.asarray(weights, np.float64)
    if given.shape != right.shape or not np.isfinite(given).all():
        raise UsageError(f"weights must be {len(right)} finite numbers, one per worker")
    greatest = np.abs(given).max()
    return np.asarray(given / greatest if greatest else given)


def _best_tilt(
    right: FloatArray, scaled: FloatArray, log_product: Callable[[float], float]
) -> float:
    """The t ≥ 0 with the least product: a convex sum, so between the best t of its terms."""
    counted = scaled != 0
    if not counted.any():
        return 0.0
    with np.errstate(over="ignore"):  # a weight of next to nothing has its best t anywhere
        own = log_odds(right[counted]) / (2 * scaled[counted])
    # No factor is below 2√(p(1−p)), and that of the greatest weight, 1, grows like exp(t): beyond
    # this t the product is above 1, its value at 0.
    rarer = np.minimum(right, 1 - right)[np.abs(scaled).argmax()]
    farthest = -math.log(rarer) - float(np.log(4 * right * (1 - right)).sum()) / 2
    low = float(np.clip(own.min(), 0.0, farthest))
    high = float(np.clip(own.max(), 0.0, farthest))
    if high - low <= TIE * high:
        return low
    found = scipy.optimize.minimize_scalar(log_product, bounds=(low, high), method="bounded")
    return float(found.x)
