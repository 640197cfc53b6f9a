"""Trials of simulated campaigns, each of them run only once."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self, TypeAlias

from sottovoce.errors import UsageError
from sottovoce.mechanisms.targets import Target
from sottovoce.planning.caching import key_of, recall, remember
from sottovoce.planning.pairs import AWARE, Pair
from sottovoce.planning.parallel import Processes, Progress
from sottovoce.planning.scenario import Scenario
from sottovoce.planning.spreads import trial_seed
from sottovoce.planning.trials import run_trial

__all__ = ["Case", "Runner", "default_jobs", "seeds_of"]

WORTH_STARTING = 6.0
"""Seconds of trials for which processes are started, which takes a second or two."""

TIMED = 3
"""Trials that are timed first: the fastest says what one takes, since the first loads libraries."""


@dataclass(frozen=True, slots=True)
class Case:
    """What is simulated again and again: a scenario under a pair and its target.

    Without a pair the answers themselves are used.
    """

    scenario: Scenario
    pair: Pair | None = None
    target: Target | None = None

    def error(self, seed: int, trial: int) -> float:
        """The error of one simulated campaign.

        Truths, crowd, answers and the words that noise is made of are those of the seed and the
        trial, whatever the case: cases are compared on common random numbers.
        """
        for_answers, for_noise = seeds_of(seed, trial)
        answers, truths = self.scenario.draw(for_answers)
        if self.pair is None or self.target is None:
            return run_trial(answers, truths, None, AWARE, for_noise).error
        pair = self.pair
        policy = pair.policy(self.scenario.domain, self.target)
        return run_trial(answers, truths, policy, pair.method, for_noise, pair.settings).error

    def key(self, seed: int) -> str:
        """The case's name in the cache."""
        return key_of([repr(self), seed])


Work: TypeAlias = tuple[Case, int, int]
"""A case, the seed, and the number of a trial."""


class Runner:
    """Runs trials; what was run before, here or according to the cache, is not run again.

    Errors depend on the case, the seed and the trial alone, so `jobs` does not change them. With
    `jobs` above 1 processes are started once the trials still expected are worth it, and stay until
    the block ends.
    """

    def __init__(
        self, seed: int = 0, *, jobs: int = 1, cache: bool = True, progress: Progress | None = None
    ) -> None:
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise UsageError(f"seed must be an integer of at least 0, not {seed!r}")
        self._seed, self._jobs, self._cache, self._progress = seed, jobs, cache, progress
        self._processes: Processes[Work, float] = Processes(_error, jobs=jobs)
        self._known: dict[str, tuple[float, ...]] = {}
        self._counted: dict[str, int] = {}
        self._done = self._expected = 0
        self._seconds: list[float] = []
        self._started = False

    def __enter__(self) -> Self:
        self._processes.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._processes.__exit__(*_)

    def expect(self, trials: int) -> None:
        """Say how many more trials will be asked for; fewer, if negative."""
        self._expected += trials
        self._tell(0)

    def errors(self, cases: Sequence[Case], trials: int) -> list[tuple[float, ...]]:
        """The errors of the first so many trials of each case."""
        keys = [case.key(self._seed) for case in cases]
        missing = {
            key: (case, range(len(self._recalled(key, trials)), trials))
            for key, case in zip(keys, cases, strict=True)
        }
        found = self._run({key: work for key, work in missing.items() if work[1]})
        for key, errors in found.items():
            self._known[key] += errors
            if self._cache:
                remember(key, self._known[key])
        return [self._known[key][:trials] for key in keys]

    def _recalled(self, key: str, trials: int) -> tuple[float, ...]:
        if key not in self._known:
            self._known[key] = recall(key) if self._cache else ()
            self._counted[key] = 0
        done = min(len(self._known[key]), trials)
        self._tell(max(0, done - self._counted[key]))
        self._counted[key] = max(trials, self._counted[key])
        return self._known[key]

    def _run(self, work: Mapping[str, tuple[Case, range]]) -> dict[str, tuple[float, ...]]:
        items = [(case, self._seed, trial) for case, trials in work.values() for trial in trials]
        errors = [0.0] * len(items)
        here = 0
        while here < len(items) and not self._starts_processes():
            errors[here] = self._timed(items[here])
            here += 1
        for place, error in self._processes.results(items[here:]):
            errors[here + place] = error
            self._tell(1)
        ordered = iter(errors)
        return {key: tuple(next(ordered) for _ in trials) for key, (_, trials) in work.items()}

    def _starts_processes(self) -> bool:
        """Whether the trials that are left would take longer here than starting helpers does."""
        if not self._started and self._jobs > 1 and len(self._seconds) >= TIMED:
            left = min(self._seconds) * (self._expected - self._done)
            self._started = left > WORTH_STARTING
        return self._started

    def _timed(self, item: Work) -> float:
        start = time.perf_counter()
        error = _error(item)
        self._seconds.append(time.perf_counter() - start)
        self._tell(1)
        return error

    def _tell(self, more: int) -> None:
        self._done += more
        if self._progress is not None:
            self._progress(self._done, max(self._expected, self._done))


def seeds_of(seed: int, trial: int) -> tuple[int, int]:
    """The seeds of a trial's answers and of its noise."""
    return trial_seed(seed, trial, 0), trial_seed(seed, trial, 1)


def default_jobs() -> int:
    """One process for each processor this one may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _error(item: Work) -> float:
    case, seed, trial = item
    return case.error(seed, trial)
