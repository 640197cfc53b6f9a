"""Zero-based skill (ZBS): weighted votes and agreement with them, by gradient steps."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import ClassVar

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.inference.aggregator import LABELS, check_parameters, settle
from sottovoce.inference.steps.votes import Agreements, AnswersPerWorker
from sottovoce.inference.weights import Weighed, weigh, weighted_result
from sottovoce.model import FloatArray, Kind, Result
from sottovoce.seams import Engine


@dataclass(frozen=True, slots=True)
class ZeroBasedSkill:
    """A worker's weight moves towards its agreement with the weighted vote (crowd-kit's ZBS).

        truth   v*ⱼ = argmax_x Σₖ wₖ [vₖⱼ = x]
        weight  wₖ ← wₖ + rate · (share of the worker's answers that are v*ⱼ − wₖ)

    Starts from equal weights. `rate` halves in rounds 20, 40, …, so that weights settle even if
    truths alternate; the iteration ends when none moves by more than `tolerance` of the largest.
    Tied labels share the agreement. Confidence is the winner's share of the weight.
    """

    max_rounds: int = 100
    tolerance: float = 1e-6
    rate: float = 1.0

    name: ClassVar[str] = "zero-based-skill"
    takes: ClassVar[frozenset[Kind]] = LABELS

    def __post_init__(self) -> None:
        check_parameters(self)
        if not 0 < self.rate <= 1:
            raise UsageError(f"rate must lie in (0, 1], not {self.rate}")

    def fit(self, engine: Engine) -> Result:
        return self.tell(engine, self.learn(engine))

    def learn(self, engine: Engine) -> Weighed:
        workers, labels = len(engine.workers), engine.domain.size
        answered = engine.total(AnswersPerWorker(workers))
        rounds = count(1)

        def update(weights: FloatArray) -> FloatArray:
            agreement = engine.total(Agreements(weights, labels))[:, 0] / np.maximum(answered, 1)
            rate = self.rate * 0.5 ** (next(rounds) // ROUNDS_PER_RATE)
            return weights + rate * (agreement - weights)

        start = np.full(workers, 1 / labels)
        return weigh(engine, settle(self, update, start, answered))

    def tell(self, engine: Engine, learnt: Weighed) -> Result:
        return weighted_result(self, engine, learnt)


ROUNDS_PER_RATE = 20
"""The number of rounds after which the rate is halved."""
