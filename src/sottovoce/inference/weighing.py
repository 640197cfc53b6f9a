"""Methods whose truths are weighted votes or weighted means: what they learn, what they tell."""

from __future__ import annotations

from typing import NamedTuple

from sottovoce.inference.iterating import Settled
from sottovoce.inference.outcome import Method, label_result, number_result
from sottovoce.inference.standard_errors import ErrorModel, fit_errors
from sottovoce.inference.steps.means import WeightedMeans
from sottovoce.inference.steps.votes import Votes
from sottovoce.model import Codes, FloatArray, Result
from sottovoce.seams import Engine

__all__ = ["Weighed", "weigh", "weighted_result"]


class Weighed(NamedTuple):
    """Workers' weights, and for numbers what says how far weighted means may be off."""

    settled: Settled
    errors: ErrorModel

    def among(self, workers: Codes, count: int) -> Weighed:
        """The same of some of the workers."""
        return Weighed(self.settled.among(workers, count), self.errors.among(workers))

    def standard_errors(self, engine: Engine) -> FloatArray:
        """How far the weighted mean of each task at hand may be off."""
        return self.errors.standard_errors(engine, self.settled.weights)


def weigh(engine: Engine, settled: Settled, prior: float = 0.0) -> Weighed:
    """Weights, and what they mean for the errors of numbers."""
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
