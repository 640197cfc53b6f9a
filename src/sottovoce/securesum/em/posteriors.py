"""Posteriors and prior from opened sums (P2, protocol 1).

    start   μᵢ(0) = share of each label among the answers to task i            (line 2)
    prior   p(t)  = mean of μ(t)                                               (line 4)
    E step  μᵢ(t) ∝ p(t - 1) exp(log sums of round t)                          (line 8)
    stop    Q(t)  = Σᵢ Σ_k μᵢₖ(t) ln(pₖ(t) aᵢₖ(t)), from the second round on    (lines 9 and 10)

For two labels this is `LatentLabel`; for more it is the model of Dawid and Skene, with the same
sums. `posterior_of_rounds` takes several rounds of sums about the same answers, with noise of known
size.
"""

from __future__ import annotations

import numpy as np

from sottovoce.inference.steps.arithmetic import column_sum, shares, steady
from sottovoce.inference.steps.votes import normalized
from sottovoce.model import FloatArray

ROUNDS, SETTLED = 20, 1e-4
"""The maximum number of EM rounds, and the change of a posterior that ends them."""

PRIOR_TASKS = 8.0
"""The number of tasks that the noise alone counts as, next to the observed spread."""


def posterior_of_rounds(sums: FloatArray, noise: FloatArray, before: FloatArray) -> FloatArray:
    """P(truth = label), from sums (tasks, labels, rounds) that have noise of variance `noise`.

    Every round adds up the same answers, so sums of different rounds are not independent. Minus the
    mean over labels they are taken as Gaussian with one covariance C over rounds,

        x[i, l] = baseₗ + d · [truthᵢ = l] + error,     error ~ N(0, C)

    so that ln P(truth = l) = ln shareₗ + (K - 1)/K · dᵀC⁻¹(x[i, l] - baseₗ) + const: the factor
    remains of a contrast's variance after subtracting the mean over labels. base, d, C and the
    shares are learnt by EM, from the posteriors `before`. `base` allows for labels that are given
    too often.
    """
    tasks, labels = sums.shape[:2]
    x = sums - sums.mean(axis=1, keepdims=True)
    flat = PRIOR_TASKS * (labels - 1) * np.diag(noise)
    posterior = before
    for _ in range(ROUNDS):
        share = posterior.mean(axis=0)
        weight = float((posterior * (1 - share)).sum())
        step = np.einsum("il,ilr->r", posterior - share, x) / max(weight, 1e-9)
        rest = x - (x.mean(axis=0) - share[:, np.newaxis] * step)
        own = rest - step
        spread = _scatter(own, posterior) + _scatter(rest, 1 - posterior) + flat
        spread /= (tasks + PRIOR_TASKS) * labels
        slope = np.linalg.solve(spread, step) * (labels - 1) / labels
        prior = (tasks * share + 1) / (tasks + labels)
        before, posterior = posterior, normalized(np.log(prior) + rest @ slope)[0]
        if np.abs(posterior - before).max() < SETTLED:
            break
    return posterior


def guess(sums: FloatArray) -> FloatArray:
    """Initial posteriors from the sums (tasks, labels) of one round, by their lead.

    >>> guess(np.array([[1.0, 3.0], [2.0, 2.0]])).round(2).tolist()
    [[0.06, 0.94], [0.5, 0.5]]
    """
    x = sums - sums.mean(axis=1, keepdims=True)
    return normalized(x / max(float(x.std()), 1e-9))[0]


def _scatter(x: FloatArray, weight: FloatArray) -> FloatArray:
    """Σ weight x xᵀ over tasks and labels."""
    rows = x.reshape(-1, x.shape[-1])
    return np.asarray((rows * weight.reshape(-1, 1)).T @ rows)


def start(counts: FloatArray) -> FloatArray:
    """The share of each label among a task's answers; uniform if there is none.

    >>> start(np.array([[1.0, 3.0], [0.0, 0.0]])).tolist()
    [[0.25, 0.75], [0.5, 0.5]]
    """
    return shares(counts)


def prior_of(posterior: FloatArray, clip: int) -> FloatArray:
    """The mean of the posteriors, within [1/clip, 1 - 1/clip]."""
    mean = steady(column_sum(posterior) / len(posterior))
    return np.clip(mean, 1 / clip, 1 - 1 / clip)


def posterior_of(logs: FloatArray, prior: FloatArray) -> FloatArray:
    """Each task's posterior, given log-likelihoods (tasks, labels), or these minus one column."""
    return normalized(np.log(prior) + logs)[0]


def quality(logs: FloatArray, posterior: FloatArray, prior: FloatArray) -> float:
    """Q = Σ posterior · (ln prior + log-likelihood).

    For differences of log-likelihoods it is Q minus the first label's part.
    """
    return float(np.sum(posterior * (np.log(prior) + logs)))


def is_settled(value: float, before: float | None, tolerance: int) -> bool:
    """Whether Q changed by less than 1/tolerance of itself; never without a previous round."""
    return before is not None and abs(value - before) < abs(value) / tolerance
