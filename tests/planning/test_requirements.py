"""The requirements of a target accuracy."""

from __future__ import annotations

import math

import pytest

from sottovoce.errors import UsageError
from sottovoce.mechanisms.policies import Target
from sottovoce.model import Domain
from sottovoce.planning.pipelines import Pipeline
from sottovoce.planning.requirements import _first, epsilon_needed, workers_needed
from sottovoce.planning.scenario import Scenario
from sottovoce.planning.trial_runner import Runner, TrialCase

PAIR = Pipeline("vote", "randomized-response", "majority-vote")
SCENARIO = Scenario(Domain.categorical("ab"), 100, 100, 10)
TARGET = Target(1.0, answers=10)


@pytest.fixture(autouse=True)
def _law(monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors by a law that can be inverted on paper: 0.5 exp(-ε answers per task / 20)."""

    def error(case: TrialCase, seed: int, trial: int) -> float:
        assert case.target is not None
        strength = case.target.epsilon * case.scenario.answers_per_task / 20
        return 0.5 * math.exp(-strength) + 0.001 * (trial % 2)

    monkeypatch.setattr(TrialCase, "error", error)


def answers_for(goal: float, epsilon: float = 1.0) -> float:
    return 20 * math.log(0.5 / goal) / epsilon


@pytest.mark.parametrize("goal", [0.45, 0.3, 0.1, 0.02])
def test_workers_are_found_to_within_a_step(goal: float) -> None:
    with Runner(cache=False) as runner:
        found = workers_needed(runner, SCENARIO, PAIR, TARGET, goal, 20)
    exact = answers_for(goal - 0.0005) * 10
    assert found.value is not None
    assert exact <= found.value <= 1.2 * exact
    assert found.forecast.error <= goal


@pytest.mark.parametrize("goal", [0.45, 0.3, 0.1])
def test_the_smallest_epsilon_is_found_to_within_a_step(goal: float) -> None:
    with Runner(cache=False) as runner:
        found = epsilon_needed(runner, SCENARIO, PAIR, TARGET, goal, 20)
    exact = answers_for(goal - 0.0005) / 10
    assert found.value is not None
    assert exact <= found.value <= 1.3 * exact


def test_what_cannot_be_reached_is_said_with_the_best_that_was_seen() -> None:
    with Runner(cache=False) as runner:
        found = epsilon_needed(runner, SCENARIO, PAIR, TARGET, 1e-4, 20)
    assert found.value is None
    assert found.at == found.searched[1]
    assert found.forecast.error == pytest.approx(0.5 * math.exp(-found.at / 2), abs=0.001)


def test_no_epsilon_is_searched_at_which_devices_stop_early() -> None:
    """Ten tasks at epsilon 4.7 cost 47 of the default budget of 50; the next step costs more."""
    with Runner(cache=False) as runner:
        limited = epsilon_needed(runner, SCENARIO, PAIR, TARGET, 1e-4, 20)
        free = epsilon_needed(runner, SCENARIO, PAIR, TARGET, 1e-4, 20, None)
    assert 4 < limited.searched[1] <= 5
    assert free.searched[1] == 16
    assert limited.each == 10


def test_a_goal_is_reached_when_two_standard_errors_are_within_it() -> None:
    """At a goal between the mean and the mean with two standard errors it is not."""
    with Runner(cache=False) as runner:
        [errors] = runner.errors([TrialCase(SCENARIO, PAIR, TARGET)], 20)
        mean = sum(errors) / 20
        found = workers_needed(runner, SCENARIO, PAIR, TARGET, mean + 1e-5, 20)
    assert found.value is not None
    assert found.value > SCENARIO.workers


@pytest.mark.parametrize("start", [0, 7, 30, 59])
@pytest.mark.parametrize("edge", [0, 1, 6, 7, 8, 31, 58, 59, 60])
def test_the_search_finds_the_first_place_and_tries_none_twice(start: int, edge: int) -> None:
    tried: list[int] = []

    def reaches(place: int) -> bool:
        tried.append(place)
        return place >= edge

    assert _first(reaches, 60, start) == (edge if edge < 60 else None)
    assert len(set(tried)) == len(tried) <= 12


@pytest.mark.parametrize("goal", [0.0, -1.0, math.inf, math.nan])
def test_what_is_no_error_is_refused(goal: float) -> None:
    with Runner(cache=False) as runner, pytest.raises(UsageError, match="error to reach"):
        workers_needed(runner, SCENARIO, PAIR, TARGET, goal, 20)
