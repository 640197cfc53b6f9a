"""Plans: the recommendation at each guarantee, its forecast, and the requirements of a goal."""

from __future__ import annotations

import json
import math

import pytest

from sottovoce import Plan, Scenario, plan
from sottovoce.errors import UsageError
from sottovoce.model import Domain, Unit
from sottovoce.planning.plan import total_epsilon
from sottovoce.planning.trial_runner import TrialCase

LABELS = Scenario(Domain.categorical("ab"), 100, 100, 10)
NUMBERS = Scenario(Domain.numeric(0, 10), 100, 100, 10)


@pytest.fixture(autouse=True)
def _law(monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors fall with epsilon and with answers per task, as in tests of the search."""

    def error(case: TrialCase, seed: int, trial: int) -> float:
        if case.target is None:
            return 0.05
        strength = case.target.epsilon * case.scenario.answers_per_task / 20
        return 0.5 * math.exp(-strength) + 0.001 * (trial % 2)

    monkeypatch.setattr(TrialCase, "error", error)


def made(scenario: Scenario = LABELS, **options: object) -> Plan:
    return plan(scenario, [2.0, 0.5], cache=False, **options)  # type: ignore[arg-type]


def test_there_is_a_recommendation_for_each_epsilon_in_order() -> None:
    found = made()
    assert [target.epsilon for target in found.targets] == [0.5, 2.0]
    assert len(found.recommendations) == 2
    assert found.recommendations[1].forecast.error < found.recommendations[0].forecast.error
    assert found.clean.error == pytest.approx(0.05)
    assert 0.3 < found.constant < 0.5
    assert found.needed == ()


def test_a_goal_is_an_accuracy_for_labels() -> None:
    found = made(goal=0.9)
    assert found.goal == pytest.approx(0.1)
    epsilon, *workers = found.needed
    assert epsilon.question == "epsilon"
    assert epsilon.value == pytest.approx(2 * math.log(5), rel=0.3)
    assert [one.question for one in workers] == ["workers", "workers"]
    assert workers[0].value == pytest.approx(400 * math.log(5), rel=0.2)


def test_a_goal_is_an_error_for_numbers() -> None:
    assert made(NUMBERS, goal=0.2).goal == 0.2


def test_everything_that_was_assumed_is_said() -> None:
    notes = "\n".join(made(unit=Unit.WORKER).notes())
    for words in (
        "simulated: 20 campaigns", "per worker for a worker's 10 reports", "right 60 to 85 %",
        "between tasks", "10 answers on average",
    ):  # fmt: skip
        assert words in notes


def test_a_plan_knows_what_devices_afford() -> None:
    """100 tasks at epsilon 2 cost 200, and a device stops at 50: after 25 tasks."""
    scenario = Scenario(Domain.categorical("ab"), 100, 30, 100)
    found = plan(scenario, [0.5, 2.0], goal=0.9, ways="local", cache=False)
    all_answered, cut = found.recommendations
    assert all_answered.devices is not None
    assert cut.devices is not None
    assert (all_answered.devices.answered, cut.devices.answered) == (100, 25)
    assert cut.forecast.error == pytest.approx(0.5 * math.exp(-2 * 7.5 / 20), abs=0.002)
    assert any("stops after 25 of its 100 tasks" in note for note in found.notes())
    assert [one.each for one in found.needed] == [100, 100, 25]
    assert [total_epsilon(one) for one in found.recommendations] == pytest.approx([50, 50])


def test_a_plan_that_devices_refuse_is_refused() -> None:
    """Sealed answers are sent together, or not at all."""
    scenario = Scenario(Domain.categorical("ab"), 100, 30, 100)
    with pytest.raises(UsageError, match="devices refuse this campaign"):
        plan(scenario, [2.0], ways="sealed", cache=False)
    assert plan(scenario, [2.0], ways="sealed", budget=None, cache=False).recommendations


def test_notes_name_an_epsilon_that_teaches_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not any("best constant" in note for note in made().notes() if "2" in note[:14])
    monkeypatch.setattr(TrialCase, "error", lambda *_: 0.6)
    assert sum("no better than the best constant" in note for note in made().notes()) == 2


def test_a_plan_is_plain_json_with_scores_as_people_read_them() -> None:
    content = json.loads(json.dumps(made(goal=0.9).as_dict(), allow_nan=False))
    first = content["plans"][0]
    assert (content["score"], content["unit"], content["simulated"]) == ("accuracy", "answer", True)
    assert first["low"] <= first["mean"] <= first["high"]
    assert first["mechanism"] == "randomized-response"
    assert first["tried"][0]["trials"] == 20
    assert content["clean"]["mean"] == pytest.approx(0.95)
    assert content["needed"][0]["reached"] is True


def test_jobs_and_seeds_are_checked_before_the_work() -> None:
    with pytest.raises(UsageError, match="jobs"):
        made(jobs=0)


@pytest.mark.parametrize(
    ("scenario", "goal"), [(LABELS, 0.0), (LABELS, 1.0), (NUMBERS, 0.0), (NUMBERS, 11.0)]
)
def test_what_is_no_goal_is_refused(scenario: Scenario, goal: float) -> None:
    with pytest.raises(UsageError, match="target"):
        made(scenario, goal=goal)


def test_no_epsilon_is_no_plan() -> None:
    with pytest.raises(UsageError, match="needs at least one epsilon"):
        plan(LABELS, [])
