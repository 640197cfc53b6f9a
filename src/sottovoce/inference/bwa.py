"""Bayesian weighted average (BWA)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.inference.aggregator import LABELS, Settled, check_parameters, label_result
from sottovoce.inference.steps.arithmetic import shares, steady
from sottovoce.inference.steps.votes import AnswersPerWorker
from sottovoce.inference.steps.weighted_shares import ShareErrors, WeightedShares
from sottovoce.model import Codes, FloatArray, Kind, Result
from sottovoce.seams import Engine


class Averages(NamedTuple):
    """The end of the iteration: a weight of each worker and label, and each label's mean share."""

    weights: FloatArray
    mean: FloatArray
    rounds: int
    converged: bool

    def among(self, workers: Codes, count: int) -> Averages:
        """The same for a subset of the workers."""
        return self._replace(weights=self.weights[workers])


@dataclass(frozen=True, slots=True)
class BWA:
    """Truths are weighted averages of indicators of each label (Li et al. 2019b).

    For every label x, [vₖⱼ = x] is taken for a number with mean z[j, x] and precision w[k, x]; z
    has a normal prior, w a gamma prior with shape `strength` / 2. Alternates, for each label:

        mean    μ[x]    = mean over tasks of z[j, x]
        weight  w[k, x] = (a + nₖ) / ( b[x] + Σⱼ ([vₖⱼ = x] − z[j, x])² )
        truth   z[j, x] = ( λ μ[x] + Σₖ w[k, x] [vₖⱼ = x] ) / ( λ + Σₖ w[k, x] )

    with a = `strength`, λ = `pull`, nₖ the worker's number of answers, and b[x] / a the variance of
    an answer around the vote shares, times 4 (1 − 1 / labels) as in the authors' program. Starts
    from vote shares; stops when no weight moves by more than `tolerance` of the largest. The
    posterior is z, scaled to sum to 1. A worker's weight is the mean of its weights.
    """

    max_rounds: int = 500
    tolerance: float = 1e-6
    strength: float = 15.0
    pull: float = 1.0

    name: ClassVar[str] = "bwa"
    takes: ClassVar[frozenset[Kind]] = LABELS

    def __post_init__(self) -> None:
        check_parameters(self)
        for name in ("strength", "pull"):
            if not 0 < getattr(self, name) < np.inf:
                raise UsageError(f"{name} must be positive and finite, not {getattr(self, name)}")

    def fit(self, engine: Engine) -> Result:
        return self.tell(engine, self.learn(engine))

    def learn(self, engine: Engine) -> Averages:
        workers, labels = len(engine.workers), engine.domain.size
        answered = engine.total(AnswersPerWorker(workers))[:, np.newaxis]
        weights, mean, pull = np.ones((workers, labels)), np.full(labels, 1 / labels), NO_PULL
        prior = np.zeros(labels)
        for rounds in range(1, self.max_rounds + 1):
            sums = engine.total(ShareErrors(WeightedShares(weights, mean, pull)))
            if rounds == 1:  # Σ z (1 − z) over answers is Σ ([v = x] − z)² at the vote shares
                spread = sums[:-1].sum(axis=0) / answered.sum()
                prior = self.strength * np.maximum(spread * 4 * (1 - 1 / labels), LEAST_SPREAD)
            updated = steady((self.strength + answered) / (prior + sums[:-1]))
            change, largest = np.abs(updated - weights).max(), updated.max()
            weights, mean, pull = updated, steady(sums[-1] / engine.task_count), self.pull
            if change <= self.tolerance * largest and self.tolerance >= 0:
                return Averages(weights, mean, rounds, converged=True)
        return Averages(weights, mean, self.max_rounds, converged=False)

    def tell(self, engine: Engine, learnt: Averages) -> Result:
        z = engine.map(WeightedShares(learnt.weights, learnt.mean, self.pull))
        settled = Settled(learnt.weights.mean(axis=1), learnt.rounds, learnt.converged)
        return label_result(self, engine, shares(z), settled)


NO_PULL = 1e-12
"""Next to equal weights: plain vote shares, and the mean for a task without answers."""
LEAST_SPREAD = 1e-6
"""The smallest prior variance of an answer, if all answers to every task agree."""
