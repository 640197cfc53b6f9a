"""Two-sided geometric noise as an integer law: one table of weights over 2⁶⁴.

Also its exact privacy loss on a grid with clamped ends (`Clamped`), and for sums that are clamped
before and after (`step_epsilon`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.mechanisms.laws.draws import blocks
from sottovoce.mechanisms.validation import check_integer, check_weight
from sottovoce.model import WORDS, FloatArray, Words
from sottovoce.seams import Randomness

LONGEST = 1 << 17
"""The largest reach: a table has 2 · reach entries."""


class _Tables(NamedTuple):
    weights: Words
    tails: Words
    cumulative: Words


@dataclass(frozen=True, slots=True)
class Geometric:
    """Noise z with P(z = ±d) = w(d) / 2⁶⁴ for d < reach, and the rest at ±reach, half each.

    Fixed point with 64 fractional bits, so that any language with big integers has the same table:

        v(0) = centre · 2⁶⁴,   v(d) = ⌊v(d - 1) · ratio / 2⁶⁴⌋,   w(d) = ⌊v(d) / 2⁶⁴⌋,
        w(reach) = (2⁶⁴ - w(0) - 2 Σ w(d)) / 2   over 0 < d < reach

    An even centre makes the last weight an integer. w(d) is centre · (ratio / 2⁶⁴)ᵈ less at most 1
    + reach / 2⁶⁴. Every weight must be at least 1, or the law is refused: a report that cannot
    occur under one answer would reveal the others.

    >>> law = Geometric.near(1 << 63, 2)
    >>> [int(weight) * 6 / WORDS for weight in law.weights]
    [2.0, 1.0, 1.0]
    """

    centre: int
    ratio: int
    reach: int

    def __post_init__(self) -> None:
        check_weight("centre", self.centre)
        check_weight("ratio", self.ratio)
        check_integer("reach", self.reach, 1, LONGEST)
        if self.centre % 2:
            raise UsageError(f"centre must be even, not {self.centre}")
        _tables(self.centre, self.ratio, self.reach)

    @classmethod
    def near(cls, ratio: int, reach: int) -> Self:
        """The law whose tail continues the same ratio: centre is 2⁶⁴ (1 - a) / (1 + a)."""
        # Rounding down makes the rest larger, which is the safe side.
        return cls((WORDS * (WORDS - ratio) // (WORDS + ratio)) & ~1, ratio, reach)

    @property
    def weights(self) -> Words:
        """w(0), …, w(reach)."""
        return _tables(self.centre, self.ratio, self.reach).weights

    @property
    def tails(self) -> Words:
        """The weight of z ≥ d for d = 0, …, reach."""
        return _tables(self.centre, self.ratio, self.reach).tails

    @property
    def cumulative(self) -> Words:
        """The weight of z ≤ d for d = -reach, …, reach - 1; the next would be 2⁶⁴."""
        return _tables(self.centre, self.ratio, self.reach).cumulative

    @property
    def decay(self) -> float:
        """-ln(ratio / 2⁶⁴): one over the noise scale."""
        if self.ratio < WORDS // 2:
            return -math.log(self.ratio / WORDS)
        return -math.log1p((self.ratio - WORDS) / WORDS)

    def sample(self, count: int, randomness: Randomness) -> npt.NDArray[np.int64]:
        """One word per draw: z is the number of entries of the table that do not exceed it."""
        table, noise = self.cumulative, np.empty(count, np.int64)
        for block in blocks(count):
            words = randomness.words(block.stop - block.start)
            noise[block] = np.searchsorted(table, words, side="right")
        noise -= self.reach
        return noise


def log_probabilities(weights: Words) -> FloatArray:
    """ln(w / 2⁶⁴)."""
    return np.log(weights.astype(np.float64)) - math.log(WORDS)


@lru_cache(maxsize=8)
def _tables(centre: int, ratio: int, reach: int) -> _Tables:
    fixed, listed = centre << 64, []
    for _ in range(reach):
        listed.append(fixed >> 64)
        fixed = (fixed * ratio) >> 64
    rest = (WORDS + centre) // 2 - sum(listed)
    if listed[-1] < 1 or rest < 1:
        raise UsageError(
            "64-bit weights cannot represent this noise, because some reports would never occur: "
            "choose a smaller epsilon, a coarser step or a shorter reach"
        )
    weights = np.array([*listed, rest], np.uint64)
    tails = np.cumsum(weights[::-1], dtype=np.uint64)[::-1]
    # The weight of z ≤ -d is that of z ≥ d, and that of z ≤ d is 2⁶⁴ minus that of z ≥ d + 1.
    cumulative = np.concatenate([tails[:0:-1], np.uint64(0) - tails[1:]])
    for table in (weights, tails, cumulative):
        table.flags.writeable = False
    return _Tables(weights, tails, cumulative)


SCALES = 14
"""How many noise scales a report may lie beyond the range: one in 10⁶ would go further."""

LEAST_BITS = 32
"""Reports beyond the range have weights of at least 2³², so that rounding changes ε by 2⁻³²."""


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
        """The least noise with at most this ε per answer, found by repeatedly lowering the aim.

        Above the largest ε that 64-bit weights can represent it stays there.
        """
        cell = min(cell, _largest_cell(steps))
        reach = steps + _beyond(steps, cell)

        def at(epsilon: float) -> Clamped:
            return Clamped(steps, Geometric.near(_ratio(epsilon / steps), reach))

        slack = 0.0
        while slack < cell:
            law = at(cell - slack)
            missed = cell - law.cell_epsilon
            if (
                missed > tolerance
            ):  # rounding made the ends likelier: most of the loss can be regained
                lifted = at(cell - slack + 0.9 * missed)
                law = lifted if lifted.cell_epsilon <= cell else law
            if missed >= 0:
                return law
            slack = 2 * slack or tolerance / 64
        raise UsageError(
            f"64-bit weights cannot represent noise of epsilon {cell:g} on {steps:,} steps: "
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
        """δ of one report: that of the answers 0 and `steps`, plus a little for rounding.

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
        # From 1 on the bound is vacuous.
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
    """exp(-decay) over 2⁶⁴, without cancellation near 1 or rounding to 0."""
    if decay > 1:
        return max(int(math.exp(-decay) * WORDS), 1)
    return min(WORDS + math.floor(math.expm1(-decay) * WORDS), WORDS - 1)


def _log_centre(steps: int, cell: float) -> float:
    return math.log(WORDS) + math.log(math.tanh(cell / (2 * steps)))


def _beyond(steps: int, cell: float) -> int:
    """R: 14 noise scales, or as many as the table and the weights allow."""
    scale = steps / cell
    bits = (_log_centre(steps, cell) - LEAST_BITS * math.log(2)) * scale - steps
    return max(math.floor(min(math.ceil(SCALES * scale), bits, LONGEST - steps)), 0)


def _largest_cell(steps: int) -> float:
    """The approximate largest ε at which the least weight is still 16 or more."""
    low, high = 1.0, 64.0
    for _ in range(50):
        middle = (low + high) / 2
        fits = _log_centre(steps, middle) - middle >= math.log(16)
        low, high = (middle, high) if fits else (low, middle)
    return low


@lru_cache(maxsize=64)
def step_epsilon(noise: Geometric, steps: int) -> float:
    """The largest loss of min(max(t + z, -S), S), S = reach / 2, when t in ±S moves by `steps`.

    A report inside is at most reach - 1 from t, so its weight is one of w; at an end it is a tail:

        max ln w(d) / w(d + steps),   max ln T(d) / T(d + steps)

    Weights fall with the distance, so a smaller move has no larger loss.
    """
    weights, tails = noise.weights[:-1], noise.tails
    # Differences are exact in integers, where those of logarithms would cancel.
    inner = (weights[:-steps] - weights[steps:]) / weights[steps:]
    ends = (tails[:-steps] - tails[steps:]) / tails[steps:]
    return float(np.log1p(max(inner.max(), ends.max())))


def finest_resolution(steps: int, cell: float) -> int:
    """As fine as a table of 2¹⁸ entries and 64-bit weights allow, and no finer than useful."""
    finest = min(256, int(min(4096, 9000 * cell)) // steps)
    return max(1, finest, math.ceil(cell / 5))


def noise_for(steps: int, cell: float, resolution: int, changed: int) -> Geometric:
    """The least noise with at most this ε per answer, found by repeatedly lowering the aim."""
    decay = cell / (resolution * steps)
    # The rounding of the least weight, r k times, should not change ε by more than 2e-7.
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
        f"64-bit weights cannot represent noise of epsilon {cell:g} on {steps:,} steps: choose a "
        "coarser step or another epsilon"
    )
