"""Worker agreement with aggregate (Wawa)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sottovoce.inference.aggregator import LABELS
from sottovoce.inference.majority_vote import MajorityVote
from sottovoce.inference.weights import Weighed, weigh, weighted_result
from sottovoce.model import Kind, Result
from sottovoce.seams import Engine


@dataclass(frozen=True, slots=True)
class Wawa:
    """One round of weighting: majority vote, then a vote weighted by agreement with it.

        wₖ      = share of worker k's answers that won the majority vote
        truth_j = argmax_x Σₖ wₖ [vₖⱼ = x]

    Tied labels share the win. Confidence is the winner's share of the weight.
    """

    name: ClassVar[str] = "wawa"
    takes: ClassVar[frozenset[Kind]] = LABELS

    def fit(self, engine: Engine) -> Result:
        return self.tell(engine, self.learn(engine))

    def learn(self, engine: Engine) -> Weighed:
        return weigh(engine, MajorityVote().learn(engine))

    def tell(self, engine: Engine, learnt: Weighed) -> Result:
        return weighted_result(self, engine, learnt)
