"""The number of workers, or the epsilon, that a target accuracy needs."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from sottovoce.errors import UsageError
from sottovoce.mechanisms.affordability import affordability
from sottovoce.mechanisms.policies import Target
from sottovoce.model.budget import DEFAULT_BUDGET, Budget
from sottovoce.planning.forecast import Forecast, check_trials, forecasts
from sottovoce.planning.pipelines import Pipeline, target_of
from sottovoce.planning.scenario import Scenario
from sottovoce.planning.trial_runner import Runner, TrialCase

Question: TypeAlias = Literal["workers", "epsilon"]

FIRST_TRIALS = 6
MARGIN = 2.0
"""A goal is reached when the mean error plus this many standard errors is within it."""

CLEARLY = 3.0
"""If the mean is this many standard errors away from the goal, a few trials are enough."""

SEARCHED_LABELS, SEARCHED_NUMBERS = 20_000, 1_500
"""Larger campaigns are simulated on smaller ones; a mean needs fewer reports than a band."""

OCTAVES = 5
"""Sizes are searched up to 2^5 = 32 times the planned ones, and down to a 32nd of them."""

EPSILONS = (0.05, 16.0)
"""The range of the search for an epsilon."""


@dataclass(frozen=True, slots=True)
class Needed:
    """The least value that reaches a goal, a mean error; `value` is None if none does.

    `forecast` is that of `value`, or the best one found, at `at`. `searched` is the limit of the
    search. `each` is the number of tasks for each worker: those planned, or fewer if devices do not
    afford them.
    """

    question: Question
    goal: float
    value: float | None
    at: float
    forecast: Forecast
    searched: tuple[float, float]
    each: int


def workers_needed(
    runner: Runner, scenario: Scenario, pair: Pipeline, target: Target, goal: float, trials: int
) -> Needed:
    """The fewest workers that reach the goal, each with as many answers as planned."""

    def case(size: float) -> TrialCase:
        return _case(replace(scenario, workers=int(size)), pair, target)

    sizes = _sizes(scenario.workers)
    return _least(
        "workers", sizes, scenario.workers, goal, case, runner, trials, scenario.answers_per_worker
    )


def epsilon_needed(
    runner: Runner,
    scenario: Scenario,
    pair: Pipeline,
    target: Target,
    goal: float,
    trials: int,
    budget: Budget | None = DEFAULT_BUDGET,
) -> Needed:
    """The smallest epsilon (the strongest privacy) that reaches the goal.

    Only those are searched at which devices afford all planned answers.
    """

    def case(epsilon: float) -> TrialCase:
        return _case(scenario, pair, replace(target, epsilon=epsilon))

    def too_much(place: int) -> bool:
        each = target_of(scenario, replace(target, epsilon=grid[place]))
        policy = pair.policy(scenario.domain, each)
        return (
            budget is not None
            and affordability(policy, each.answers, budget).answered < each.answers
        )

    low, high = EPSILONS
    steps = math.ceil(4 * math.log2(high / low))
    grid = [_round(low * 2 ** (step / 4)) for step in range(steps)] + [high]
    grid = grid[: bisect_left(range(len(grid)), True, key=too_much)] or grid[:1]
    start = min(grid, key=lambda epsilon: abs(math.log(epsilon / target.epsilon)))
    return _least("epsilon", grid, start, goal, case, runner, trials, scenario.answers_per_worker)


def check_goal(goal: float) -> None:
    """Refuse an impossible mean error."""
    if not 0 < goal < math.inf:
        raise UsageError(f"the error to reach must be above 0 and finite, not {goal:g}")


def _case(scenario: Scenario, pair: Pipeline, target: Target) -> TrialCase:
    # The policy is that of the whole campaign, even if a smaller one is simulated.
    most = SEARCHED_NUMBERS if scenario.domain.is_numeric else SEARCHED_LABELS
    return TrialCase(scenario.smaller(most), pair, target_of(scenario, target))


def _sizes(planned: int) -> list[int]:
    """Whole numbers around a planned one, each about 9 % above the previous one."""
    steps = range(-8 * OCTAVES, 8 * OCTAVES + 1)
    around = {max(1, math.ceil(_round(planned * 2 ** (step / 8)))) for step in steps}
    return sorted({planned} | around)


def _round(number: float) -> float:
    return float(f"{number:.2g}")


def _least(
    question: Question,
    grid: Sequence[float],
    start: float,
    goal: float,
    case_at: Callable[[float], TrialCase],
    runner: Runner,
    trials: int,
    each: int,
) -> Needed:
    """The first position of an increasing grid that reaches the goal, if more never does harm."""
    check_goal(goal)
    check_trials(trials)
    seen: dict[int, Forecast] = {}

    def reaches(place: int) -> bool:
        found = seen[place] = _judged(runner, case_at(grid[place]), goal, trials)
        return found.error + MARGIN * found.standard_error <= goal

    found = _first(reaches, len(grid), grid.index(start))
    place = found if found is not None else min(seen, key=lambda one: seen[one].error)
    ends = (grid[min(seen)], grid[max(seen)])
    value = None if found is None else grid[found]
    return Needed(question, goal, value, grid[place], seen[place], ends, each)


def _first(reaches: Callable[[int], bool], places: int, start: int) -> int | None:
    """The first position that reaches the goal: doubling strides from the start, then halving."""
    low, high = -1, places  # positions up to low do not reach, those from high on do
    place, stride = start, 4
    while high - low > 1:
        if reaches(place):
            high = place
        else:
            low = place
        if low < 0:
            place = max(high - stride, 0)
        elif high == places:
            place = min(low + stride, places - 1)
        else:
            place = (low + high) // 2
        stride *= 2
    return high if high < places else None


def _judged(runner: Runner, case: TrialCase, goal: float, trials: int) -> Forecast:
    """The forecast of a case: with few trials if they leave no doubt about the goal."""
    runner.expect(trials)
    [first] = forecasts(runner, [case], min(FIRST_TRIALS, trials))
    if abs(first.error - goal) > CLEARLY * first.standard_error:
        runner.expect(first.trials - trials)
        return first
    [forecast] = forecasts(runner, [case], trials)
    return forecast
