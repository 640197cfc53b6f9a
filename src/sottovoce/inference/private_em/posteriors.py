"""Everybody's side of the EM: posteriors from sums over workers (P2, protocol 1).

    start   μᵢ(0) = share of each label among the answers to task i            (line 2)
    prior   p(t)  = mean of μ(t)                                               (line 4)
    E step  μᵢ(t) ∝ p(t - 1) exp(log sums of round t)                          (line 8)
    stop    Q(t)  = Σᵢ Σ_k μᵢₖ(t) ln(pₖ(t) aᵢₖ(t)), from the second round on    (lines 9 and 10)

For two labels this is `LatentLabel`; for more it is the model of Dawid and Skene, by the same sums.
"""

from __future__ import annotations

import numpy as np

from sottovoce.inference.steps.arithmetic import column_sum, shares, steady
from sottovoce.inference.steps.votes import normalized
from sottovoce.model import FloatArray

__all__ = ["is_settled", "posterior_of", "prior_of", "quality", "start"]


def start(counts: FloatArray) -> FloatArray:
    """The share of each label among a task's answers; even where there is none.

    >>> start(np.array([[1.0, 3.0], [0.0, 0.0]])).tolist()
    [[0.25, 0.75], [0.5, 0.5]]
    """
    return shares(counts)


def prior_of(posterior: FloatArray, clip: int) -> FloatArray:
    """The mean of the posteriors, within [1/clip, 1 - 1/clip]."""
    mean = steady(column_sum(posterior) / len(posterior))
    return np.clip(mean, 1 / clip, 1 - 1 / clip)


def posterior_of(logs: FloatArray, prior: FloatArray) -> FloatArray:
    """Each task's posterior, given log-likelihoods (tasks, labels), or these less one column."""
    return normalized(np.log(prior) + logs)[0]


def quality(logs: FloatArray, posterior: FloatArray, prior: FloatArray) -> float:
    """Q = Σ posterior · (ln prior + log-likelihood).

    Of differences of log-likelihoods it is Q less what the first label alone says.
    """
    return float(np.sum(posterior * (np.log(prior) + logs)))


def is_settled(value: float, before: float | None, tolerance: int) -> bool:
    """Whether Q changed by less than 1/tolerance of itself; never without a round before."""
    return before is not None and abs(value - before) < abs(value) / tolerance
