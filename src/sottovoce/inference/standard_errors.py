"""How far a weighted mean may be off."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from sottovoce.inference.exact import total
from sottovoce.inference.steps.counts import AnswerCounts
from sottovoce.inference.steps.leaving_out import LeaveOneOut, MeanVariances, task_variances
from sottovoce.inference.steps.means import TaskMeans, WeightedMeans
from sottovoce.inference.steps.spreads import SpreadFrom, SpreadWithin
from sottovoce.model import Codes, FloatArray
from sottovoce.seams import Engine

__all__ = ["ErrorModel", "fit_errors"]

WORKER_PRIOR = 2.0
"""How many answers everybody's distance counts for beside a worker's own."""


@dataclass(frozen=True, slots=True)
class ErrorModel:
    """What errors of weighted means follow from, if worker k's variance on task j is σⱼ² ρₖ.

    σⱼ² is the variance of the task's answers, drawn towards `pooled`, that of all tasks; ρₖ, in
    `relative`, is the mean of the worker's squared distances from the others' weighted mean
    (`LeaveOneOut`), drawn towards the crowd's. Leaving a worker out matters: whoever has most of
    the weight is close to the weighted mean whether it is right or not. Then

        errorⱼ² = σⱼ² Σₖ hₖ² ρₖ / (Σₖ hₖ)²,   hₖ = wₖ + prior / nⱼ

    A task with one answer has the error of an answer like the others'. Where no task has two,
    nothing tells errors from truths: the spread of all answers bounds both, and for a single
    answer the spread of the domain, if it has a range. Then `relative` is empty and `pooled` the
    square of that spread.
    """

    relative: FloatArray
    pooled: float
    prior: float

    @classmethod
    def none(cls) -> Self:
        """For labels, which have no such errors."""
        return cls(np.empty(0), 0.0, 0.0)

    def among(self, workers: Codes) -> Self:
        """The same of some of the workers."""
        return replace(self, relative=self.relative[workers]) if len(self.relative) else self

    def standard_errors(self, engine: Engine, weights: FloatArray) -> FloatArray:
        """The standard error of the weighted mean of each task at hand."""
        counts = engine.map(AnswerCounts())
        if not len(self.relative):
            return np.full(len(counts), np.sqrt(self.pooled))
        deviation = engine.map(WeightedMeans(np.ones(len(weights))))[:, 2]
        variances = task_variances(np.square(deviation), counts, self.pooled)
        spread = engine.map(MeanVariances(weights, self.relative, self.prior))
        return np.asarray(np.sqrt(variances * spread))


def fit_errors(engine: Engine, weights: FloatArray, prior: float = 0.0) -> ErrorModel:
    """The errors that all reports show, under given weights."""
    squares, freedom = engine.total(SpreadWithin())
    if freedom == 0:
        return ErrorModel(np.empty(0), _spread(engine) ** 2, prior)
    pooled = float(squares / freedom)
    if pooled <= 0:  # all agree
        return ErrorModel(np.empty(0), 0.0, prior)
    errors, compared = engine.total(LeaveOneOut(weights, pooled, prior)).T
    overall = total(errors) / max(compared.sum(), 1.0)
    relative = (errors + WORKER_PRIOR * overall) / (compared + WORKER_PRIOR)
    return ErrorModel(relative, pooled, prior)


def _spread(engine: Engine) -> float:
    """The deviation of all answers; of a single one, that of the domain."""
    count, added = engine.total(TaskMeans())
    low, high = engine.domain.low, engine.domain.high
    if count > 1 or not np.isfinite(high - low):
        return float(np.sqrt(engine.total(SpreadFrom(added / count)) / count))
    return float((high - low) / np.sqrt(12))
