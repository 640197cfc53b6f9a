"""Sums that do not depend on the order of their terms."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sottovoce.model import FloatArray

__all__ = ["split", "total"]


def split(
    values: FloatArray, top: npt.ArrayLike, count: npt.ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Two parts of every value, whose sums over a group are exact in any order.

    `top` is the largest absolute value of the group a value belongs to and `count` the group's
    size. Each part is a multiple of a power of two so coarse that adding up the group never rounds
    (Demmel & Nguyen 2013, pre-rounding): `high` keeps about 52 − log₂ n bits below the largest
    value, `low` as many again, and what is left is beyond what a plain sum would keep.

    Inference iterates, and can sit on an unstable balance where a difference in the last bit grows
    severalfold each round. With exact sums the same answers in another order give the same bits.
    """
    growth = np.frexp(np.asarray(count, np.float64))[1] + 1
    exponent = np.frexp(np.asarray(top, np.float64))[1] + growth
    high = _on_grid(values, exponent)
    return high, _on_grid(values - high, exponent - 52 + growth)


def total(values: FloatArray) -> float:
    """The sum of all values, the same for any order of them."""
    high, low = split(values, np.abs(values).max(initial=0.0), values.size)
    return float(high.sum() + low.sum())


def _on_grid(values: FloatArray, exponent: npt.NDArray[np.int32]) -> FloatArray:
    """The nearest multiples of 2^(exponent − 52): adding 1.5 · 2^exponent rounds to that grid."""
    anchor = np.ldexp(1.5, exponent)
    return np.asarray((values + anchor) - anchor)
