"""Noise that adds up to discrete Laplace noise: differences of negative binomials."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.mechanisms.laws.draws import below
from sottovoce.model import WORDS, FloatArray, Words
from sottovoce.model.policy import short
from sottovoce.seams import Randomness

BLOCK = 1 << 18
"""Proposals at a time."""

FLATTEST = Fraction(1, 1 << 17)
"""The least decay: flatter noise would need tables of many millions of entries."""

MOST_PART, MOST_SHAPE = 1 << 40, 1 << 16
"""The largest integers in a decay and in a shape: products fit into a word, and into floats."""


@dataclass(frozen=True, slots=True)
class Polya:
    """The difference of two negative binomials NB(r, q): r = `shape` up to 1, q = exp(-`decay`).

        P(k) = (1 - q)ʳ qᵏ r (r + 1) … (r + k - 1) / k!   for each of the two

    1 / r of them add up to the difference of two geometric variables, whose law is discrete
    Laplace, P(z) ∝ exp(-decay |z|) (Goryczka & Xiong 2017). Draws are exact: they use words and no
    floats.

    >>> from sottovoce.datasets.seeded_randomness import SeededRandomness
    >>> Polya(Fraction(1, 2), Fraction(1)).sample(8, SeededRandomness(1)).shape
    (8,)
    """

    shape: Fraction
    decay: Fraction

    def __post_init__(self) -> None:
        _check_fraction("shape", self.shape, MOST_SHAPE)
        _check_fraction("decay", self.decay, MOST_PART)
        if self.shape > 1:
            raise UsageError(f"shape must be at most 1, not {self.shape}")
        if self.decay < FLATTEST:
            raise UsageError(f"decay must be at least {FLATTEST}, not {self.decay}")

    def sample(self, count: int, randomness: Randomness) -> npt.NDArray[np.int64]:
        """`count` independent draws."""
        drawn = self._negative_binomials(2 * count, randomness)
        return drawn[:count] - drawn[count:]

    def _negative_binomials(self, count: int, randomness: Randomness) -> npt.NDArray[np.int64]:
        """The first `count` accepted proposals."""
        found, missing = [np.empty(0, np.int64)], count
        while missing:
            number = min(math.ceil(1.05 * missing / self._chance) + 8, BLOCK)
            found.append(self._proposals(number, randomness)[:missing])
            missing -= len(found[-1])
        return np.concatenate(found)

    @property
    def _chance(self) -> float:
        """The approximate share of accepted proposals: (1 - q)^(1 - r), for u at least 1 - 1/e."""
        kept = -math.expm1(-float(self.decay))
        return float(kept ** (1 - float(self.shape)) * -math.expm1(-1.0))

    def _proposals(self, number: int, randomness: Randomness) -> npt.NDArray[np.int64]:
        """Geometric draws k, kept with a(k) = r (r + 1) … (r + k - 1) / k!, which is at most 1.

        With q = exp(-n / d) they are ⌊(u + d v) / n⌋: u uniform below d and kept with exp(-u / d),
        v geometric with 1/e. So u + d v is geometric with exp(-1 / d), and every n of its values
        make one of k (Canonne, Kamath & Steinke 2020, alg. 2). a(k) falls, so the word that decides
        on k excludes most u before anything else is drawn.
        """
        n, d = self.decay.numerator, self.decay.denominator
        u, words = below(d, number, randomness), randomness.words(number)
        sure, unsure = _compared((u // np.uint64(n)).astype(np.int64), words, self.shape)
        u, words = u[sure | unsure], words[sure | unsure]
        kept = exponential_coins(u, d, randomness)
        u, words = u[kept], words[kept]
        v = exponential_lengths(len(u), randomness)
        # d v stays below 2⁶⁴ up to v = 2²⁴, which has a probability of exp(-2²⁴).
        drawn = ((u + np.uint64(d) * v) // np.uint64(n)).astype(np.int64)
        return drawn[_accepted(drawn, words, self.shape, randomness)]


def _check_fraction(field: str, value: Fraction, most: int) -> None:
    if not isinstance(value, Fraction) or value <= 0:
        raise UsageError(f"{field} must be a Fraction above 0, not {short(value)}")
    if max(value.numerator, value.denominator) > most:
        raise UsageError(f"{field} must be a fraction of integers up to {most:,}")


def exponential_lengths(count: int, randomness: Randomness) -> Words:
    """The number of coins of 1/e that are true before the first that is not."""
    lengths, alive = np.zeros(count, np.uint64), np.arange(count)
    while alive.size:
        alive = alive[exponential_coins(np.ones(alive.size, np.uint64), 1, randomness)]
        lengths[alive] += np.uint64(1)
    return lengths


def exponential_coins(
    numerators: Words, denominator: int, randomness: Randomness
) -> npt.NDArray[np.bool_]:
    """Independent coins that are true with exp(-γ), γ = numerator / denominator from 0 to 1.

    Round j goes on with γ / j. The first round that does not is odd with 1 - γ + γ²/2! - …
    (von Neumann 1951; Canonne, Kamath & Steinke 2020, alg. 1).
    """
    coins = np.zeros(len(numerators), np.bool_)
    alive, turn = np.arange(len(numerators)), 1
    while alive.size:
        goes_on = below(denominator * turn, alive.size, randomness) < numerators[alive]
        coins[alive[~goes_on]] = turn % 2 == 1
        alive, turn = alive[goes_on], turn + 1
    return coins


def _accepted(
    drawn: npt.NDArray[np.int64], words: Words, shape: Fraction, randomness: Randomness
) -> npt.NDArray[np.bool_]:
    """Whether the uniform number whose first 64 bits are the word is below a(k).

    Integers decide where floats might err.
    """
    accepted, unsure = _compared(drawn, words, shape)
    for row in np.flatnonzero(unsure).tolist():
        accepted[row] = _is_below(int(words[row]), _acceptance(shape, int(drawn[row])), randomness)
    return accepted


def _compared(
    drawn: npt.NDArray[np.int64], words: Words, shape: Fraction
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Masks of the words that are certainly below a(k), and of those too near to decide.

    k quotients and k products have a relative error of less than k 2⁻⁵².
    """
    table = _acceptances(shape, 1 << int(drawn.max(initial=0)).bit_length())[drawn]
    number, slack = words.astype(np.float64) / WORDS, (drawn + 8) * 2.0**-51
    below_it = number < table * (1 - slack)
    return below_it, ~below_it & (number <= table * (1 + slack))


@lru_cache(maxsize=16)
def _acceptances(shape: Fraction, count: int) -> FloatArray:
    """a(0), …, a(count), in floats."""
    r, s = shape.numerator, shape.denominator
    i = np.arange(1, count + 1, dtype=np.float64)
    table = np.concatenate([[1.0], np.cumprod((s * (i - 1) + r) / (s * i))])
    table.flags.writeable = False
    return table


def _acceptance(shape: Fraction, k: int) -> Fraction:
    """a(k), exactly."""
    r, s = shape.numerator, shape.denominator
    return Fraction(
        math.prod(s * i + r for i in range(k)), math.prod(s * (i + 1) for i in range(k))
    )


def _is_below(word: int, bound: Fraction, randomness: Randomness) -> bool:
    """Whether the uniform number that begins with the word is below the bound; may draw more."""
    while True:
        scaled = bound * WORDS
        if scaled >= word + 1:
            return True
        if scaled <= word:
            return False
        bound, word = scaled - word, int(randomness.words(1)[0])


@lru_cache(maxsize=32)
def noise_law(decay: Fraction, shape: Fraction, tail: float = 1e-15) -> tuple[FloatArray, int]:
    """The law of the difference of two NB(shape, exp(-decay)): chances of -reach … reach, reach.

    At most `tail` lies beyond reach. With φ(x) = Σ p(z) xᶻ = ((1 - q)² / ((1 - qx)(1 - q/x)))ʳ, the
    equation (1 - qx)(x - q) x φ' = r q (x² - 1) φ gives for its coefficients

        q (z - r) p(z) = (1 + q²)(z - 1) p(z - 1) - q (z - 2 + r) p(z - 2).

    p is the decreasing solution, so its ratios p(z) / p(z - 1) are computed from far out inwards,
    where errors die away (Miller's algorithm), and nothing cancels.

    >>> law, reach = noise_law(Fraction(1), Fraction(1))
    >>> round(float(law[reach]), 6), round(math.tanh(0.5), 6)
    (0.462117, 0.462117)
    """
    q, r = math.exp(-float(decay)), float(shape)
    far = math.ceil((-math.log(tail) + 40 + 8 * r) / float(decay)) + 8
    ratios = np.empty(far)
    ratio = q
    for z in range(far + 1, 1, -1):  # p(z - 1) / p(z - 2) from p(z) / p(z - 1)
        ratio = q * (z - 2 + r) / ((1 + q * q) * (z - 1) - q * (z - r) * ratio)
        ratios[z - 2] = ratio
    side = np.concatenate([[1.0], np.cumprod(ratios)])
    side /= side[0] + 2 * side[:0:-1].sum()
    beyond = 2 * np.cumsum(side[::-1])[::-1]  # of |z| ≥ its index
    reach = max(int(np.count_nonzero(beyond > tail)) - 1, 1)  # 1: the rate of decay is known
    law = np.concatenate([side[reach:0:-1], side[: reach + 1]])
    law.flags.writeable = False
    return law, reach
