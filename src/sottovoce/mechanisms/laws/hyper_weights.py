"""Integer hyper distributions: the weight of each other symbol, drawn once per worker."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.mechanisms.laws.draws import below
from sottovoce.mechanisms.validation import check_integer, word_weight
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
