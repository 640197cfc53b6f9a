"""Forecasts: simulated in one process of its own, each question once."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from sottovoce.errors import Reason, Refused
from sottovoce.mechanisms.policies import Target
from sottovoce.model import Domain, Unit
from sottovoce.planning.scenario import Scenario
from sottovoce.server.campaigns.forecast_simulation import (
    LEAST_TASKS,
    MOST_LABELS,
    bounded,
    outlook,
)
from sottovoce.server.campaigns.forecasts import MOST_WAITING, Forecaster, Outlook, Question
from sottovoce.server.campaigns.guarantees import calibrated_policy
from sottovoce.server.child_process import ChildEnded, ChildProcess

YES_NO = Domain.categorical(["no", "yes"])
SMALL = Question(YES_NO, Target(2.0, answers=5), tasks=10, workers=20)
PATIENCE = 120


@pytest.fixture
def forecaster() -> Iterator[Forecaster]:
    made = Forecaster()
    yield made
    made.close()


class Waiting(ChildProcess):
    """A process that answers when it is let go."""

    def __init__(self) -> None:
        super().__init__("nothing", {})
        self.asked: list[str] = []
        self.busy, self.go = threading.Semaphore(0), threading.Semaphore(0)

    def ask(self, message: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        self.asked.append(message["question"])
        self.busy.release()
        self.go.acquire()
        if self._closed:
            raise ChildEnded
        return {"refused": "no"}, b""

    def stop(self) -> None:
        super().stop()
        self.go.release()


def sized(workers: int) -> Question:
    return Question(YES_NO, Target(2.0, answers=5), tasks=10, workers=workers)


def refusal(future: Any) -> Refused:
    error = future.exception(timeout=PATIENCE)
    assert isinstance(error, Refused)
    return error


def test_a_forecast_is_a_score_with_a_band_between_a_constant_and_clean_answers() -> None:
    found = outlook(Question(YES_NO, Target(1.5, answers=20), tasks=50, workers=50))
    assert found.score == "accuracy"
    assert found.constant < found.expected < found.clean
    assert found.band[0] <= found.expected <= found.band[1]
    assert found.trials == 20


def test_more_privacy_costs_accuracy() -> None:
    scores = [
        outlook(Question(YES_NO, Target(epsilon, answers=20), tasks=50, workers=50)).expected
        for epsilon in (0.5, 1.5, 4.0)
    ]
    assert scores == sorted(scores)


@pytest.mark.slow
def test_the_error_of_numbers_falls_towards_that_of_clean_answers() -> None:
    found = outlook(Question(Domain.numeric(0, 10), Target(4.0, answers=8), tasks=20, workers=30))
    assert found.score == "mean error"
    assert found.constant > found.expected > found.clean > 0


@pytest.mark.parametrize(
    "target",
    [
        pytest.param(Target(2.0, answers=5), id="per answer"),
        pytest.param(
            Target(2.0, answers=5, hide_participation=True), id="hidden", marks=pytest.mark.slow
        ),
        pytest.param(Target(4.0, Unit.WORKER, answers=5), id="per worker"),
    ],
)
def test_a_forecast_has_the_policy_that_a_draft_would_get(target: Target) -> None:
    found = outlook(Question(YES_NO, target, tasks=10, workers=20))
    assert found.policy == calibrated_policy(YES_NO, target)
    assert found.in_browser
    held = found.kept.per_answer if target.unit is Unit.ANSWER else found.kept.per_worker
    assert held.within(target.epsilon)


def test_a_named_mechanism_is_simulated_and_may_need_more_than_a_browser() -> None:
    question = Question(YES_NO, Target(2.0, answers=5), 10, 20, mechanism="two-layer")
    found = outlook(question)
    assert (found.policy.name, found.in_browser) == ("two-layer", False)


def test_a_large_campaign_is_simulated_smaller_and_that_is_said() -> None:
    large = Scenario(YES_NO, 10_000, 5_000, 20)
    smaller = bounded(large)
    assert smaller.cells <= MOST_LABELS
    assert smaller.answers_per_task == pytest.approx(large.answers_per_task, rel=0.05)
    found = outlook(Question(YES_NO, Target(2.0, answers=20), 10_000, 5_000))
    assert any("Simulated with" in note for note in found.notes)


def test_a_crowd_that_is_too_large_is_thinned() -> None:
    smaller = bounded(Scenario(YES_NO, 1_000, 1_000_000, 500))
    assert (smaller.tasks, smaller.cells) == (LEAST_TASKS, MOST_LABELS)


@pytest.mark.slow
def test_that_a_crowd_was_thinned_is_said() -> None:
    found = outlook(Question(YES_NO, Target(2.0, answers=500), 1_000, 1_000_000))
    assert any("more accurate" in note for note in found.notes)


def test_the_process_answers_as_the_simulation_does_and_the_same_again_and_ends_when_closed(
    forecaster: Forecaster,
) -> None:
    before = forecaster.pid
    assert before is None
    first = forecaster.ask(SMALL)
    assert first.result(PATIENCE) == outlook(SMALL)
    assert forecaster.ask(SMALL) is first
    pid = forecaster.pid
    assert pid is not None
    forecaster.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_process_refuses_what_cannot_be_calibrated_and_is_started_again_when_it_dies(
    forecaster: Forecaster,
) -> None:
    impossible = Question(YES_NO, Target(2.0, answers=5), 10, 20, mechanism="piecewise")
    refused = refusal(forecaster.ask(impossible))
    assert (refused.reason, refused.field) == (Reason.MALFORMED, "privacy")
    pid = forecaster.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert refusal(forecaster.ask(sized(21))).reason is Reason.UNAVAILABLE
    assert isinstance(forecaster.ask(sized(21)).result(PATIENCE), Outlook)
    assert forecaster.pid not in (None, pid)


def test_who_asks_the_same_at_once_shares_an_answer() -> None:
    child = Waiting()
    forecaster = Forecaster(child)
    first, second = forecaster.ask(sized(1)), forecaster.ask(sized(1))
    child.go.release()
    refusal(second)
    assert first is second
    assert len(child.asked) == 1
    forecaster.close()


def test_too_many_questions_are_refused() -> None:
    child = Waiting()
    forecaster = Forecaster(child)
    forecaster.ask(sized(1))
    child.busy.acquire()
    for workers in range(2, 2 + MOST_WAITING):
        forecaster.ask(sized(workers))
    with pytest.raises(Refused) as refused:
        forecaster.ask(sized(99))
    assert refused.value.reason is Reason.UNAVAILABLE
    forecaster.close()


def test_waiting_questions_are_refused_when_the_service_stops() -> None:
    child = Waiting()
    forecaster = Forecaster(child)
    asked = [forecaster.ask(sized(workers)) for workers in (1, 2, 3)]
    child.busy.acquire()
    forecaster.close()
    assert [refusal(one).reason for one in asked] == [Reason.UNAVAILABLE] * 3
    with pytest.raises(Refused):
        forecaster.ask(sized(4))
