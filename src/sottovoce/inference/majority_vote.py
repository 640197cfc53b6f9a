"""Majority vote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sottovoce.inference.aggregator import LABELS, Settled, label_result
from sottovoce.inference.steps.votes import Agreements, Votes
from sottovoce.model import Kind, Result
from sottovoce.seams import Engine


@dataclass(frozen=True, slots=True)
class MajorityVote:
    """The label that most workers gave.

        truth_j = argmax_x Σₖ [vₖⱼ = x]

    Ties go to the first label of the domain; confidence is the winner's share of the votes. A
    worker's weight is the share of its answers that won; tied labels share the win.
    """

    name: ClassVar[str] = "majority-vote"
    takes: ClassVar[frozenset[Kind]] = LABELS

    def fit(self, engine: Engine) -> Result:
        return self.tell(engine, self.learn(engine))

    def learn(self, engine: Engine) -> Settled:
        even = np.ones(len(engine.workers))
        agreement, answered = engine.total(Agreements(even, engine.domain.size)).T
        overall = agreement.sum() / answered.sum()
        agreement = np.where(answered > 0, agreement / np.maximum(answered, 1), overall)
        return Settled(agreement, 1, converged=True)

    def tell(self, engine: Engine, learnt: Settled) -> Result:
        even = np.ones(len(learnt.weights))
        posterior = engine.map(Votes(even, engine.domain.size, share=True))
        return label_result(self, engine, posterior, learnt)
