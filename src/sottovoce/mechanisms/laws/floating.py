"""Draws in floating point, for the mechanisms whose noise no integers hold."""

from __future__ import annotations

import numpy as np
import scipy  # its parts are loaded when first used

from sottovoce.model import WORDS, FloatArray, Words

__all__ = ["exponential", "laplace", "normal"]

HALF = np.uint64(WORDS // 2)


def exponential(words: Words) -> FloatArray:
    """-ln u for u = (word + ½) / 2⁶⁴, with all digits also where u is near 1.

    >>> exponential(np.array([0, 2**64 - 1], np.uint64)) * [1, 2.0**65]
    array([45.05456674,  1.        ])
    """
    near_zero = (words.astype(np.float64) + 0.5) / WORDS
    near_one = ((~words).astype(np.float64) + 0.5) / WORDS
    return -np.where(words < HALF, np.log(near_zero), np.log1p(-np.minimum(near_one, 0.5)))


def normal(words: Words) -> FloatArray:
    """The normal quantile: the first bit is the sign, the others the place in the lower tail.

    >>> normal(np.array([0, 2**62, 2**63], np.uint64)).round(3)
    array([-9.155, -0.674,  9.155])
    """
    tail = scipy.special.ndtri(((words & (HALF - np.uint64(1))).astype(np.float64) + 0.5) / WORDS)
    return np.where(words < HALF, tail, -tail)


def laplace(words: Words) -> FloatArray:
    """Laplace noise of scale 1: the first bit is the sign, the others an exponential."""
    size = exponential(words << np.uint64(1))
    return np.where(words < HALF, -size, size)
