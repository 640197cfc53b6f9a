"""Noised sessions with and without weighted rounds, on the same simulated answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.model import Domain
from sottovoce.planning.scenario import Assumption, LabelAbility, Scenario
from sottovoce.planning.trials import best_constant, trial_seed
from sottovoce.planning.weighted_rounds import weighted_rounds_that_pay

__all__ = ["DELTA", "LABELS", "TASKS", "Crowd", "sessions"]

TASKS, LABELS = 100, 2
DELTA = 1e-6


@dataclass(frozen=True, slots=True)
class Crowd:
    """So many workers, so many answers to each of 100 tasks, and how able workers are."""

    name: str
    workers: int
    answers_per_task: int
    ability: Assumption | LabelAbility

    def constant(self, seed: int, trials: int) -> float:
        """The mean error of the best constant on the truths of a block of sessions."""
        each = self.answers_per_task * TASKS // self.workers
        domain = Domain.categorical([str(label) for label in range(LABELS)])
        scenario = Scenario(domain, TASKS, self.workers, each, self.ability)
        truths = [scenario.draw(trial_seed(seed, trial))[1] for trial in range(trials)]
        return float(np.mean([best_constant(each).error for each in truths]))


def sessions(crowd: Crowd, epsilon: float, trials: int, block: int, seed: int) -> dict[str, Any]:
    """A block of sessions: the share of wrong labels with 0, 1, … weighted rounds.

    All have the same (epsilon, delta) per answer, the same answers and the same draws of noise; a
    block's answers are the same at every epsilon. `sealed` is one noised count of keyholders.
    """
    own = trial_seed(seed, block)
    found = weighted_rounds_that_pay(
        crowd.workers, TASKS, crowd.answers_per_task, epsilon, DELTA,
        labels=LABELS, ability=crowd.ability, trials=trials, seed=own,
    )  # fmt: skip
    constant = crowd.constant(own, trials)
    return {"errors": list(found.errors), "sealed": found.sealed, "constant": constant}
