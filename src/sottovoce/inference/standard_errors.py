"""How far a weighted mean may be off."""

from __future__ import annotations

import numpy as np

from sottovoce.inference.steps.counts import AnswerCounts
from sottovoce.inference.steps.leaving_out import LeaveOneOut, MeanVariances
from sottovoce.inference.steps.means import WeightedMeans
from sottovoce.model import FloatArray
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
    nothing tells errors from truths: the spread of all answers bounds both.
    """
    counts = engine.map(AnswerCounts())
    means, _, deviation = engine.map(WeightedMeans(np.ones(len(weights)))).T
    freedom = np.maximum(counts - 1, 0)
    if not freedom.any():
        return np.full(len(counts), np.std(means[counts > 0]))
    squares = np.square(deviation) * counts
    pooled = squares.sum() / max(freedom.sum(), 1.0)
    if pooled <= 0:
        return np.zeros(len(counts))
    variances = (squares + TASK_PRIOR * pooled) / (freedom + TASK_PRIOR)
    errors, compared = engine.total(LeaveOneOut(weights, variances, prior)).T
    overall = errors.sum() / max(compared.sum(), 1.0)
    relative = (errors + WORKER_PRIOR * overall) / (compared + WORKER_PRIOR)
    return np.asarray(np.sqrt(variances * engine.map(MeanVariances(weights, relative, prior))))
