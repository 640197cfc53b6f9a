"""Weights of workers, for methods whose truths are weighted votes or weighted means.

Workers' distances from the truths that some weights imply, losses bounded away from zero, weights
that sum to one, the most important workers (P1 §6.2.3), and the error of a weighted mean.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.inference.aggregator import Method, Settled, label_result, number_result
from sottovoce.inference.steps.arithmetic import TIE, total
from sottovoce.inference.steps.means import (
    Scaling,
    SpreadFrom,
    SpreadWithin,
    SquaredErrors,
    TaskMeans,
    WeightedMeans,
)
from sottovoce.inference.steps.peers import LeaveOneOut, MeanVariances, task_variances
from sottovoce.inference.steps.votes import Agreements, AnswerCounts, Votes
from sottovoce.model import Codes, FloatArray, Result
from sottovoce.seams import Engine

LEAST = 1e-6


def relative_losses(losses: FloatArray, answered: FloatArray) -> FloatArray:
    """Losses over the mean of workers with answers, at least a millionth; 1 if all are 0."""
    mean = float(losses.sum()) / max(int(np.count_nonzero(answered)), 1)
    if mean <= 0:
        return np.ones_like(losses)
    return np.maximum(losses / mean, LEAST)


def shared(weights: FloatArray, answered: FloatArray) -> FloatArray:
    """Positive weights scaled so that those of workers with answers sum to one."""
    return np.asarray(weights / weights[answered > 0].sum())


def importance(accuracy: npt.ArrayLike) -> FloatArray:
    """The factor by which P1's error bound grows without a worker of this accuracy.

        Im(k) = 1 / G(min(p, 1 − p)),   G(p) = (p/e + (1 − p) e)^ln(p / (1 − p))      (P1 eq. 6)

    G is not a valid bound (the published derivation has an error), but the order it gives is P1's:
    a worker right or wrong half of the time has importance 1, a decisive one more. Accuracies are
    kept within [.02, .98], as in `TD`.

    >>> [round(float(x), 4) for x in 1 / importance([0.1, 0.9, 0.5])]
    [0.1355, 0.1355, 1.0]
    """
    folded = np.clip(np.asarray(accuracy, np.float64), 0.02, 0.98)
    folded = np.minimum(folded, 1 - folded)
    base = folded / np.e + (1 - folded) * np.e
    return np.asarray(base ** -np.log(folded / (1 - folded)))


def important(accuracy: npt.ArrayLike, share: float) -> npt.NDArray[np.bool_]:
    """The workers whose importance is at least `share` of the greatest, 0 < share ≤ 1."""
    if not 0 < share <= 1:
        raise UsageError(f"share must lie in (0, 1], not {share}")
    scores = importance(accuracy)
    return np.asarray(scores >= share * scores.max() * (1 - TIE))


def losses(engine: Engine, weights: FloatArray, scaling: Scaling) -> FloatArray:
    """Each worker's summed loss: 0 or 1 per label (fractional for ties), squares for numbers."""
    if engine.domain.is_numeric:
        return engine.total(SquaredErrors(weights, scaling=scaling))
    agreement, answered = engine.total(Agreements(weights, engine.domain.size)).T
    return np.asarray(answered - agreement)


WORKER_PRIOR = 2.0
"""The number of answers that the crowd's distance counts as next to a worker's own."""


@dataclass(frozen=True, slots=True)
class ErrorModel:
    """The error model of weighted means, with variance σⱼ² ρₖ for worker k on task j.

    σⱼ² is the variance of the task's answers, shrunk towards `pooled`, that of all tasks; ρₖ, in
    `relative`, is the mean of the worker's squared distances from the others' weighted mean
    (`LeaveOneOut`), shrunk towards the crowd's. Leaving a worker out matters: a worker with most of
    the weight is close to the weighted mean whether it is right or not. Then

        errorⱼ² = σⱼ² Σₖ hₖ² ρₖ / (Σₖ hₖ)²,   hₖ = wₖ + prior / nⱼ

    A task with one answer has the error of an average answer. If no task has two answers, errors
    cannot be separated from truths: the spread of all answers bounds both, and for a single answer
    the spread of the domain, if it has a range. Then `relative` is empty and `pooled` the square of
    that spread.
    """

    relative: FloatArray
    pooled: float
    prior: float

    @classmethod
    def none(cls) -> Self:
        """An error model for labels, which have no such errors."""
        return cls(np.empty(0), 0.0, 0.0)

    def among(self, workers: Codes) -> Self:
        """The same for a subset of the workers."""
        return replace(self, relative=self.relative[workers]) if len(self.relative) else self

    def standard_errors(self, engine: Engine, weights: FloatArray) -> FloatArray:
        """The standard error of the weighted mean of each local task."""
        counts = engine.map(AnswerCounts())
        if not len(self.relative):
            return np.full(len(counts), np.sqrt(self.pooled))
        deviation = engine.map(WeightedMeans(np.ones(len(weights))))[:, 2]
        variances = task_variances(np.square(deviation), counts, self.pooled)
        spread = engine.map(MeanVariances(weights, self.relative, self.prior))
        return np.asarray(np.sqrt(variances * spread))


def fit_errors(engine: Engine, weights: FloatArray, prior: float = 0.0) -> ErrorModel:
    """The error model estimated from all reports, under given weights."""
    squares, freedom = engine.total(SpreadWithin())
    if freedom == 0:
        return ErrorModel(np.empty(0), spread_of(engine) ** 2, prior)
    pooled = float(squares / freedom)
    if pooled <= 0:  # all agree
        return ErrorModel(np.empty(0), 0.0, prior)
    errors, compared = engine.total(LeaveOneOut(weights, pooled, prior)).T
    overall = total(errors) / max(compared.sum(), 1.0)
    relative = (errors + WORKER_PRIOR * overall) / (compared + WORKER_PRIOR)
    return ErrorModel(relative, pooled, prior)


def spread_of(engine: Engine) -> float:
    """The deviation of all answers; for a single one, that of the domain."""
    count, added = engine.total(TaskMeans())
    low, high = engine.domain.low, engine.domain.high
    if count > 1 or not np.isfinite(high - low):
        return float(np.sqrt(engine.total(SpreadFrom(added / count)) / count))
    return float((high - low) / np.sqrt(12))


class Weighed(NamedTuple):
    """Workers' weights, and for numbers the error model of weighted means."""

    settled: Settled
    errors: ErrorModel

    def among(self, workers: Codes, count: int) -> Weighed:
        """The same for a subset of the workers."""
        return Weighed(self.settled.among(workers, count), self.errors.among(workers))

    def standard_errors(self, engine: Engine) -> FloatArray:
        """The standard error of the weighted mean of each local task."""
        return self.errors.standard_errors(engine, self.settled.weights)


def weigh(engine: Engine, settled: Settled, prior: float = 0.0) -> Weighed:
    """Weights, and for numbers their error model."""
    if not engine.domain.is_numeric:
        return Weighed(settled, ErrorModel.none())
    return Weighed(settled, fit_errors(engine, settled.weights, prior))


def weighted_result(method: Method, engine: Engine, learnt: Weighed) -> Result:
    """The truths that non-negative weights imply; confidence is the winner's share of weight."""
    settled = learnt.settled
    if not engine.domain.is_numeric:
        posterior = engine.map(Votes(settled.weights, engine.domain.size, share=True))
        return label_result(method, engine, posterior, settled)
    truths = engine.map(WeightedMeans(settled.weights))[:, 0]
    errors = learnt.standard_errors(engine)
    return number_result(method, engine, truths, settled, standard_error=errors)
