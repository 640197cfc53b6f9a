"""Which workers matter most (P1 §6.2.3)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.inference.rounding import TIE
from sottovoce.model import FloatArray

__all__ = ["importance", "important"]


def importance(accuracy: npt.ArrayLike) -> FloatArray:
    """How much larger P1's error bound grows without a worker of this accuracy.

        Im(k) = 1 / G(min(p, 1 − p)),   G(p) = (p/e + (1 − p) e)^ln(p / (1 − p))      (P1 eq. 6)

    G bounds nothing (the published chain has a slip), but the order it gives is P1's: a worker
    right or wrong half of the time has importance 1, a decisive one more. Accuracies are kept
    within [.02, .98], as in `TD`.

    >>> [round(float(x), 4) for x in 1 / importance([0.1, 0.9, 0.5])]
    [0.1355, 0.1355, 1.0]
    """
    folded = np.clip(np.asarray(accuracy, np.float64), 0.02, 0.98)
    folded = np.minimum(folded, 1 - folded)
    base = folded / np.e + (1 - folded) * np.e
    return np.asarray(base ** -np.log(folded / (1 - folded)))


def important(accuracy: npt.ArrayLike, share: float) -> npt.NDArray[np.bool_]:
    """The workers whose importance is at least `share` of the greatest, 0 < share ≤ 1."""
    if not 0 < share <= 1:
        raise UsageError(f"share must lie in (0, 1], not {share}")
    scores = importance(accuracy)
    return np.asarray(scores >= share * scores.max() * (1 - TIE))
