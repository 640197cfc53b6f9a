"""Pairs against each other on one table: who takes part, and what each trial showed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.mechanisms.registry import release_class
from sottovoce.mechanisms.targets import Target
from sottovoce.model import Domain, FloatArray, Kind, Policy, Reports, Unit
from sottovoce.planning.candidates import Ways, candidates
from sottovoce.planning.pairs import AWARE, Pair
from sottovoce.planning.parallel import Processes, Progress
from sottovoce.planning.pipelines import papers
from sottovoce.planning.spreads import trial_seed
from sottovoce.planning.trials import run_trial

__all__ = ["Rounds", "contenders"]

_PILOT, _REPORTED = 0, 1  # the first place of a trial's seed


def contenders(
    domain: Domain, pairs: Sequence[Pair] | None, targets: Sequence[Target], ways: Ways = "any"
) -> tuple[list[Pair], list[Pair]]:
    """Pairs to choose ours from, which aware inference reads, and pairs to compare it with.

    Without `pairs`, all that can keep every target, and the papers' pipelines.
    """
    first = targets[0]
    if pairs is None:
        theirs = papers(domain, hide_participation=first.hide_participation)
        pairs = [*_candidates(domain, targets, ways), *theirs]
    # The papers calibrate per answer only.
    pairs = [pair for pair in pairs if not (pair.published and first.unit is Unit.WORKER)]
    if not pairs:
        raise UsageError("there is no pair to try: give at least one")
    if len({pair.name for pair in pairs}) < len(pairs):
        raise UsageError("two pairs have one name: rename one")
    ours = [pair for pair in pairs if pair.method == AWARE and not pair.published]
    return ours, [pair for pair in pairs if pair not in ours]


class Rounds:
    """Trials of pairs on one table, whose processes stay until the block ends.

    Trial t has the same noise words for every pair; those of a pilot are others.
    """

    def __init__(
        self,
        answers: Reports,
        truths: npt.NDArray[Any],
        seed: int,
        *,
        jobs: int = 1,
        progress: Progress | None = None,
    ) -> None:
        self._domain, self._seed, self._progress = answers.domain, seed, progress
        self._processes = Processes(partial(_error, answers, truths), jobs=jobs)
        self._done = self._expected = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *end: object) -> None:
        self._processes.__exit__(*end)

    def expect(self, trials: int) -> None:
        """Say how many trials there will be in all."""
        self._expected = trials
        self._tell(0, 0)

    def best(self, targets: Sequence[Target], pairs: Sequence[Pair], trials: int) -> list[Pair]:
        """The pair with the lowest mean error in a pilot, for each target."""
        contests = [(target, pair) for target in targets for pair in pairs]
        means = self._run(contests, trials, _PILOT).mean(axis=1).reshape(len(targets), len(pairs))
        return [pairs[place] for place in means.argmin(axis=1)]

    def errors(self, contests: Sequence[tuple[Target, Pair]], trials: int) -> FloatArray:
        """The error of every trial, a row for each contest."""
        return self._run(contests, trials, _REPORTED)

    def _run(
        self, contests: Sequence[tuple[Target, Pair]], trials: int, purpose: int
    ) -> FloatArray:
        seeds = [trial_seed(self._seed, purpose, trial) for trial in range(trials)]
        jobs = [
            _Job(pair.policy(self._domain, target), pair.method, pair.settings, seed)
            for target, pair in contests
            for seed in seeds
        ]
        errors = self._processes.map(jobs, self._tell)
        self._done += len(jobs)
        return np.array(errors, np.float64).reshape(len(contests), trials)

    def _tell(self, done: int, _: int) -> None:
        if self._progress is not None:
            self._progress(self._done + done, self._expected)


@dataclass(frozen=True, slots=True)
class _Job:
    """One trial: everything but the table, which its process has."""

    policy: Policy
    method: str
    settings: Mapping[str, Any]
    seed: int


def _error(answers: Reports, truths: npt.NDArray[Any], job: _Job) -> float:
    return run_trial(answers, truths, job.policy, job.method, job.seed, job.settings).error


def _candidates(domain: Domain, targets: Sequence[Target], ways: Ways) -> list[Pair]:
    """What can keep every target, and says labels where labels are asked for."""
    found = [candidates(domain, target, ways) for target in targets]
    kept = [pair for pair in found[0] if all(pair in others for others in found)]
    if domain.is_numeric or targets[0].hide_participation:
        return kept
    return [pair for pair in kept if Kind.CATEGORICAL in release_class(pair.mechanism).takes]
