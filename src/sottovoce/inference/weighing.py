"""Results of methods whose truths are weighted votes or weighted means."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sottovoce.inference.iterating import Settled
from sottovoce.inference.outcome import Method, label_result, number_result
from sottovoce.inference.rows import shares
from sottovoce.inference.steps.means import WeightedMeans
from sottovoce.inference.steps.segments import segment_sums
from sottovoce.inference.steps.votes import Votes
from sottovoce.model import FloatArray, Part, Result, numbers_of
from sottovoce.seams import Engine

__all__ = ["standard_errors", "weighted_result"]

PRIOR_ANSWERS = 2.0
"""How many answers the spread of all tasks counts for beside a task's own."""


def weighted_result(method: Method, engine: Engine, settled: Settled) -> Result:
    """The truths that non-negative weights imply; confidence is the winner's share of weight."""
    weights = settled.weights
    if not engine.domain.is_numeric:
        posterior = shares(engine.map(Votes(weights, engine.domain.size)))
        return label_result(method, engine, posterior, settled)
    truths = engine.map(WeightedMeans(weights))[:, 0]
    errors = standard_errors(engine, truths, weights, weights)
    return number_result(method, engine, truths, settled, standard_error=errors)


def standard_errors(
    engine: Engine, truths: FloatArray, weights: FloatArray, precision: FloatArray
) -> FloatArray:
    """How far each weighted mean may be off, when a worker's variance is φⱼ / precisionₖ.

        φⱼ   = ( Σₖ precisionₖ (vₖⱼ − truthⱼ)² + ν φ ) / ( nⱼ − 1 + ν )
        errorⱼ² = φⱼ Σₖ (wₖ² / precisionₖ) / ( Σₖ wₖ )²

    φ is the same quotient over all tasks. Its ν = 2 answers' worth keep a task with one or two
    answers that happen to agree from looking certain.
    """
    rows = engine.map(_Residuals(truths, weights, precision))
    residual, spread, counts = rows[:, 0], rows[:, 1], rows[:, 2]
    freedom = np.maximum(counts - 1, 0)
    pooled = residual.sum() / max(freedom.sum(), 1.0)
    moderated = (residual + PRIOR_ANSWERS * pooled) / (freedom + PRIOR_ANSWERS)
    return np.asarray(np.sqrt(moderated * spread))


@dataclass(frozen=True, slots=True)
class _Residuals:
    """(Σ precision (v − truth)², Σ w²/precision / (Σ w)², answers) for each task."""

    truths: FloatArray
    weights: FloatArray
    precision: FloatArray

    @property
    def shape(self) -> tuple[int, ...]:
        return (3,)

    def __call__(self, part: Part) -> FloatArray:
        part = numbers_of(part)
        truth = self.truths[part.first : part.first + part.tasks]
        weight, precision = self.weights[part.reporters], self.precision[part.reporters]
        errors = precision * np.square(part.values - truth[part.task])
        mass = np.square(segment_sums(weight, part.starts))
        variance = segment_sums(np.square(weight) / precision, part.starts)
        spread = np.divide(variance, mass, out=np.ones_like(mass), where=mass > 0)
        return np.stack([segment_sums(errors, part.starts), spread, np.diff(part.starts)], axis=1)

    def kernel(self) -> None:
        return None
