"""Responding checks everything, books the spend, and only then reports."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce.datasets.seeded_randomness import SeededRandomness
from sottovoce.errors import AlreadyReported, BudgetExceeded, DataError, UsageError
from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.model import Calibration, Domain, Policy, Promise, Submission, Unit, Words
from sottovoce.worker import (
    Answer,
    Budget,
    Ledger,
    SystemRandomness,
    preview,
    respond,
)

YES_NO = Domain.categorical(["no", "yes"])
COIN = make_policy(YES_NO, "randomized-response", Target(1.0, answers=100))
HIDING = make_policy(
    YES_NO, "null-randomized-response", Target(1.0, answers=100, hide_participation=True)
)
TWO_LAYER = make_policy(YES_NO, "two-layer", Target(1.0, answers=10))
SAMPLED = make_policy(YES_NO, "randomized-response", Target(4.0, unit=Unit.WORKER, answers=60))
PUBLISHED = make_policy(YES_NO, "two-layer", Target(1.0), calibration=Calibration.AS_PUBLISHED)
GRID = make_policy(Domain.numeric(0, 10, 0.5), "laplace", Target(2.0, answers=100))


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.jsonl", Budget(worker_epsilon=300))


def answers(*values: Any, start: int = 0) -> list[Answer]:
    return [Answer(f"t{start + i:03}", value) for i, value in enumerate(values)]


def send(
    given: list[Answer], policy: Policy, ledger: Ledger, randomness: Any = None, **more: Any
) -> Submission:
    return respond(
        given,
        policy,
        ledger,
        randomness or SystemRandomness(),
        **{"requester": "museum", "worker": "ada", **more},
    )


def test_a_submission_has_a_report_for_every_answer(ledger: Ledger) -> None:
    submission = send(answers("yes", "no", "yes"), COIN, ledger)
    assert submission.policy_hash == COIN.hash
    assert submission.tasks == ("t000", "t001", "t002")
    assert set(submission.reports) <= {"no", "yes"}


def test_the_spend_is_booked(ledger: Ledger) -> None:
    send(answers("yes", "no", "yes"), COIN, ledger)
    (entry,) = ledger.entries()
    assert (entry.requester, entry.policy, entry.mechanism, entry.answers) == (
        "museum",
        COIN.hash,
        "randomized-response",
        3,
    )
    assert entry.spent == {
        unit: (held.epsilon, held.delta) for unit, held in preview(COIN, 3).items()
    }


@pytest.mark.statistical
def test_reports_follow_the_mechanism(tmp_path: Path) -> None:
    policy = make_policy(YES_NO, "randomized-response", Target(1.0, answers=40_000))
    ledger = Ledger(tmp_path / "ledger.jsonl", Budget(answer_epsilon=2))
    given = [Answer(f"t{i:05}", "yes") for i in range(40_000)]
    kept = np.mean([report == "yes" for report in send(given, policy, ledger).reports])
    assert kept == pytest.approx(np.e / (1 + np.e), abs=0.0134)  # 6 sigma


def test_the_order_of_answering_does_not_leave_the_device(ledger: Ledger) -> None:
    submission = send([Answer("b", "yes"), Answer("c", "no"), Answer("a", "no")], COIN, ledger)
    assert submission.tasks == ("a", "b", "c")


def test_an_answer_is_matched_with_its_own_task(tmp_path: Path) -> None:
    # At epsilon 40 a report is the answer, but for one in 10^17.
    policy = make_policy(YES_NO, "randomized-response", Target(40.0, answers=3))
    ledger = Ledger(tmp_path / "ledger.jsonl", Budget(answer_epsilon=50))
    submission = send([Answer("b", "yes"), Answer("c", "no"), Answer("a", "no")], policy, ledger)
    assert submission.reports == ("no", "yes", "no")


def test_numbers_are_reported_on_the_grid(ledger: Ledger) -> None:
    submission = send(answers(3.5, 10, 0), GRID, ledger)
    assert all(isinstance(r, float) and (2 * r).is_integer() for r in submission.reports)
    assert json.loads(submission.text())["reports"] == list(submission.reports)


def test_hidden_participation_reports_on_every_task(ledger: Ledger) -> None:
    submission = send(
        [Answer("c", "yes"), Answer("b", None)], HIDING, ledger, tasks=["d", "c", "b", "a"]
    )
    assert submission.tasks == ("a", "b", "c", "d")
    assert set(submission.reports) <= {"no", "yes", "NULL"}
    assert ledger.entries()[0].answers == 4


def test_a_worker_who_answers_nothing_may_say_so_in_private(ledger: Ledger) -> None:
    assert len(send([], HIDING, ledger, tasks=["a", "b"])) == 2


def test_more_answers_under_one_policy_cost_only_the_difference(ledger: Ledger) -> None:
    send(answers("yes", "no"), COIN, ledger)
    send(answers("yes", start=2), COIN, ledger)
    held = preview(COIN, 3)
    assert ledger.spent(Unit.WORKER).epsilon == held[Unit.WORKER].epsilon
    assert ledger.spent(Unit.ANSWER).epsilon == held[Unit.ANSWER].epsilon


def test_a_task_is_not_reported_twice(ledger: Ledger) -> None:
    send(answers("yes"), COIN, ledger)
    with pytest.raises(AlreadyReported, match="task 't000'"):
        send(answers("yes"), COIN, ledger)


@pytest.mark.parametrize("policy", [TWO_LAYER, SAMPLED], ids=["private draw", "sample"])
def test_what_is_drawn_once_is_submitted_once(policy: Policy, ledger: Ledger) -> None:
    send(answers("yes"), policy, ledger)
    with pytest.raises(AlreadyReported, match="in one submission"):
        send(answers("no", start=5), policy, ledger)


def test_a_dense_submission_is_the_only_one(ledger: Ledger) -> None:
    send([], HIDING, ledger, tasks=["a"])
    with pytest.raises(AlreadyReported, match="in one submission"):
        send([], HIDING, ledger, tasks=["b"])


def test_a_sample_sends_some_reports_and_spends_for_all_answers(ledger: Ledger) -> None:
    submission = send(answers(*["yes"] * 60), SAMPLED, ledger)
    assert 1 <= len(submission) < 60
    assert ledger.entries()[0].answers == 60
    assert ledger.spent(Unit.WORKER).epsilon == pytest.approx(4, abs=1e-5)


def test_a_policy_as_published_needs_a_word(ledger: Ledger) -> None:
    with pytest.raises(UsageError, match="as published and promises nothing"):
        send(answers("yes"), PUBLISHED, ledger)
    assert len(ledger) == 0
    send(answers("yes"), PUBLISHED, ledger, allow_unsound=True)
    assert ledger.spent(Unit.ANSWER).epsilon == preview(PUBLISHED, 1)[Unit.ANSWER].epsilon


def test_a_guarantee_without_bound_is_never_spent(ledger: Ledger) -> None:
    gaussian = make_policy(
        Domain.numeric(0, 10),
        "random-variance-gaussian",
        Target(1.0, delta=0.1),
        calibration=Calibration.AS_PUBLISHED,
    )
    with pytest.raises(UsageError, match="the policy promises nothing per answer for 2 answers"):
        send(answers(3, 4), gaussian, ledger, allow_unsound=True)
    assert len(ledger) == 0


def test_a_delta_is_spent_as_the_policy_promises_it(tmp_path: Path) -> None:
    budget = Budget(worker_epsilon=30, worker_delta=1e-5, answer_epsilon=5, answer_delta=1e-5)
    ledger = Ledger(tmp_path / "ledger.jsonl", budget)
    target = Target(10.0, unit=Unit.WORKER, delta=1e-6, answers=60, sample=60)
    policy = make_policy(YES_NO, "randomized-response", target)
    send(answers(*["yes"] * 60), policy, ledger)
    assert ledger.spent(Unit.WORKER).epsilon == pytest.approx(10, abs=1e-6)
    assert [ledger.spent(unit).delta for unit in Unit] == [1e-6, 1e-6]


def test_a_policy_that_breaks_its_promise_is_refused(ledger: Ledger) -> None:
    lying = Policy(YES_NO, COIN.mechanism, Calibration.SOUND, Promise(Unit.ANSWER, 0.5, 0.0, 100))
    with pytest.raises(UsageError, match=r"promises epsilon 0\.5 per answer"):
        send(answers("yes"), lying, ledger)
    assert len(ledger) == 0


def test_a_promise_that_holds_for_many_answers_only_is_refused_for_few(ledger: Ledger) -> None:
    # Of 100 answers one is sent, and delta is a hundredth of the inner one; of one answer all are.
    inner = {"name": "sampled", "answers": 1}
    strong = make_policy(YES_NO, "randomized-response", Target(1.0, delta=0.1)).mechanism
    promise = Promise(Unit.ANSWER, 1.0, 0.01, 100)
    policy = Policy(YES_NO, {**inner, "of": dict(strong)}, Calibration.SOUND, promise)
    with pytest.raises(UsageError, match="mechanism only keeps"):
        send(answers("yes"), policy, ledger)
    assert len(ledger) == 0


def test_what_cannot_be_afforded_is_not_reported(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl", Budget(worker_epsilon=2.5))
    with pytest.raises(BudgetExceeded, match="worker 'ada' asked to spend epsilon 3 per worker"):
        send(answers("yes", "no", "yes"), COIN, ledger)
    assert len(ledger) == 0


def test_more_answers_than_promised_for_are_refused(ledger: Ledger) -> None:
    with pytest.raises(UsageError, match="up to 100 answers, not for 101"):
        send(answers(*["yes"] * 101), COIN, ledger)


class Subclass(SystemRandomness):
    """Could do anything."""


class Lookalike:
    simulated = False

    def words(self, count: int) -> Words:
        return np.zeros(count, np.uint64)


@pytest.mark.parametrize(
    "randomness",
    [SeededRandomness(1), Subclass(), Lookalike(), SystemRandomness, os],
    ids=["a seed", "a subclass", "a lookalike", "a class", "a module"],
)
def test_only_the_systems_randomness_makes_reports(randomness: Any, ledger: Ledger) -> None:
    with pytest.raises(UsageError, match="seeds are for simulations"):
        send(answers("yes"), COIN, ledger, randomness)
    assert len(ledger) == 0


@pytest.mark.parametrize(
    ("given", "policy", "more", "error", "words"),
    [
        ([], COIN, {}, UsageError, "nothing to report"),
        (["yes"], COIN, {}, UsageError, "a sequence of Answer"),
        (answers("maybe"), COIN, {}, DataError, "answer 1 is not one of the labels"),
        (answers(11), GRID, {}, DataError, r"outside the range 0\.\.10"),
        (answers("many"), GRID, {}, DataError, "not a number"),
        (answers(10**400), GRID, {}, DataError, "too large a number"),
        (answers("yes", None), COIN, {}, DataError, "task 't001' is skipped"),
        (answers("yes") * 2, COIN, {}, UsageError, "task 't000' is answered twice"),
        (answers("yes"), HIDING, {}, UsageError, "pass all tasks of the worker"),
        ([], HIDING, {"tasks": []}, UsageError, "nothing to report"),
        (answers("yes"), HIDING, {"tasks": ["a"]}, UsageError, "'t000' is not one of your tasks"),
        (answers("yes"), COIN, {"tasks": ["a"]}, UsageError, "'t000' is not one of your tasks"),
        ([], HIDING, {"tasks": ["a", "a"]}, UsageError, "'a' is listed twice"),
        ([], HIDING, {"tasks": "ab"}, UsageError, "a sequence of names"),
        ([], HIDING, {"tasks": [""]}, UsageError, "non-empty"),
        (answers("yes"), COIN, {"requester": ""}, UsageError, "requester must be a non-empty text"),
        (answers("yes"), COIN, {"worker": 3}, UsageError, "worker must be a non-empty text"),
        (answers("yes"), COIN.text(), {}, UsageError, "needs a Policy and a Ledger"),
    ],
)
def test_a_bad_request_spends_nothing(
    given: Any, policy: Any, more: dict[str, Any], error: Any, words: str, ledger: Ledger
) -> None:
    with pytest.raises(error, match=words):
        send(given, policy, ledger, **more)
    assert len(ledger) == 0


def test_a_preview_spends_nothing_and_has_both_units() -> None:
    held = preview(COIN, 5)
    assert held[Unit.ANSWER].epsilon == pytest.approx(1, abs=1e-6)
    assert held[Unit.WORKER].epsilon == pytest.approx(5, abs=1e-5)


@pytest.mark.parametrize("answers", ["3", 1.5, True, None, 0])
def test_a_preview_is_of_a_number_of_answers(answers: Any) -> None:
    with pytest.raises(UsageError, match="answers must be"):
        preview(COIN, answers)
