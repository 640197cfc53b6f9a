"""The guarantee of Gaussian noise with a random variance, when floating point draws it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import scipy  # its parts are loaded when first used

from sottovoce.errors import UsageError
from sottovoce.model import Unit
from sottovoce.model.guarantee import check_unit
from sottovoce.privacy.random_variance import delta_finite

__all__ = ["VarianceCurve"]

FLOAT_ERROR = 2.0**-47
"""How far the drawn law may be from the stated one, per answer and per 1 + noise in steps."""


@dataclass(frozen=True, slots=True)
class VarianceCurve:
    """δ at ε for `answers` answers on a grid of so many steps; `rate` is per squared range.

    The stated law has the δ of `delta_finite` with D = 1 per answer, √k per worker. A draw x that
    is wrong by η (|x| + √V), in steps, rounds to another code only near a half step, which over all
    half steps has probability 2η (E|x| + E√V + 1). With η = 2e-15 that is below

        τ = 2⁻⁴⁷ (1 + steps / √λ)

    for one answer; that words have 64 bits costs 2⁻⁶⁰ (1 + steps / √λ) of it. So the laws of both
    neighbours are within k τ of the stated ones, and

        P(S | a) ≤ exp(ε) P(S | a') + δ(ε) + (1 + exp(ε)) k τ.
    """

    steps: int
    rate: float
    answers: int
    unit: Unit

    def __post_init__(self) -> None:
        check_unit(self.unit)
        if self.answers < 1:
            raise UsageError(f"answers must be at least 1, not {self.answers}")

    def spent(self, epsilon: float) -> float:
        """The right-hand δ: convex in ε, and falling at first."""
        distance = 1.0 if self.unit is Unit.ANSWER else math.sqrt(self.answers)
        error = FLOAT_ERROR * self.answers * (1 + self.steps / math.sqrt(self.rate))
        stated = delta_finite(epsilon, self.rate, distance, self.answers)
        return stated + (1 + math.exp(min(epsilon, 700.0))) * error

    def delta(self, epsilon: float) -> float:
        """What holds at some ε holds at every larger one: beyond its least value δ stays there."""
        if not epsilon >= 0:
            raise UsageError(f"epsilon must be at least 0, not {epsilon:g}")
        return min(self.spent(min(epsilon, _turn(self))), 1.0)

    def epsilon(self, delta: float) -> float:
        """The smallest ε at δ, rounded up; infinite where none holds."""

        def excess(epsilon: float) -> float:
            return self.spent(epsilon) - delta

        if excess(0.0) <= 0:
            return 0.0
        high = _turn(self)
        if excess(high) > 0:
            return math.inf
        epsilon = float(scipy.optimize.brentq(excess, 0.0, high, xtol=1e-13, rtol=1e-14))
        while excess(epsilon) > 0:
            epsilon = min(epsilon + 1e-10, high)
        return epsilon


@lru_cache(maxsize=256)
def _turn(curve: VarianceCurve) -> float:
    """The ε from which on floating-point error would outgrow what a larger ε gains."""
    found = scipy.optimize.minimize_scalar(
        curve.spent, bounds=(0.0, 45.0), method="bounded", options={"xatol": 1e-3}
    )
    return float(found.x)
