"""Comparison of pairs of randomiser and aggregator on the same answers and noise words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.mechanisms.policies import Target
from sottovoce.model import Reports
from sottovoce.planning.pipelines import Pipeline
from sottovoce.planning.trials import Spread, Trial, best_constant, run_trial, trial_seed
from sottovoce_studies.cells import Cell
from sottovoce_studies.crowds import Source

__all__ = ["CONSTANT", "Contest", "spreads", "trial_of"]

CONSTANT = "best constant"

_ANSWERS, _NOISE = 0, 1


@dataclass(frozen=True, slots=True)
class Contest:
    """Pairs at one epsilon per answer on one source, with participation hidden or not."""

    source: Source
    epsilon: float
    pairs: tuple[Pipeline, ...]
    hide_participation: bool = False

    def cells(self, trials: int, seed: int) -> list[Cell]:
        """One cell per trial: the error of every pair, and of the best constant."""
        return [Cell(_errors, (self, trial, seed)) for trial in range(trials)]


def trial_of(contest: Contest, pair: Pipeline, trial: int, seed: int) -> Trial:
    """One pair's trial; all pairs share the answers and the noise of the trial."""
    answers, truths = contest.source.draw(trial_seed(seed, _ANSWERS, trial))
    return _trial(contest, pair, answers, truths, trial_seed(seed, _NOISE, trial))


def spreads(errors: Sequence[Mapping[str, Any]]) -> dict[str, Spread]:
    """The spread of each pair's errors over trials."""
    return {name: Spread.of([trial[name] for trial in errors]) for name in errors[0]}


def _errors(contest: Contest, trial: int, seed: int) -> dict[str, float]:
    answers, truths = contest.source.draw(trial_seed(seed, _ANSWERS, trial))
    noise = trial_seed(seed, _NOISE, trial)
    errors = {
        pair.name: _trial(contest, pair, answers, truths, noise).error for pair in contest.pairs
    }
    return {**errors, CONSTANT: best_constant(truths).error}


def _trial(
    contest: Contest, pair: Pipeline, answers: Reports, truths: npt.NDArray[Any], noise: int
) -> Trial:
    hidden = contest.hide_participation
    seen = len(answers.tasks) if hidden else int(np.bincount(answers.worker).max())
    target = Target(contest.epsilon, answers=seen, hide_participation=hidden)
    policy = pair.policy(answers.domain, target)
    return run_trial(answers, truths, policy, pair.method, noise, pair.settings)
