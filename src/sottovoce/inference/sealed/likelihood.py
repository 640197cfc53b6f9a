"""The likelihood of a task's totals: counts of votes with noise of a known law.

Exact for small counts. Each answer is right with probability p, and a wrong one is uniform over the
other labels. With two labels the count is binomial. With three or more, if m of n answers to a task
with truth z are right, the n - m wrong ones are spread over the other labels independently of p:

    P(totals | z, p, n) = Σₘ Bin(m; n, p) P(noise_z = y_z - m) W_z(n - m)
    W_z(r) = E[ Πₖ P(noiseₖ = yₖ - Xₖ) ],   X ~ Multinomial(r, uniform over the labels k ≠ z)

and W_z is a convolution, because multinomial counts are Poisson counts conditioned on their sum.
Large counts are Gaussian, with the exact mean and covariance. The number of workers who answered a
task may itself be known from a noisy count only (`CountLaw`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from sottovoce.model import FloatArray
from sottovoce.model.opened_totals import NoiseLaw, Opened

PRIOR_TASKS = 10.0
"""The number of tasks that a binomial spread of the counts weighs against the observed spread."""

STRAY = 0.01
"""The share of tasks that may have any count: no count is excluded by the others."""


@dataclass(frozen=True, slots=True, eq=False)
class CountLaw:
    """The law of a task's count over all tasks: chances[i] is the probability of values[i]."""

    values: npt.NDArray[np.int64]
    chances: FloatArray

    @property
    def mean(self) -> float:
        """The mean count."""
        return float(self.chances @ self.values)

    @property
    def variance(self) -> float:
        """The variance of a count."""
        return float(self.chances @ np.square(self.values - self.mean))

    def given(self, noisy: npt.NDArray[np.int64], law: NoiseLaw) -> FloatArray:
        """The posterior of each task's count, one row each, given the noisy count."""
        weights = self.chances * law.chances(noisy[:, np.newaxis] - self.values)
        totals = weights.sum(axis=1, keepdims=True)
        return np.where(totals > 0, weights / np.where(totals > 0, totals, 1), self.chances)


def noisy_counts(opened: Opened) -> tuple[npt.NDArray[np.int64], float]:
    """Each task's noisy count, and the variance of its noise.

    A separate slot with two labels and with sums; otherwise the total of all labels or bins.
    """
    if opened.layout == "sum" or opened.size == 2:
        return opened.totals[:, 1], float(opened.variances[1])
    return opened.totals.sum(axis=1), float(opened.variances.sum())


def counts_of(opened: Opened) -> CountLaw:
    """The law of the counts, learnt from all noisy ones: Gaussian, truncated to 0 … workers.

    Its mean is that of the noisy counts. Its variance is theirs minus the noise's, shrunk towards
    the variance of workers who answer independently, which counts as ten more tasks.
    """
    noisy, noise = noisy_counts(opened)
    workers, tasks = opened.workers, len(noisy)
    mean = float(np.clip(noisy.mean(), 0.5, workers))
    alone = mean * (1 - min(mean / workers, 1)) + noise / tasks
    seen = max(0.0, float(noisy.var()) * tasks / max(tasks - 1, 1) - noise)
    variance = ((tasks - 1) * seen + PRIOR_TASKS * alone) / (tasks - 1 + PRIOR_TASKS)
    values = np.arange(workers + 1)
    chances = np.exp(-np.square(values - mean) / (2 * max(variance, 0.05)))
    chances = (1 - STRAY) * chances / chances.sum() + STRAY / len(values)
    near = np.abs(values - mean) <= _reach(variance + noise)
    return CountLaw(values[near], chances[near] / chances[near].sum())


def count_moments(opened: Opened, law: CountLaw | None = None) -> tuple[FloatArray, FloatArray]:
    """The mean and the variance of each task's count, before its own totals are used.

    `law` is the law of hidden counts; learnt from these tasks if not given.
    """
    tasks = len(opened.tasks)
    if opened.answered is not None:
        return opened.answered.astype(np.float64), np.zeros(tasks)
    law = counts_of(opened) if law is None else law
    return np.full(tasks, law.mean), np.full(tasks, law.variance)


def used_counts(opened: Opened) -> npt.NDArray[np.int64]:
    """The number of answers of each task: known, or the noisy count clipped to possible values."""
    if opened.answered is not None:
        return opened.answered
    return np.clip(noisy_counts(opened)[0], 0, opened.workers)


def _reach(variance: float) -> float:
    """How far from the mean a count may lie; the rest is negligible."""
    return 3.0 + 6.0 * float(np.sqrt(variance))


BINARY_ROWS = 4096
"""Tasks that are processed at once."""


def binomial(count: int, chances: FloatArray) -> FloatArray:
    """P(x of count) for x = 0 … count, one row each, and every chance, strictly between 0 and 1."""
    x = np.arange(count + 1, dtype=np.float64)[:, np.newaxis]
    ways = gammaln(count + 1) - gammaln(x + 1) - gammaln(count - x + 1)
    return np.asarray(np.exp(ways + x * np.log(chances) + (count - x) * np.log1p(-chances)))


def binary_public_likelihood(
    opened: Opened, answered: npt.NDArray[np.int64], chances: FloatArray
) -> FloatArray:
    """P(total | an answer is the second label with each of these chances), a row for each task.

        L = Σₓ Bin(x; n, chance) P(noise = y - x)

    for a total y of n answers.
    """
    law, totals = opened.laws[0], opened.totals[:, 0]
    found = np.empty((len(totals), len(chances)))
    for count in np.unique(answered):
        counted = binomial(int(count), chances)
        rows = np.flatnonzero(answered == count)
        for part in np.array_split(rows, -(-len(rows) // BINARY_ROWS)):
            found[part] = law.chances(totals[part, np.newaxis] - np.arange(count + 1)) @ counted
    return found


def binary_hidden_likelihood(opened: Opened, counts: CountLaw, chances: FloatArray) -> FloatArray:
    """The same with an unknown count: d is the second label's lead, c the noisy count.

        L = Σₙ P(n) P(noise = c - n) Σₓ Bin(x; n, chance) P(noise = d - (2x - n))

    where P(n) is the law of all tasks' counts.
    """
    lead, noisy = opened.totals.T
    found = np.zeros((len(lead), len(chances)))
    most = int(counts.values.max())
    leads = opened.laws[0].chances(lead[:, np.newaxis] - np.arange(-most, most + 1))
    for count, chance in zip(counts.values.tolist(), counts.chances.tolist(), strict=True):
        weight = chance * opened.laws[1].chances(noisy - count)
        # The leads of `count` answers: from -count to count, in steps of two.
        likely = leads[:, most - count : most + count + 1 : 2] @ binomial(count, chances)
        found += weight[:, np.newaxis] * likely
    return found


def log_density(
    totals: FloatArray,
    shares: FloatArray,
    mean: FloatArray,
    variance: FloatArray,
    noise: FloatArray,
) -> FloatArray:
    """ln of the density of noisy counts, tasks by rows of `shares`.

    n answers with mean μ and variance v fall into slots with shares a; slot k has noise of variance
    σₖ². So counts have mean μ a and covariance

        diag(μ aₖ + σₖ²) + (v - μ) a aᵀ

    whose inverse and determinant have a closed form (Sherman and Morrison).
    """
    found = np.empty((len(totals), len(shares)))
    kinds, kind = np.unique(np.stack([mean, variance], axis=1), axis=0, return_inverse=True)
    for place, (center, over) in enumerate(kinds):
        rows = kind.ravel() == place
        found[rows] = _alike(totals[rows], shares, float(center), float(over), noise)
    return found


def _alike(
    totals: FloatArray, shares: FloatArray, mean: float, variance: float, noise: FloatArray
) -> FloatArray:
    """The same for tasks whose counts have one mean and one variance."""
    spread = mean * shares + noise
    scaled = shares / spread
    own = (scaled * shares).sum(axis=1)
    bent = 1 + (variance - mean) * own
    along = totals @ scaled.T - mean * own
    squares = np.square(totals) @ (1 / spread).T - 2 * mean * (totals @ scaled.T) + mean**2 * own
    squares -= (variance - mean) / bent * np.square(along)
    return np.asarray(-0.5 * (squares + np.log(spread).sum(axis=1) + np.log(bent)))


def one_right(labels: int, chances: FloatArray) -> FloatArray:
    """The share of each label for every truth and every chance of a right answer, a row each."""
    wrong = (1 - chances) / (labels - 1)
    shares = np.repeat(np.broadcast_to(wrong, (labels, len(chances)))[..., np.newaxis], labels, 2)
    truth = np.arange(labels)
    shares[truth, :, truth] = chances
    return shares.reshape(-1, labels)


SEVERAL_ROWS = 2048
"""Tasks that are processed at once."""


def several_public_likelihood(
    opened: Opened, answered: npt.NDArray[np.int64], chances: FloatArray
) -> FloatArray:
    """P(totals | truth, each chance of a right answer): tasks by labels by chances."""
    tasks, labels = opened.totals.shape
    found = np.empty((tasks, labels, len(chances)))
    for rows in _parts(tasks):
        most = int(answered[rows].max())
        right, wrong = _right_and_wrong(opened, opened.totals[rows], most)
        for count in np.unique(answered[rows]).tolist():
            here = answered[rows] == count
            each = right[here, :, : count + 1] * wrong[here, :, count::-1]
            found[rows[here]] = each @ binomial(count, chances)
    return found


def several_hidden_likelihood(opened: Opened, counts: CountLaw, chances: FloatArray) -> FloatArray:
    """The same where n is unknown: over m right and r wrong answers with P(n = m + r)."""
    tasks, labels = opened.totals.shape
    most = int(counts.values.max())
    tables = [_together(counts, most, float(chance)) for chance in chances]
    found = np.empty((tasks, labels, len(chances)))
    for rows in _parts(tasks):
        right, wrong = _right_and_wrong(opened, opened.totals[rows], most)
        for place, table in enumerate(tables):
            found[rows, :, place] = ((right @ table) * wrong).sum(axis=2)
    return found


def _together(counts: CountLaw, most: int, chance: float) -> FloatArray:
    """P(m right and r wrong answers) for m and r up to `most`."""
    table = np.zeros((most + 1, most + 1))
    for count, weight in zip(counts.values.tolist(), counts.chances, strict=True):
        right = np.arange(count + 1)
        table[right, count - right] = weight * binomial(count, np.array([chance]))[:, 0]
    return table


def _right_and_wrong(
    opened: Opened, totals: npt.NDArray[np.int64], most: int
) -> tuple[FloatArray, FloatArray]:
    """P(noise_z = y_z - m) and W_z(r), each tasks by labels by 0 … most."""
    counts = np.arange(most + 1)
    right = np.stack(
        [law.chances(totals[:, [k]] - counts) for k, law in enumerate(opened.laws)], axis=1
    )
    labels = right.shape[1]
    rate = max(most / labels, 0.5)
    apart = right * _poisson(counts, rate)
    return right, _left_out(apart) / _poisson(counts, (labels - 1) * rate)


def _left_out(factors: FloatArray) -> FloatArray:
    """For every label the convolution of all other labels' factors, truncated to their length."""
    labels = factors.shape[1]
    before, after = [_one(factors)], [_one(factors)]
    for label in range(labels - 1):
        before.append(_convolved(before[-1], factors[:, label]))
        after.append(_convolved(after[-1], factors[:, labels - 1 - label]))
    return np.stack([_convolved(b, a) for b, a in zip(before, reversed(after), strict=True)], 1)


def _one(factors: FloatArray) -> FloatArray:
    """The empty convolution."""
    one = np.zeros((len(factors), factors.shape[2]))
    one[:, 0] = 1.0
    return one


def _convolved(first: FloatArray, second: FloatArray) -> FloatArray:
    """Row by row. Direct, not by Fourier transform: tails far below the peak matter too."""
    length = first.shape[1]
    found = np.zeros_like(first)
    for shift in range(length):
        found[:, shift:] += first[:, shift, np.newaxis] * second[:, : length - shift]
    return found


def _poisson(counts: npt.NDArray[np.int64], rate: float) -> FloatArray:
    return np.asarray(np.exp(counts * np.log(rate) - rate - gammaln(counts + 1)))


def _parts(tasks: int) -> list[npt.NDArray[np.intp]]:
    return np.array_split(np.arange(tasks), -(-tasks // SEVERAL_ROWS))
