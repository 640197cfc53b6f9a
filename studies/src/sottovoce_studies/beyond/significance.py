"""Significance of paired differences: a one-sided t test for each cell, corrected by Holm."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sottovoce.model import FloatArray
from sottovoce.planning.trials import Spread

__all__ = ["LEVEL", "above", "holm"]

LEVEL = 0.05
ROUNDING = 1e-12


def above(differences: Sequence[float], allowed: float = 0.0) -> float:
    """The p value of a mean difference above the allowed one, from paired trials.

    Trials that all have the same difference leave no doubt; one trial says nothing.

    >>> above([0.1, 0.1]), above([0.0, 0.0])
    (0.0, 1.0)
    """
    from scipy.special import stdtr

    apart = Spread.of(differences)
    excess = apart.mean - allowed
    if apart.trials < 2:
        return 1.0
    if apart.standard_error < ROUNDING:
        return 0.0 if excess > ROUNDING else 1.0
    return float(stdtr(apart.trials - 1, -excess / apart.standard_error))


def holm(p_values: Sequence[float]) -> FloatArray:
    """P values corrected for their number (Holm 1979).

    The smallest of m is multiplied by m, the next by m - 1, and so on, never decreasing.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p_values, np.float64)
    order = np.argsort(values, kind="stable")
    stepped = values[order] * np.arange(len(values), 0, -1)
    corrected = np.empty(len(values))
    corrected[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return corrected
