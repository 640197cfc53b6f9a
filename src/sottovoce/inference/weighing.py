"""Results of methods whose truths are weighted votes or weighted means."""

from __future__ import annotations

from sottovoce.inference.iterating import Settled
from sottovoce.inference.outcome import Method, label_result, number_result
from sottovoce.inference.standard_errors import standard_errors
from sottovoce.inference.steps.means import WeightedMeans
from sottovoce.inference.steps.votes import Votes
from sottovoce.model import Result
from sottovoce.seams import Engine

__all__ = ["weighted_result"]


def weighted_result(method: Method, engine: Engine, settled: Settled) -> Result:
    """The truths that non-negative weights imply; confidence is the winner's share of weight."""
    weights = settled.weights
    if not engine.domain.is_numeric:
        posterior = engine.map(Votes(weights, engine.domain.size, share=True))
        return label_result(method, engine, posterior, settled)
    truths = engine.map(WeightedMeans(weights))[:, 0]
    errors = standard_errors(engine, weights)
    return number_result(method, engine, truths, settled, standard_error=errors)
