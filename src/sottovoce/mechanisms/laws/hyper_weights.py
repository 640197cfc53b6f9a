"""Integer hyper distributions: the weight of each other symbol, drawn once per worker."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self, TypeAlias

import numpy as np
import scipy  # its parts are imported on first use

from sottovoce.errors import UsageError
from sottovoce.mechanisms.laws.draws import below
from sottovoce.mechanisms.validation import MOST_LABELS, check_integer, word_weight
from sottovoce.model import WORDS, FloatArray, Words
from sottovoce.privacy.hyper_distribution import Hyper, LevelsHyper, UniformHyper
from sottovoce.seams import Randomness

LEAST_HIGH = 1 << 20
"""The smallest top of a range: integers from 0 to this approximate a continuum."""
MOST_LEVELS = 4096


def most_other(symbols: int) -> int:
    """The largest weight of each other symbol: the answer itself keeps at least 1 / 2⁶⁴.

    So a flip probability of 1 is rounded to 1 - 2⁻⁶⁴, and every moved weight fits into a word.
    """
    return (WORDS - 1) // (symbols - 1)


@dataclass(frozen=True, slots=True)
class UniformWeights:
    """A worker's weight of each other symbol is uniform on the integers from low to high.

    Its guarantees are those of a continuous law: the sum over the integers is the midpoint rule on
    [low - ½, high + ½], or from low = 0 the trapezoid rule on [0, high]. For k answers ε per answer
    is the same up to k s / 2⁶⁴, below rounding; ε per worker is at most (k / high)² / 24 too small
    and k / high too large, so high may not be small.
    """

    low: int
    high: int

    def check(self, symbols: int) -> None:
        """Refuse weights that make a symbol impossible."""
        check_integer("high", self.high, LEAST_HIGH, most_other(symbols))
        check_integer("low", self.low, 0, self.high)

    def draw(self, workers: int, randomness: Randomness) -> Words:
        """One weight per worker."""
        return np.uint64(self.low) + below(self.high - self.low + 1, workers, randomness)

    @property
    def mean(self) -> Fraction:
        """The mean weight of each other symbol."""
        return Fraction(self.low + self.high, 2)

    def quantiles(self, shares: FloatArray) -> FloatArray:
        """The quantiles of the weights at these shares of the workers."""
        return self.low + shares * (self.high - self.low)

    def law(self, symbols: int) -> Hyper:
        """The law of the flip probability."""
        low, high = Fraction(self.low), Fraction(self.high)
        if 0 < low < high:
            low, high = low - Fraction(1, 2), high + Fraction(1, 2)
        step = Fraction(symbols - 1, WORDS)
        return UniformHyper(low * step, min(high * step, Fraction(1)))

    def as_json(self) -> dict[str, Any]:
        """The integers in a policy."""
        return {"low": str(self.low), "high": str(self.high)}


@dataclass(frozen=True, slots=True)
class LevelWeights:
    """A worker's weight of each other symbol is others[j] with probability weights[j] / 2⁶⁴."""

    others: tuple[int, ...]
    weights: tuple[int, ...]

    @classmethod
    def beta(
        cls, symbols: int, low: float, high: float, first: float, second: float, levels: int = 256
    ) -> Self:
        """Flip probabilities low + (high - low) B with B ~ Beta(first, second), on equal cells.

        >>> leaning = LevelWeights.beta(2, 0.0, 0.6, 2.0, 4.0)
        >>> round(float(leaning.mean / WORDS), 4)
        0.2
        """
        if not (0 < first < math.inf and 0 < second < math.inf):
            raise UsageError(
                f"first and second must be numbers above 0, not {first:g} and {second:g}"
            )
        return cls._shaped(
            symbols, low, high, levels, lambda x: scipy.special.betainc(first, second, x)
        )

    @classmethod
    def normal(
        cls, symbols: int, low: float, high: float, mean: float, deviation: float, levels: int = 256
    ) -> Self:
        """Flip probabilities from N(mean, deviation²) within [low, high], on equal cells."""
        if not (low <= mean <= high and 0 < deviation < math.inf):
            raise UsageError(
                f"mean must be from low to high and deviation above 0, "
                f"not {mean:g} and {deviation:g}"
            )
        return cls._shaped(
            symbols,
            low,
            high,
            levels,
            lambda x: scipy.special.ndtr((low + (high - low) * x - mean) / deviation),
        )

    @classmethod
    def _shaped(
        cls,
        symbols: int,
        low: float,
        high: float,
        levels: int,
        below: Callable[[FloatArray], FloatArray],
    ) -> Self:
        """Equal cells, each at its middle; `below` is the mass below a position from 0 to 1."""
        if not 0 <= low < high <= 1:
            raise UsageError(
                f"flip probabilities need 0 <= low < high <= 1, not {low:g} and {high:g}"
            )
        check_integer("symbols", symbols, 2, MOST_LABELS + 1)
        check_integer("levels", levels, 1, MOST_LEVELS)
        edges = below(np.linspace(0.0, 1.0, levels + 1))
        middles = low + (high - low) * (np.arange(levels) + 0.5) / levels
        return cls._weighing(symbols, middles, np.diff(edges))

    @classmethod
    def _weighing(cls, symbols: int, flips: FloatArray, masses: FloatArray) -> Self:
        """Flip probabilities with chances in proportion to masses, which become integers."""
        others = [
            min(round(Fraction(float(flip)) * WORDS / (symbols - 1)), most_other(symbols))
            for flip in flips
        ]
        parts = [Fraction(float(mass)) for mass in masses]
        whole = sum(parts)
        marks = [int(total * WORDS / whole) for total in itertools.accumulate(parts)]
        weights = [b - a for a, b in itertools.pairwise([0, *marks])]
        kept = [(o, w) for o, w in zip(others, weights, strict=True) if w > 0]
        return cls(tuple(o for o, _ in kept), tuple(w for _, w in kept))

    def check(self, symbols: int) -> None:
        """Refuse levels that are not a law, or that make another symbol impossible."""
        if not 1 <= len(self.others) == len(self.weights) <= MOST_LEVELS:
            raise UsageError(
                f"others and weights must be lists of one length, from 1 to {MOST_LEVELS:,}"
            )
        for other in self.others:
            check_integer("others", other, 0, most_other(symbols))
        for weight in self.weights:
            check_integer("weights", weight, 1, WORDS)
        if sum(self.weights) != WORDS:
            raise UsageError(f"weights must add up to {WORDS}, not {sum(self.weights)}")
        if not any(self.others):
            raise UsageError(
                "others must contain a weight above 0: otherwise reports would be the answers"
            )

    def draw(self, workers: int, randomness: Randomness) -> Words:
        """One weight per worker: a word falls into the run of one level."""
        runs = np.array(list(itertools.accumulate(self.weights))[:-1], np.uint64)
        chosen = np.searchsorted(runs, randomness.words(workers), side="right")
        return np.array(self.others, np.uint64)[chosen]

    @property
    def mean(self) -> Fraction:
        """The mean weight of each other symbol."""
        return Fraction(sum(o * w for o, w in zip(self.others, self.weights, strict=True)), WORDS)

    def quantiles(self, shares: FloatArray) -> FloatArray:
        """The quantiles of the weights at these shares of the workers."""
        order = np.argsort(np.array(self.others, np.float64), kind="stable")
        runs = np.cumsum(np.array(self.weights, np.float64)[order]) / WORDS
        chosen = np.searchsorted(runs, shares).clip(max=len(order) - 1)
        quantiles: FloatArray = np.array(self.others, np.float64)[order][chosen]
        return quantiles

    def law(self, symbols: int) -> Hyper:
        """The law of the flip probability."""
        return LevelsHyper(
            tuple(Fraction(other * (symbols - 1), WORDS) for other in self.others),
            tuple(Fraction(weight, WORDS) for weight in self.weights),
        )

    def as_json(self) -> dict[str, Any]:
        """The integers in a policy."""
        return {"others": [str(o) for o in self.others], "weights": [str(w) for w in self.weights]}


HyperWeights: TypeAlias = UniformWeights | LevelWeights


def hyper_weights(fields: dict[str, Any]) -> HyperWeights:
    """The hyper distribution that `as_json` wrote."""
    if "low" in fields:
        return UniformWeights(word_weight(fields, "low"), word_weight(fields, "high"))
    return LevelWeights(_weights(fields, "others"), _weights(fields, "weights"))


def _weights(fields: dict[str, Any], field: str) -> tuple[int, ...]:
    texts = fields[field]
    if not isinstance(texts, list):
        raise UsageError(f"the policy's {field} must be a list of strings of digits")
    return tuple(word_weight({field: text}, field) for text in texts)
