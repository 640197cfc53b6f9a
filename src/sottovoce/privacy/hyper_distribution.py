"""Hyper distributions of a worker's own flip probability: a range, or a few levels."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Self, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy  # its parts are imported on first use

from sottovoce.errors import UsageError
from sottovoce.model import FloatArray

_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(24)
NODES, SHARES = (_POINTS + 1) / 2, _WEIGHTS / 2
"""The Gauss-Legendre rule of the unit interval."""
PANELS = 4
"""Panels on each side of a peak; with 24 nodes each, e⁻⁶⁰ is reached without loss."""
DROP = 60.0
"""Below exp(-DROP) times its peak an integrand is negligible."""
ROWS = 2048
"""Moments computed at once, so that memory stays small."""


@dataclass(frozen=True, slots=True)
class UniformHyper:
    """A flip probability p ~ U(low, high); low = high is the one-layer mechanism.

    Fractions are kept exactly, so that 1 - p is accurate where p is close to 1.

    >>> UniformHyper(0.0, 1.0).given_matches(9)  # Beta(1, 10): mean 1 / 11
    (0.09090909090909091, 0.9090909090909091)
    """

    low: Fraction | float
    high: Fraction | float

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.high <= 1:
            raise UsageError(
                f"flip probabilities need 0 <= low <= high <= 1, "
                f"not {float(self.low):g} and {float(self.high):g}"
            )

    @property
    def width(self) -> float:
        """The range's length, rounded once."""
        return float(Fraction(self.high) - Fraction(self.low))

    def mirrored(self) -> Self:
        """The law of 1 - p."""
        return type(self)(1 - Fraction(self.high), 1 - Fraction(self.low))

    def at(self, place: FloatArray) -> tuple[FloatArray, FloatArray]:
        """p and 1 - p at positions from 0 (low) to 1 (high), neither as a difference."""
        flips = float(self.low) + self.width * place
        return flips, float(1 - Fraction(self.high)) + self.width * (1 - place)

    def _flip(self, place: float) -> float:
        return float(self.low) + self.width * place

    def given_matches(self, matches: int) -> tuple[float, float]:
        """E[p] and E[1 - p] given `matches` reports that equal their answers.

        With A = 1 - a this is a + (b - a) t, 1 - that = A - (b - a) t for the mean position t,
        which is at most 1/2: nothing cancels.
        """
        keep = float(1 - Fraction(self.low))
        if keep == 0:
            return 1.0, 0.0
        offset = self.width * _mean_place(matches + 1, self.width / keep)
        return float(self.low) + offset, keep - offset

    def log_moments(self, mismatches: npt.ArrayLike, answers: npt.ArrayLike) -> FloatArray:
        """ln E[p^m (1 - p)^(k - m)] for arrays of m and k, to about 1e-15 k.

        The integrand is log-concave. Gauss-Legendre panels cover the region within exp(-60) of its
        peak, on either side of it, so a peak of width 1/√k and a layer at an end of width 1/k are
        both resolved; all terms are positive, so nothing cancels.
        """
        m, k = np.broadcast_arrays(np.asarray(mismatches, float), np.asarray(answers, float))
        flat = np.empty(m.size)
        for start in range(0, m.size, ROWS):
            rows = slice(start, start + ROWS)
            flat[rows] = self._log_moments(m.ravel()[rows, None], k.ravel()[rows, None])
        return flat.reshape(m.shape)

    def _log_moments(self, m: FloatArray, k: FloatArray) -> FloatArray:
        def log(place: FloatArray) -> FloatArray:
            flips, keeps = self.at(place)
            return np.asarray(
                scipy.special.xlogy(m, flips) + scipy.special.xlogy(k - m, keeps), np.float64
            )

        peak: FloatArray = np.zeros(m.shape)
        if self.width > 0:
            peak = np.clip((m / k - float(self.low)) / self.width, 0.0, 1.0)
        top = log(peak)
        level = np.where(np.isfinite(top), top, 0.0)
        total = np.zeros(len(m))
        for end in (0.0, 1.0):
            reach = _reach(log, peak, end, level - DROP)
            steps = (np.arange(PANELS)[:, None] + NODES).ravel() / PANELS
            heights = np.exp(log(peak + (reach - peak) * steps) - level)
            total += np.abs(reach - peak)[:, 0] * (heights @ np.tile(SHARES, PANELS)) / PANELS
        with np.errstate(divide="ignore"):
            return level[:, 0] + np.log(total)

    def mean_below(self, others: int, mismatches: int, ratio: float) -> float:
        """E[((1 - p) - ratio p) P(Bin(others, p) ≤ mismatches)]."""
        if mismatches >= others:
            flip, keep = self.at(np.array([0.5]))
            return float(keep[0] - ratio * flip[0])
        law = (mismatches + 1, others - mismatches)
        first = scipy.special.betaincc(*law, float(self.low))
        whole = _last(lambda place: scipy.special.betainc(*law, self._flip(place)) <= 1e-18)
        end = _last(lambda place: scipy.special.betaincc(*law, self._flip(place)) >= 1e-26 * first)
        edges = np.concatenate([[0.0], np.linspace(whole, end, 2 * PANELS + 1)])
        steps = np.diff(edges)
        flips, keeps = self.at(edges[:-1, None] + steps[:, None] * NODES)
        values = (keeps - ratio * flips) * scipy.special.betaincc(*law, flips)
        return float(steps @ (values @ SHARES))

    def mean_at_most(self, worst: Callable[[float, float], float], cells: int) -> float:
        """A bound on E[worst(p, 1 - p)] for a function that falls and then rises with p.

        In each of the cells, finer towards the ends of the range, it is largest at an end.
        """
        places = np.sin(np.linspace(0.0, math.pi / 2, cells + 1)) ** 2
        flips, keeps = self.at(places)
        values = np.array([worst(*pair) for pair in zip(flips, keeps, strict=True)])
        return float(np.diff(places) @ np.maximum(values[1:], values[:-1]))


@dataclass(frozen=True, slots=True)
class LevelsHyper:
    """A flip probability that is levels[j] with probability chances[j].

    >>> flip, keep = LevelsHyper((0.0, 0.5), (0.5, 0.5)).given_matches(1)
    >>> round(flip, 9), round(keep, 9)  # the odds of no noise have doubled
    (0.166666667, 0.833333333)
    """

    levels: tuple[Fraction | float, ...]
    chances: tuple[Fraction | float, ...]

    def __post_init__(self) -> None:
        if not 0 < len(self.levels) == len(self.chances):
            raise UsageError("a mixture needs at least one level, and one chance for each")
        if not all(0 <= level <= 1 for level in self.levels):
            raise UsageError("the levels of a mixture are probabilities, from 0 to 1")
        if not all(chance >= 0 for chance in self.chances) or not math.isclose(
            sum(self.chances), 1
        ):
            raise UsageError("the chances of a mixture are at least 0 and add up to 1")

    def mirrored(self) -> Self:
        """The law of 1 - p."""
        return type(self)(tuple(1 - Fraction(level) for level in self.levels), self.chances)

    def table(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """p, 1 - p and the chance of every level."""
        return (
            np.array([float(level) for level in self.levels]),
            np.array([float(1 - Fraction(level)) for level in self.levels]),
            np.array([float(chance) for chance in self.chances]),
        )

    def given_matches(self, matches: int) -> tuple[float, float]:
        """E[p] and E[1 - p] given `matches` equal reports; (1, 0) if that is impossible."""
        flips, keeps, chances = self.table()
        with np.errstate(divide="ignore"):
            logs = np.log(chances) + scipy.special.xlogy(matches, keeps)
        if not np.isfinite(logs).any():
            return 1.0, 0.0
        after = np.exp(logs - logs.max())
        after /= after.sum()
        return float(after @ flips), float(after @ keeps)

    def log_moments(self, mismatches: npt.ArrayLike, answers: npt.ArrayLike) -> FloatArray:
        """ln E[p^m (1 - p)^(k - m)] for arrays of m and k; 0⁰ is 1."""
        m, k = np.broadcast_arrays(np.asarray(mismatches, float), np.asarray(answers, float))
        flips, keeps, chances = self.table()
        flat = np.empty(m.size)
        for start in range(0, m.size, ROWS):
            some, of = m.ravel()[start : start + ROWS, None], k.ravel()[start : start + ROWS, None]
            with np.errstate(divide="ignore"):
                logs = (
                    np.log(chances)
                    + scipy.special.xlogy(some, flips)
                    + scipy.special.xlogy(of - some, keeps)
                )
                flat[start : start + ROWS] = scipy.special.logsumexp(logs, axis=1)
        return flat.reshape(m.shape)

    def mean_below(self, others: int, mismatches: int, ratio: float) -> float:
        """E[((1 - p) - ratio p) P(Bin(others, p) ≤ mismatches)]."""
        flips, keeps, chances = self.table()
        below = np.ones_like(flips)
        if mismatches < others:
            below = scipy.special.betaincc(mismatches + 1, others - mismatches, flips)
        return float(chances @ ((keeps - ratio * flips) * below))

    def mean_at_most(self, worst: Callable[[float, float], float], cells: int) -> float:
        """E[worst(p, 1 - p)], for any number of cells."""
        flips, keeps, chances = self.table()
        return float(chances @ [worst(*pair) for pair in zip(flips, keeps, strict=True)])


Hyper: TypeAlias = UniformHyper | LevelsHyper


def _mean_place(power: int, slope: float) -> float:
    """The mean of t in [0, 1] under a density ∝ (1 - slope t)^(power - 1).

    With r = 1 - slope: (1 - r^k (1 + k slope)) / ((k + 1)(1 - r^k) slope); by Gauss-Legendre where
    k slope is small, because both parts of the fraction cancel there.
    """
    if slope >= 1:
        return 1 / (power + 1)
    if power * slope <= 1:
        density = SHARES * np.exp((power - 1) * np.log1p(-slope * NODES))
        return float(density @ NODES / density.sum())
    log_rest = power * math.log1p(-slope)
    part = 1 - math.exp(log_rest) * (1 + power * slope)
    return part / ((power + 1) * -math.expm1(log_rest) * slope)


def _reach(
    log: Callable[[FloatArray], FloatArray], peak: FloatArray, end: float, floor: FloatArray
) -> FloatArray:
    """How far from the peak towards an end a concave function stays above the floor."""
    near, far = peak, np.full_like(peak, end)
    far = np.where(log(far) >= floor, peak, far)  # nothing to search if the end is above
    for _ in range(32):
        middle = (near + far) / 2
        above = log(middle) >= floor
        near, far = np.where(above, middle, near), np.where(above, far, middle)
    return np.where(log(np.full_like(peak, end)) >= floor, end, far)


def _last(holds: Callable[[float], bool | np.bool]) -> float:
    """The last position in [0, 1] where a condition holds that stops holding once; 0 if nowhere."""
    if holds(1.0):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(52):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
