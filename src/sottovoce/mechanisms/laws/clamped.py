"""Geometric noise on a grid with clamped ends: its exact law and what it betrays."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.mechanisms.laws.geometric import LONGEST, Geometric, log_probabilities
from sottovoce.model import WORDS, FloatArray, Words

__all__ = ["Clamped"]

SCALES = 14
"""How many noise scales a report may lie beyond the range: one in 10⁶ would go further."""

LEAST_BITS = 32
"""Reports beyond the range have weights of at least 2³², so that rounding moves ε by 2⁻³²."""


@dataclass(frozen=True, slots=True)
class Clamped:
    """The law of min(max(answer + z, -R), steps + R), R = reach - steps, for answers 0, …, steps.

    Weights w fall with the distance, so a report j ≥ steps is likeliest under the answer `steps`
    and least likely under 0, and the largest loss is the largest of

        ln w(d) / w(d + steps)  for 0 ≤ d < R,   ln T(R) / T(reach),   T(d) the weight of z ≥ d.

    >>> law = Clamped.near(9, 1.0, 1e-7)
    >>> round(law.cell_epsilon, 6), law.beyond
    (1.0, 126)
    """

    steps: int
    noise: Geometric

    @staticmethod
    def near(steps: int, cell: float, tolerance: float) -> Clamped:
        """The least noise with at most this ε per answer, found by aiming lower and lower.

        Above the ε that 64-bit weights can hold it stays there.
        """
        cell = min(cell, _largest_cell(steps))
        reach = steps + _beyond(steps, cell)

        def at(epsilon: float) -> Clamped:
            return Clamped(steps, Geometric.near(_ratio(epsilon / steps), reach))

        slack = 0.0
        while slack < cell:
            law = at(cell - slack)
            missed = cell - law.cell_epsilon
            if missed > tolerance:  # rounding made the ends likelier: most of it can be had back
                lifted = at(cell - slack + 0.9 * missed)
                law = lifted if lifted.cell_epsilon <= cell else law
            if missed >= 0:
                return law
            slack = 2 * slack or tolerance / 64
        raise UsageError(
            f"64-bit weights cannot hold noise of epsilon {cell:g} on {steps:,} steps: "
            "choose a coarser step or a larger epsilon"
        )

    @property
    def beyond(self) -> int:
        """R: how far reports may lie outside the range."""
        return self.noise.reach - self.steps

    @property
    def last(self) -> int:
        """The largest report, steps + R; the smallest is -R."""
        return self.steps + self.beyond

    def weights_of(self, answer: int) -> Words:
        """The weights of the reports -R, …, steps + R, given an answer's code."""
        reach, tails = self.noise.reach, self.noise.tails
        distance = np.abs(np.arange(-self.beyond, self.last + 1) - answer)
        row = self.noise.weights[np.minimum(distance, reach)]
        row[0], row[-1] = tails[self.beyond + answer], tails[self.last - answer]
        return row

    def log_likelihood(
        self, report: npt.NDArray[np.int64], answer: npt.NDArray[np.int64]
    ) -> FloatArray:
        """ln P(report | answer); both broadcast, both in range."""
        weights, tails = map(log_probabilities, (self.noise.weights, self.noise.tails))
        value = weights[np.minimum(np.abs(report - answer), self.noise.reach)]
        value = np.where(report == -self.beyond, tails[self.beyond + answer], value)
        return np.where(report == self.last, tails[self.last - answer], value)

    def log_mixture(self) -> FloatArray:
        """ln P(report) for a uniform answer: windows of the noise's cumulative weights."""
        noise, points = self.noise, self.steps + 1
        inner = np.arange(-self.beyond + 1, self.last) + noise.reach
        upto = np.concatenate([np.zeros(1, np.uint64), noise.cumulative])
        # Between j - steps and j: a difference of cumulative weights, exact modulo 2⁶⁴.
        window = (upto[inner + 1] - upto[inner - self.steps]).astype(np.float64)
        end = float(np.sum(noise.tails[self.beyond :].astype(np.float64)))
        return np.log(np.concatenate([[end], window, [end]]) / points) - math.log(WORDS)

    @property
    def cell_epsilon(self) -> float:
        """The exact ε of one report."""
        return _cell_epsilon(self.noise, self.steps)

    def cell_delta(self, epsilon: float) -> float:
        """δ of one report: that of the answers 0 and `steps`, and a little for rounding.

        Let ρ(j) = P(j | a) / P(j | b), a < b. Without rounding ρ falls in j, so δ(a, b) is
        P(S | a) - exp(ε) P(S | b) for a set S = {report ≤ s}; answer + z rises with the answer, so
        0 and `steps` have the largest difference of all on every such S. With rounding ln ρ is off
        by at most η, so the best set lies in S' = {ρ unrounded ≥ exp(ε - η)}, again of that form,
        on which P(j | a) - exp(ε) P(j | b) ≥ -(exp(2η) - 1) P(j | a). Hence

            δ(a, b) ≤ δ(0, steps) + exp(2η) - 1,   and δ ≤ that of binary randomised response.

        A mixture of answers (NULL as a random point) adds nothing: the divergence is convex.
        """
        if epsilon >= self.cell_epsilon:
            return 0.0
        first, last = self.weights_of(0) / WORDS, self.weights_of(self.steps) / WORDS
        ends = float(np.sum(np.maximum(first - math.exp(epsilon) * last, 0.0)))
        loss = epsilon - self.cell_epsilon
        binary = -math.expm1(loss) / (1 + math.exp(-self.cell_epsilon))
        return min(ends + math.expm1(2 * self._rounding), binary)

    @property
    def _rounding(self) -> float:
        """η: a bound on |ln ρ rounded - ln ρ unrounded|, from w(d) > centre · aᵈ - 1.01."""
        noise = self.noise
        tail, steps = float(noise.weights[-1]), self.steps
        ideal = noise.centre * math.exp(-noise.reach * noise.decay) / -math.expm1(-noise.decay)
        ends = 2 * (abs(tail - ideal) + 1.01 * steps) / max(min(tail, ideal), 1.0)
        # From 1 on the bound says nothing, however large it is.
        return min(max(1.01 / float(noise.weights[-2]), ends) + 1e-12, 1.0)


@lru_cache(maxsize=64)
def _cell_epsilon(noise: Geometric, steps: int) -> float:
    weights, tails, beyond = noise.weights, noise.tails, noise.reach - steps
    # Differences are exact in integers, where those of logarithms would cancel.
    inner = (weights[:beyond] - weights[steps:-1]) / weights[steps:-1]
    if beyond == 0 and steps > 1:  # the ends are clamped; between them no report is further off
        inner = (weights[:1] - weights[-2:-1]) / weights[-2:-1]
    ends = (tails[beyond] - tails[-1]) / tails[-1]
    return float(np.log1p(np.max(inner, initial=float(ends))))


def _ratio(decay: float) -> int:
    """exp(-decay) over 2⁶⁴, without cancellation near 1 or rounding away near 0."""
    if decay > 1:
        return max(int(math.exp(-decay) * WORDS), 1)
    return min(WORDS + math.floor(math.expm1(-decay) * WORDS), WORDS - 1)


def _log_centre(steps: int, cell: float) -> float:
    return math.log(WORDS) + math.log(math.tanh(cell / (2 * steps)))


def _beyond(steps: int, cell: float) -> int:
    """R: 14 noise scales, if the table and the weights last that long."""
    scale = steps / cell
    bits = (_log_centre(steps, cell) - LEAST_BITS * math.log(2)) * scale - steps
    return max(math.floor(min(math.ceil(SCALES * scale), bits, LONGEST - steps)), 0)


def _largest_cell(steps: int) -> float:
    """About the largest ε at which the least weight is still 16 or more."""
    low, high = 1.0, 64.0
    for _ in range(50):
        middle = (low + high) / 2
        fits = _log_centre(steps, middle) - middle >= math.log(16)
        low, high = (middle, high) if fits else (low, middle)
    return low
