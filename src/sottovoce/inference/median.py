"""The plain median."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sottovoce.inference.iterating import Settled
from sottovoce.inference.kinds import NUMBERS
from sottovoce.inference.weighing import Weighed, weigh
from sottovoce.inference.weighted_median import median_result
from sottovoce.model import Kind, Result
from sottovoce.seams import Engine

__all__ = ["Median"]


@dataclass(frozen=True, slots=True)
class Median:
    """The median of a task's numbers, the middle of the two middle ones if their number is even."""

    name: ClassVar[str] = "median"
    takes: ClassVar[frozenset[Kind]] = NUMBERS

    def fit(self, engine: Engine) -> Result:
        return self.tell(engine, self.learn(engine))

    def learn(self, engine: Engine) -> Weighed:
        return weigh(engine, Settled(np.ones(len(engine.workers)), 1, converged=True))

    def tell(self, engine: Engine, learnt: Weighed) -> Result:
        return median_result(self, engine, learnt)
