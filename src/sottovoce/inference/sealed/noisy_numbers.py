"""Numbers from noisy sums, and from noisy histograms in which some answers may be arbitrary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp, ndtr

from sottovoce.inference.sealed.likelihood import count_moments, counts_of, log_density, used_counts
from sottovoce.model import FloatArray, Provenance, Result
from sottovoce.model.opened_totals import Opened


@dataclass(frozen=True, slots=True)
class SealedMean:
    """The noisy mean of the answers to each task, clipped to the range.

        truth = low + (high - low)/R · total / n

    If participation is hidden, the total is of offsets from the centre of the range, and 1/n is its
    expectation given the noisy count and those of all other tasks: a count that may be small
    shrinks the truth towards the centre, and nothing is divided by a number near 0.

    The standard error covers the noise, exactly; the rounding of answers to R steps; and, if n is
    hidden, the uncertainty of 1/n. It does not cover the crowd: a sum does not show how much
    workers differ. The histogram does.
    """

    name: ClassVar[str] = "sealed-mean"
    layout: ClassVar[str] = "sum"

    def fit(self, opened: Opened) -> Result:
        """Means with the standard error of their noise."""
        domain = opened.domain
        step = (domain.high - domain.low) / opened.size
        start = domain.low if opened.answered is not None else (domain.low + domain.high) / 2
        inverse, doubt = _inverse_counts(opened)
        offset = opened.totals[:, 0] * step
        mean = np.clip(start + offset * inverse, domain.low, domain.high)
        noise = step**2 * (opened.variances[0] * np.square(inverse) + inverse / 12)
        error = np.sqrt(noise + np.square(mean - start) * doubt)
        return numbers_found(self.name, opened, mean, error, inverse > 0)


def numbers_found(
    name: str, opened: Opened, truths: FloatArray, error: FloatArray, known: npt.NDArray[np.bool_]
) -> Result:
    """A result; a task without information gets the others' mean, and their spread as error.

    If no task has information, these are the centre of the range and the range's spread.
    """
    domain = opened.domain
    if known.any():
        usual = float(truths[known].mean())
        spread = np.sqrt(truths[known].var() + np.square(error[known]).mean())
    else:
        usual, spread = (domain.low + domain.high) / 2, (domain.high - domain.low) / np.sqrt(12)
    return Result(
        opened.tasks,
        np.array([], dtype=str),
        domain,
        np.where(known, truths, usual),
        np.array([]),
        used_counts(opened),
        1,
        True,
        Provenance(name, simulated=opened.simulated),
        standard_error=np.where(known, error, spread),
    )


def _inverse_counts(opened: Opened) -> tuple[FloatArray, FloatArray]:
    """E[1/n] of each task, 0 where n = 0, and the relative variance of 1/n."""
    if opened.answered is not None:
        answered = opened.answered.astype(np.float64)
        inverse = np.divide(1.0, answered, out=np.zeros_like(answered), where=answered > 0)
        return inverse, np.zeros(len(answered))
    counts = counts_of(opened)
    chances = counts.given(opened.totals[:, 1], opened.laws[1])
    # A task that nobody answered has an offset of 0 plus noise: it shrinks to the centre.
    each = np.divide(1.0, counts.values, out=np.zeros(len(counts.values)), where=counts.values > 0)
    inverse = chances @ each
    spread = chances @ np.square(each) - np.square(inverse)
    relative = np.divide(spread, np.square(inverse), out=np.zeros_like(inverse), where=inverse > 0)
    return inverse, np.maximum(relative, 0.0)


PER_BIN = 4
"""The number of positions of the truth that are tried within a bin."""

SPREADS = (0.015, 0.03, 0.06, 0.1, 0.16, 0.25)
"""Standard deviations of answers that are tried, as shares of the range."""

STRAYS = (0.01, 0.05, 0.12, 0.22, 0.35)
"""Shares of stray answers (unrelated to the truth) that are tried."""

ROUNDS = 3
"""The number of rounds that learn where stray answers fall."""

EVEN = 0.2
"""The share of stray answers that may fall anywhere, independent of the totals."""

ENOUGH = 1_000
"""This many tasks determine the crowd's spread and strays well enough."""


@dataclass(frozen=True, slots=True)
class SealedHistogram:
    """The posterior median of each task's truth, under a model with stray answers.

    Of the answers to a task with truth μ, a share 1 - γ is Gaussian around μ with deviation σ,
    clipped to the range; the others fall where stray answers fall on all tasks, for example at one
    end:

        a_b(μ) = (1 - γ) [Φ((top_b - μ)/σ) - Φ((bottom_b - μ)/σ)] + γ g_b

    Totals are Gaussian around n·a with the exact covariance of counts and noise (`normal`). σ and γ
    are weighted by their likelihood over all tasks, and g is learnt in a few rounds from the
    residuals. The prior of μ is uniform over the range.

    The standard error is the posterior deviation of μ: it covers the noise, the crowd's spread and
    the width of the bins, if the model holds.
    """

    name: ClassVar[str] = "sealed-histogram"
    layout: ClassVar[str] = "histogram"

    def fit(self, opened: Opened) -> Result:
        """Medians with their standard errors."""
        places = (np.arange(PER_BIN * opened.size) + 0.5) / (PER_BIN * opened.size)
        totals, moments = opened.totals.astype(np.float64), count_moments(opened)
        seen = slice(None, None, max(1, len(totals) // ENOUGH))
        some = _Totals(totals[seen], moments[0][seen], moments[1][seen], opened.variances)
        cores = np.array([_core(places, spread, opened.size) for spread in SPREADS])
        strays = np.full(opened.size, 1 / opened.size)
        for _ in range(ROUNDS):
            strays = _strays(some, cores, strays)
        weights = _crowd(some, cores, strays)
        chances = _posterior(_Totals(totals, *moments, opened.variances), cores, strays, weights)
        return self._result(opened, places, chances, moments[0] > 0)

    def _result(
        self, opened: Opened, places: FloatArray, chances: FloatArray, known: npt.NDArray[np.bool_]
    ) -> Result:
        low, width = opened.domain.low, opened.domain.high - opened.domain.low
        mean = chances @ places
        variance = chances @ np.square(places) - np.square(mean) + (places[1] - places[0]) ** 2 / 12
        median = low + width * _medians(places, chances)
        return numbers_found(
            self.name, opened, median, width * np.sqrt(np.maximum(variance, 0)), known
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Totals:
    """Totals of some tasks, the mean and variance of their counts, and the noise's variances."""

    totals: FloatArray
    mean: FloatArray
    variance: FloatArray
    noise: FloatArray

    def logs(self, shares: FloatArray) -> FloatArray:
        """ln P(totals | shares): tasks by rows of shares."""
        return log_density(self.totals, shares, self.mean, self.variance, self.noise)


def _core(places: FloatArray, spread: float, bins: int) -> FloatArray:
    """The share of each bin for every position of the truth; the end bins include the tails.

    >>> _core(np.array([0.5]), 0.1, 2).tolist()
    [[0.5, 0.5]]
    """
    edges = np.arange(1, bins) / bins
    below = ndtr((edges - places[:, np.newaxis]) / spread)
    return np.diff(below, prepend=0.0, append=1.0, axis=1)


def _mixed(cores: FloatArray, strays: FloatArray, share: float) -> FloatArray:
    return np.asarray((1 - share) * cores + share * strays)


def _crowd(some: _Totals, cores: FloatArray, strays: FloatArray) -> FloatArray:
    """The probability of every spread (a row) and every share of strays, given all totals."""
    shares = np.array([[_mixed(core, strays, share) for share in STRAYS] for core in cores])
    logs = some.logs(shares.reshape(-1, shares.shape[-1])).reshape(-1, *shares.shape[:-1])
    evidence = logsumexp(logs, axis=3).sum(axis=0)
    weights = np.exp(evidence - evidence.max())
    return np.asarray(weights / weights.sum())


def _strays(some: _Totals, cores: FloatArray, strays: FloatArray) -> FloatArray:
    """Where stray answers fall: the residuals under the likeliest crowd, and a uniform part.

    Bins in the core of a truth carry little information about strays and count accordingly.
    """
    weights = _crowd(some, cores, strays)
    spread, place = np.unravel_index(weights.argmax(), weights.shape)
    share = STRAYS[place]
    chances = _normalised(some.logs(_mixed(cores[spread], strays, share)))
    core = chances @ cores[spread]
    left = some.totals - some.mean[:, np.newaxis] * (1 - share) * core
    outside = core < 1 / (4 * len(strays))
    mean = np.where(outside, left, 0).sum(axis=0)
    room = np.where(outside, some.mean[:, np.newaxis], 0).sum(axis=0)
    found = np.maximum(np.divide(mean, room, out=np.zeros_like(mean), where=room > 0), 0)
    found = np.where(room > 0, found, found.mean())
    if found.sum() <= 0:
        return np.full(len(strays), 1 / len(strays))
    return np.asarray((1 - EVEN) * found / found.sum() + EVEN / len(strays))


def _posterior(
    totals: _Totals, cores: FloatArray, strays: FloatArray, weights: FloatArray
) -> FloatArray:
    """The probability of every position of each task's truth, over the possible crowds."""
    found = np.zeros((len(totals.totals), cores.shape[1]))
    for spread, place in np.argwhere(weights > 1e-3 * weights.max()):
        logs = totals.logs(_mixed(cores[spread], strays, STRAYS[place]))
        found += weights[spread, place] * _normalised(logs)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _normalised(logs: FloatArray) -> FloatArray:
    chances = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(chances / chances.sum(axis=1, keepdims=True))


def _medians(places: FloatArray, chances: FloatArray) -> FloatArray:
    """The posterior median, interpolated within a cell."""
    width = places[1] - places[0]
    upto = np.cumsum(chances, axis=1)
    row = np.arange(len(chances))
    cell = (upto < 0.5).sum(axis=1).clip(max=len(places) - 1)
    below = upto[row, cell] - chances[row, cell]
    inside = (0.5 - below) / np.maximum(chances[row, cell], 1e-300)
    return np.asarray(places[cell] + width * (np.clip(inside, 0, 1) - 0.5))
