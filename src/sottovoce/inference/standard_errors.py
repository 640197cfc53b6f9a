"""How far a weighted mean may be off."""

from __future__ import annotations

import numpy as np

from sottovoce.inference.exact import total
from sottovoce.inference.steps.counts import AnswerCounts
from sottovoce.inference.steps.leaving_out import LeaveOneOut, MeanVariances
from sottovoce.inference.steps.means import WeightedMeans
from sottovoce.model import Domain, FloatArray
from sottovoce.seams import Engine

__all__ = ["standard_errors"]

TASK_PRIOR, WORKER_PRIOR = 10.0, 2.0
"""How many answers everybody's spread counts for beside a task's own, and a worker's own."""


def standard_errors(engine: Engine, weights: FloatArray, prior: float = 0.0) -> FloatArray:
    """The standard error of each task's weighted mean, if worker k's variance on task j is σⱼ² ρₖ.

    σⱼ² is the variance of the task's answers, drawn towards that of all tasks; ρₖ is the mean of
    the worker's squared distances from the others' weighted mean (`LeaveOneOut`), drawn towards
    the crowd's. Leaving a worker out matters: whoever has most of the weight is close to the
    weighted mean whether it is right or not. Then

        errorⱼ² = σⱼ² Σₖ hₖ² ρₖ / (Σₖ hₖ)²,   hₖ = wₖ + prior / nⱼ

    A task with one answer has the error of an answer like the others'. Where no task has two,
    nothing tells errors from truths: the spread of all answers bounds both, and for a single
    answer the spread of the domain, if it has a range.
    """
    counts = engine.map(AnswerCounts())
    means, _, deviation = engine.map(WeightedMeans(np.ones(len(weights)))).T
    freedom = np.maximum(counts - 1, 0)
    if not freedom.any():
        return np.full(len(counts), _spread(means[counts > 0], engine.domain))
    squares = np.square(deviation) * counts
    pooled = total(squares) / max(freedom.sum(), 1.0)
    if pooled <= 0:
        return np.zeros(len(counts))
    variances = (squares + TASK_PRIOR * pooled) / (freedom + TASK_PRIOR)
    errors, compared = engine.total(LeaveOneOut(weights, variances, prior)).T
    overall = total(errors) / max(compared.sum(), 1.0)
    relative = (errors + WORKER_PRIOR * overall) / (compared + WORKER_PRIOR)
    return np.asarray(np.sqrt(variances * engine.map(MeanVariances(weights, relative, prior))))


def _spread(answers: FloatArray, domain: Domain) -> float:
    if len(answers) > 1 or not np.isfinite(domain.high - domain.low):
        return float(np.std(answers))
    return float((domain.high - domain.low) / np.sqrt(12))
