"""A confusion matrix a worker, seen through the channel: variational EM with shrinkage."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy  # its parts are loaded when first used

from sottovoce.inference.aware.dirichlet import divergence, expected_logs
from sottovoce.inference.rounding import steady
from sottovoce.inference.steps.confusions import Confusions, ConfusionSums, Posteriors
from sottovoce.model import FloatArray
from sottovoce.seams import Engine

__all__ = ["ConfusionFit", "fit_confusions"]

POOLED = 10.0
"""How many answers the first guess of the crowd's confusion counts as, for each truth."""


class ConfusionFit(NamedTuple):
    """Where the rounds ended: `confusions[worker, truth]` has the parameters of a Dirichlet law.

    `bound` is what ln P(reports) is at least, up to the same constant as that of `CoinFit`.
    """

    confusions: FloatArray
    bound: float
    rounds: int
    converged: bool

    def means(self) -> FloatArray:
        """E P(answer | truth) of each worker."""
        return np.asarray(self.confusions / self.confusions.sum(axis=2, keepdims=True))

    def posterior(self, engine: Engine, channel: FloatArray, shares: FloatArray) -> FloatArray:
        """The posterior of every task."""
        return engine.map(Posteriors(_table(_spread(self.confusions), channel), shares))


def fit_confusions(
    engine: Engine,
    channel: FloatArray,
    shares: FloatArray,
    first: FloatArray,
    strength: float,
    *,
    max_rounds: int,
    tolerance: float,
) -> ConfusionFit:
    """Mean-field posteriors of truths, answers and each worker's confusion, in turns.

    Workers' rows are Dirichlet(strength · crowd[t]) before any report, and `crowd[t]` is learnt
    with them from `first[t]`. With C = `channel[answer, symbol]`:

        spreadₖ[t, x] = exp E ln confusionₖ[t, x]
        E   P(truthⱼ = t) ∝ share[t] Π (spreadₖ C)[t, symbolₖⱼ]
        M   counts of (truth, answer) = spreadₖ[t, x] Σ_y C[x, y] Nₖ[t, y] / (spreadₖ C)[t, y]
            confusionₖ[t] ~ Dirichlet(strength · crowd[t] + counts)

    where Nₖ[t, y] = Σ P(truthⱼ = t) over the worker's reports y. The class shares are given: beside
    free confusions they cannot be told from a leaning that all workers share.
    """
    workers = len(engine.workers)
    crowd = first
    prior = strength * crowd
    confusions = np.broadcast_to(prior, (workers, *prior.shape))
    spread, before, reports = np.broadcast_to(crowd, confusions.shape), -np.inf, 1.0
    for turn in range(1, max_rounds + 1):
        table = _table(spread, channel)
        sums = ConfusionSums(engine.total(Confusions(table, shares)))
        bound = sums.log_likelihood - divergence(confusions, prior)
        reports = max(float(sums.counts.sum()), 1.0)
        if turn > 2 and bound - before < tolerance * reports:
            return ConfusionFit(confusions, bound, turn, converged=True)
        before = bound
        counts = _answer_counts(sums, table, spread, channel)
        crowd = _learnt(crowd, counts, strength, first)
        prior = strength * crowd
        confusions = prior + counts
        spread = _spread(confusions)
    return ConfusionFit(confusions, before, max_rounds, converged=False)


def _spread(confusions: FloatArray) -> FloatArray:
    return np.exp(expected_logs(confusions))


def _table(spread: FloatArray, channel: FloatArray) -> FloatArray:
    """P(symbol | truth, worker) as the passes read it: [worker · symbols + symbol, truth]."""
    seen = spread @ channel
    return steady(np.ascontiguousarray(seen.transpose(0, 2, 1)).reshape(-1, spread.shape[1]))


def _answer_counts(
    sums: ConfusionSums, table: FloatArray, spread: FloatArray, channel: FloatArray
) -> FloatArray:
    ratio = (sums.counts / table).reshape(len(spread), channel.shape[1], -1)
    return np.asarray(spread * (ratio.transpose(0, 2, 1) @ channel.T))


def _learnt(
    crowd: FloatArray, counts: FloatArray, strength: float, first: FloatArray
) -> FloatArray:
    """The crowd's confusion from all workers' counts (Minka 2000, the mean with fixed strength)."""
    psi, prior = scipy.special.digamma, strength * crowd
    gained = prior * np.sum(psi(prior + counts) - psi(prior), axis=0) + POOLED * first
    return steady(gained / gained.sum(axis=1, keepdims=True))
