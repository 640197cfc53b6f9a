"""The plain mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sottovoce.inference.iterating import Settled
from sottovoce.inference.kinds import NUMBERS
from sottovoce.inference.weighing import Weighed, weigh, weighted_result
from sottovoce.model import Kind, Result
from sottovoce.seams import Engine

__all__ = ["Mean"]


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of a task's numbers; every worker has weight 1."""

    name: ClassVar[str] = "mean"
    takes: ClassVar[frozenset[Kind]] = NUMBERS

    def fit(self, engine: Engine) -> Result:
        return self.tell(engine, self.learn(engine))

    def learn(self, engine: Engine) -> Weighed:
        return weigh(engine, Settled(np.ones(len(engine.workers)), 1, converged=True))

    def tell(self, engine: Engine, learnt: Weighed) -> Result:
        return weighted_result(self, engine, learnt)
