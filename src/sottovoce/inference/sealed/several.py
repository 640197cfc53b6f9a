"""How likely the totals of three or more labels are, exactly, where counts are small.

Each answer is right with chance p, and a wrong one is any other label alike. If m of n answers to a
task with truth z are right, the n - m wrong ones are spread over the other labels whatever p is:

    P(totals | z, p, n) = Σₘ Bin(m; n, p) P(noise_z = y_z - m) W_z(n - m)
    W_z(r) = E[ Πₖ P(noiseₖ = yₖ - Xₖ) ],   X ~ Multinomial(r, uniform over the labels k ≠ z)

and W_z is a convolution, since multinomial counts are Poisson ones whose sum is given.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from sottovoce.inference.sealed.binary import binomial
from sottovoce.inference.sealed.participation import Counts
from sottovoce.model import FloatArray
from sottovoce.model.opened_totals import Opened

__all__ = ["hidden_likelihood", "public_likelihood"]

ROWS = 2048
"""Tasks that are handled at once."""


def public_likelihood(
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


def hidden_likelihood(opened: Opened, counts: Counts, chances: FloatArray) -> FloatArray:
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


def _together(counts: Counts, most: int, chance: float) -> FloatArray:
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
    """For every label the convolution of all other labels' factors, cut to their length."""
    labels = factors.shape[1]
    before, after = [_one(factors)], [_one(factors)]
    for label in range(labels - 1):
        before.append(_convolved(before[-1], factors[:, label]))
        after.append(_convolved(after[-1], factors[:, labels - 1 - label]))
    return np.stack([_convolved(b, a) for b, a in zip(before, reversed(after), strict=True)], 1)


def _one(factors: FloatArray) -> FloatArray:
    """The convolution of nothing."""
    one = np.zeros((len(factors), factors.shape[2]))
    one[:, 0] = 1.0
    return one


def _convolved(first: FloatArray, second: FloatArray) -> FloatArray:
    """Row by row. By hand and not by Fourier: tails far below the top count too."""
    length = first.shape[1]
    found = np.zeros_like(first)
    for shift in range(length):
        found[:, shift:] += first[:, shift, np.newaxis] * second[:, : length - shift]
    return found


def _poisson(counts: npt.NDArray[np.int64], rate: float) -> FloatArray:
    return np.asarray(np.exp(counts * np.log(rate) - rate - gammaln(counts + 1)))


def _parts(tasks: int) -> list[npt.NDArray[np.intp]]:
    return np.array_split(np.arange(tasks), -(-tasks // ROWS))
