"""Geometric noise on sums that are clamped before and after: what a shift betrays."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.mechanisms.laws.geometric import LONGEST, Geometric
from sottovoce.model import WORDS

__all__ = ["finest_resolution", "noise_for", "step_epsilon"]


@lru_cache(maxsize=64)
def step_epsilon(noise: Geometric, steps: int) -> float:
    """The largest loss of min(max(t + z, -S), S), S = reach / 2, when t in ±S moves by `steps`.

    A report inside is at most reach - 1 from t, so its weight is one of w; at an end it is a tail:

        max ln w(d) / w(d + steps),   max ln T(d) / T(d + steps)

    Weights fall with the distance, so a smaller move betrays no more.
    """
    weights, tails = noise.weights[:-1], noise.tails
    # Differences are exact in integers, where those of logarithms would cancel.
    inner = (weights[:-steps] - weights[steps:]) / weights[steps:]
    ends = (tails[:-steps] - tails[steps:]) / tails[steps:]
    return float(np.log1p(max(inner.max(), ends.max())))


def finest_resolution(steps: int, cell: float) -> int:
    """As fine as a table of 2¹⁸ entries and 64-bit weights allow, and no finer than is of use."""
    finest = min(256, int(min(4096, 9000 * cell)) // steps)
    return max(1, finest, math.ceil(cell / 5))


def noise_for(steps: int, cell: float, resolution: int, changed: int) -> Geometric:
    """The least noise with at most this ε per answer, found by aiming lower and lower."""
    decay = cell / (resolution * steps)
    # The rounding of the least weight, r k times, should not move ε by more than 2e-7.
    bits = math.log(WORDS * math.tanh(decay / 2)) - math.log(1e7 * resolution * changed)
    half = max(min(int(bits / (2 * decay)), LONGEST // 2), steps)
    slack = 0.0
    while slack < 0.01:
        ratio = WORDS + math.floor(math.expm1(-decay * (1 - slack)) * WORDS)
        noise = Geometric.near(ratio, 2 * half)
        if resolution * step_epsilon(noise, steps) <= cell:
            return noise
        slack = 2 * slack or 1e-12
    raise UsageError(
        f"64-bit weights cannot hold noise of epsilon {cell:g} on {steps:,} steps: "
        "choose a coarser step or another epsilon"
    )
