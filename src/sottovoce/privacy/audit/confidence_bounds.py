"""Confidence bounds on event probabilities, their ratios and epsilon, from counts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy  # its parts are imported on first use

from sottovoce.errors import UsageError
from sottovoce.model import FloatArray
from sottovoce.model.guarantee import check_delta


class Bounds(NamedTuple):
    """ε ≥ epsilon: an event has at least p_low under one input, at most q_high under the other."""

    epsilon: FloatArray
    p_low: FloatArray
    q_high: FloatArray


def check_chances(delta: float, confidence: float) -> None:
    """Refuse an invalid delta or confidence."""
    check_delta(delta)
    if not 0 < confidence < 1:
        raise UsageError(f"confidence must be above 0 and below 1, not {confidence:g}")


def bounds(
    likely: npt.ArrayLike,
    likely_of: int,
    rare: npt.ArrayLike,
    rare_of: int,
    *,
    delta: float,
    doubt: float,
) -> Bounds:
    """Lower bounds on ε that hold, with their probabilities, except with probability `doubt`.

    An event seen x of n times under one input and y of m times under the other has probabilities

        P ≥ p_low  = B⁻¹(doubt / 2; x, n - x + 1),    Q ≤ q_high = B⁻¹(1 - doubt / 2; y + 1, m - y)

    (Clopper and Pearson 1934), and P ≤ exp(ε) Q + δ gives ε ≥ ln((p_low - δ) / q_high).

    >>> found = bounds(731, 1000, 269, 1000, delta=0.0, doubt=0.05)
    >>> round(float(found.p_low), 4), round(float(found.q_high), 4), round(float(found.epsilon), 4)
    (0.7024, 0.2976, 0.8586)
    """
    x, y = np.asarray(likely, np.float64), np.asarray(rare, np.float64)
    low = np.where(
        x > 0, scipy.special.betaincinv(np.maximum(x, 1), likely_of - x + 1, doubt / 2), 0.0
    )
    high = np.where(
        y < rare_of, scipy.special.betainccinv(y + 1, np.maximum(rare_of - y, 1), doubt / 2), 1.0
    )
    gain = np.maximum(low - delta, 0.0)
    epsilon = np.log(np.maximum(gain / high, 1.0))
    return Bounds(epsilon, low, high)


def log_ratios(
    likely: npt.NDArray[np.int64], rare: npt.NDArray[np.int64]
) -> tuple[FloatArray, FloatArray]:
    """ln(P / Q) of each cell from its two counts, smoothed by one half, and its standard error."""
    x, y = likely + 0.5, rare + 0.5
    return np.log(x / x.sum()) - np.log(y / y.sum()), np.sqrt(1 / x + 1 / y)
