"""Rounding that keeps the order of additions from deciding anything."""

from __future__ import annotations

import numpy as np

from sottovoce.model import FloatArray

__all__ = ["TIE", "steady"]

TIE = 1e-9
"""Scores closer than this, relative to the larger, are a tie."""

_SPLIT = float(2**13 + 1)


def steady(values: FloatArray) -> FloatArray:
    """The values rounded to 40 significant bits (about 1e-12 relative; Veltkamp's splitting).

    Sums of the same numbers in another order differ in their last bits. Iterated inference can
    sit on an unstable balance, where such a difference doubles each round until it decides which
    of two equal labels wins. Every aggregator therefore rounds its worker parameters once a round:
    what is equal but for the order of additions stays equal.
    """
    scaled = values * _SPLIT
    return np.asarray(scaled - (scaled - values))
