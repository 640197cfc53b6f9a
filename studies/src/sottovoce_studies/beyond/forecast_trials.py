"""Cells of study `forecast-coverage`: forecasts from a pilot of a public dataset, and what came.

A pilot of 60 random tasks with their real answers (half of them if there are fewer than 120) is
replayed by the planner. The rest is the campaign: its real answers, randomised or sealed.
"""

from __future__ import annotations

import math
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.mechanisms.affordability import affordability
from sottovoce.mechanisms.policies import Target
from sottovoce.model import Reports
from sottovoce.planning.crowds import Crowd
from sottovoce.planning.forecast import Forecast
from sottovoce.planning.pilot import Pilot
from sottovoce.planning.pipelines import AWARE, Pipeline
from sottovoce.planning.scenario import Scenario
from sottovoce.planning.trial_runner import TrialCase
from sottovoce.planning.trials import run_trial, trial_seed
from sottovoce_studies.crowds import Source

__all__ = ["NO_FORECAST", "Way", "alone", "campaign", "coverage"]

Way: TypeAlias = Literal["clean", "local", "sealed"]

PILOT = 60
TRIALS = 29
MOST = {False: 4_000, True: 1_200}
"""Reports of a simulated campaign of labels, and of numbers."""
NOISES = 6
NORMAL = 1.645
"""The 95 % quantile of the normal law."""
NO_FORECAST = {"outcome": -1.0, "expected": -1.0, "low": -1.0, "high": -1.0}
"""The planner said that it cannot tell."""


def coverage(
    dataset: Source, gold: bool, way: Way, epsilon: float, draw: int, seed: int
) -> dict[str, float]:
    """The forecast from one pilot, and the error on the rest."""
    (pilot, known), (rest, truths) = _split(dataset, draw, seed)
    crowd = _crowd(pilot, known, gold)
    if crowd is None:
        return NO_FORECAST
    each = max(1, round(len(rest) / len(np.unique(rest.worker))))
    workers = max(1, round(len(rest) / each))
    scenario = Scenario(rest.domain, len(truths), workers, min(each, len(truths)), crowd)
    return _compared(scenario, (rest, truths), _pair(rest, way), epsilon, draw, seed)


def alone(dataset: Source, way: Way, epsilon: float, seed: int) -> float:
    """The width of a 90 % band that only the sampling of tasks and the noise make.

    It is that of the difference between the mean errors of P tasks and of the R others, in one
    table of reports: s² (1/P + 1/R), and the variance of the mean error over draws of noise.
    """
    answers, truths = _known(*dataset.draw(0))
    pair = _pair(answers, way)
    noises = 1 if pair is None else NOISES
    policy = None if pair is None else pair.policy(answers.domain, Target(epsilon))
    trials = [
        run_trial(answers, truths, policy, AWARE, trial_seed(seed, 3, noise))
        for noise in range(noises)
    ]
    first = _pilot_size(len(truths))
    within = float(np.mean([trial.errors.var(ddof=1) for trial in trials]))
    between = float(np.var([trial.error for trial in trials], ddof=1)) if noises > 1 else 0.0
    variance = within * (1 / first + 1 / (len(truths) - first)) + between
    return 2 * NORMAL * math.sqrt(variance)


def campaign(
    dataset: Source, workers: int, each: int, epsilon: float, draw: int, seed: int, named: bool
) -> dict[str, float]:
    """A campaign with devices at their default budget, and its forecast.

    Each of `workers` workers of the dataset gets `each` tasks of those that it answered. Its device
    takes the least covered ones that it can afford. The forecast is from a pilot with gold, or for
    the named crowd.
    """
    (pilot, known), (rest, truths) = _split(dataset, draw, seed)
    pair = Pipeline("local", "randomized-response")
    policy = pair.policy(rest.domain, Target(epsilon, answers=each))
    afforded = affordability(policy, each).answered
    taken = _taken(rest, workers, afforded, np.random.default_rng([seed, draw, 5]))
    crowd: Crowd | None = None if named else _crowd(pilot, known, True)
    scenario = Scenario(rest.domain, len(truths), workers, afforded, crowd or "mixed")
    return _compared(scenario, (_rows(rest, taken), truths), pair, epsilon, draw, seed)


def _taken(
    rest: Reports, workers: int, afforded: int, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """The rows of the answers that devices send: each the least covered tasks of its worker."""
    covered = np.zeros(len(rest.tasks))
    loads = np.bincount(rest.worker, minlength=len(rest.workers))
    able = rng.permutation(np.flatnonzero(loads >= min(afforded, np.sort(loads)[-workers])))
    found = []
    for worker in able[:workers]:
        rows = np.flatnonzero(rest.worker == worker)
        order = np.lexsort((rng.random(len(rows)), covered[rest.task[rows]]))
        found.append(rows[order[:afforded]])
        covered[rest.task[found[-1]]] += 1
    return np.concatenate(found)


def _compared(
    scenario: Scenario,
    came: tuple[Reports, npt.NDArray[Any]],
    pair: Pipeline | None,
    epsilon: float,
    draw: int,
    seed: int,
) -> dict[str, float]:
    domain = scenario.domain
    target = None if pair is None else Target(epsilon, answers=scenario.answers_per_worker)
    case = TrialCase(scenario.smaller(MOST[domain.is_numeric]), pair, target)
    own = trial_seed(seed, 1, draw)
    errors = tuple(case.error(own, trial) for trial in range(TRIALS))
    forecast = Forecast(pair, target, errors)
    policy = None if pair is None or target is None else pair.policy(domain, target)
    outcome = run_trial(*came, policy, AWARE, trial_seed(seed, 2, draw)).error
    low, high = forecast.band or (math.nan, math.nan)
    return {"outcome": outcome, "expected": forecast.error, "low": low, "high": high}


def _crowd(pilot: Reports, known: npt.NDArray[Any], gold: bool) -> Pilot | None:
    if gold:
        return Pilot.of_truths(pilot, known)
    try:
        return Pilot.without_gold(pilot)
    except UsageError:
        return None


def _pair(answers: Reports, way: Way) -> Pipeline | None:
    if way == "clean":
        return None
    if way == "sealed":
        return Pipeline("sealed", "sealed-sum")
    return Pipeline("local", "laplace" if answers.domain.is_numeric else "randomized-response")


def _pilot_size(tasks: int) -> int:
    return PILOT if tasks >= 2 * PILOT else tasks // 2


def _split(
    dataset: Source, draw: int, seed: int
) -> tuple[tuple[Reports, npt.NDArray[Any]], tuple[Reports, npt.NDArray[Any]]]:
    answers, truths = _known(*dataset.draw(0))
    order = np.random.default_rng([seed, draw, 4]).permutation(len(truths))
    size = _pilot_size(len(truths))
    first, others = np.sort(order[:size]), np.sort(order[size:])
    return _tasks(answers, truths, first), _tasks(answers, truths, others)


def _known(answers: Reports, truths: npt.NDArray[Any]) -> tuple[Reports, npt.NDArray[Any]]:
    known = np.isfinite(truths) if truths.dtype.kind == "f" else truths >= 0
    return _tasks(answers, truths, np.flatnonzero(known))


def _tasks(
    answers: Reports, truths: npt.NDArray[Any], tasks: npt.NDArray[np.int64]
) -> tuple[Reports, npt.NDArray[Any]]:
    """The answers to some tasks, which get the codes 0, 1, …, and their truths."""
    place = np.full(len(truths), -1)
    place[tasks] = np.arange(len(tasks))
    kept = np.flatnonzero(place[answers.task] >= 0)
    return _table(answers, kept, place[answers.task[kept]], len(tasks)), truths[tasks]


def _rows(answers: Reports, rows: npt.NDArray[np.int64]) -> Reports:
    return _table(answers, rows, answers.task[rows], len(answers.tasks))


def _table(
    answers: Reports, rows: npt.NDArray[np.int64], task: npt.NDArray[Any], tasks: int
) -> Reports:
    names, worker = np.unique(answers.worker[rows], return_inverse=True)
    return Reports.of(
        worker.astype(np.int32),
        task.astype(np.int32),
        answers.value[rows],
        domain=answers.domain,
        workers=np.arange(len(names)),
        tasks=np.arange(tasks),
    )
