"""Sums that do not depend on the order of their terms."""

from __future__ import annotations

import numpy as np

from sottovoce.model import FloatArray

__all__ = ["split"]


def split(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Two parts of every value, whose sums over any of the values are exact in any order.

    Each part is a multiple of a power of two so coarse that adding up all of them never rounds
    (Demmel & Nguyen 2013, pre-rounding): `high` keeps about 52 − log₂ n bits below the largest
    value, `low` as many again, and what is left is beyond what a plain sum would keep.

    Inference iterates, and can sit on an unstable balance where a difference in the last bit grows
    severalfold each round. With exact sums the same answers in another order give the same bits.
    """
    top = float(np.abs(values).max(initial=0.0))
    if top == 0.0 or not np.isfinite(top):
        return values, np.zeros_like(values)
    growth = int(np.ceil(np.log2(max(values.size, 1)))) + 1
    exponent = int(np.frexp(top)[1]) + growth
    high = _on_grid(values, exponent)
    return high, _on_grid(values - high, exponent - 52 + growth)


def _on_grid(values: FloatArray, exponent: int) -> FloatArray:
    """The nearest multiples of 2^(exponent − 52): adding 1.5 · 2^exponent rounds to that grid."""
    anchor = 1.5 * 2.0**exponent
    return np.asarray((values + anchor) - anchor)
