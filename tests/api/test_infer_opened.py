"""Totals of a table, and a worker's own weight."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from sottovoce.api.infer_opened import infer_opened, own_weight, sum_answers
from sottovoce.datasets import SeededRandomness
from sottovoce.errors import UsageError
from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.mechanisms.sealed_sum import Layout
from sottovoce.model import Domain, Unit

LABELS = Domain.categorical(["no", "yes"])
ANSWERS: dict[str, Any] = {
    "worker": ["ann", "bob", "cy", "ann", "bob"],
    "task": ["q1", "q1", "q1", "q2", "q2"],
    "answer": ["yes", "yes", "no", "no", "no"],
}
QUIET = 40.0
"""At this epsilon there is no noise to speak of."""


@pytest.mark.parametrize(("hidden", "totals"), [(False, [[2], [0]]), (True, [[1, 3], [-2, 2]])])
def test_totals_of_two_labels(hidden: bool, totals: list[list[int]]) -> None:
    policy = make_policy(LABELS, "sealed-sum", Target(QUIET, answers=2, hide_participation=hidden))
    opened = sum_answers(ANSWERS, policy, SeededRandomness(1))
    assert opened.totals.tolist() == totals
    assert (opened.answered is None) == hidden
    assert opened.workers == 3
    assert infer_opened(opened).values.tolist() == ["yes", "no"]


def test_totals_of_a_histogram_count_the_bins() -> None:
    policy = make_policy(
        Domain.numeric(0, 9), "sealed-sum", Target(QUIET), layout=Layout.HISTOGRAM, size=3
    )
    answers = {"worker": ["a", "b", "c"], "task": ["q"] * 3, "answer": [0.5, 3.0, 9.0]}
    assert sum_answers(answers, policy, SeededRandomness(1)).totals.tolist() == [[1, 1, 1]]


def test_the_noise_is_as_wide_as_its_law_says() -> None:
    policy = make_policy(LABELS, "sealed-sum", Target(0.5))
    table = {"worker": np.arange(4000), "task": np.arange(4000), "answer": ["no"] * 4000}
    opened = sum_answers(table, policy, SeededRandomness(5))
    assert opened.totals.var() == pytest.approx(opened.variances[0], rel=0.3)  # 6 sigma


def test_more_answers_than_the_promise_holds_for_are_refused() -> None:
    policy = make_policy(LABELS, "sealed-sum", Target(1.0, unit=Unit.WORKER, answers=1))
    with pytest.raises(UsageError, match="2 answers"):
        sum_answers(ANSWERS, policy, SeededRandomness(1))


def test_another_policy_has_no_totals() -> None:
    policy = make_policy(LABELS, "randomized-response", Target(1.0))
    with pytest.raises(UsageError, match="not for sealed answers"):
        sum_answers(ANSWERS, policy, SeededRandomness(1))


def test_a_weight_is_the_log_odds_of_being_right() -> None:
    given = {"a": "yes", "b": "no", "c": "yes", "d": None, "e": "no"}
    found = own_weight(given, {"a": "yes", "b": "no", "c": "no", "d": "no"}, LABELS)
    assert found.agreement == pytest.approx(2 / 3)
    assert found.answers == 3
    assert found.weight == pytest.approx(math.log(3 / 2))


def test_numbers_weigh_by_their_distance_from_the_truths() -> None:
    truths: dict[str, Any] = {"a": 2.0, "b": 8.0, "c": 0.0}
    domain = Domain.numeric(0, 10)
    near = own_weight({"a": 2.5, "b": 8.0, "c": 0}, truths, domain)
    far = own_weight({"a": 7.0, "b": 1.0, "c": 9}, truths, domain)
    assert near.agreement == pytest.approx(1 - 0.5 / 30)
    assert near.weight > 12 > far.weight


def test_answers_without_published_truths_weigh_nothing_and_say_so() -> None:
    with pytest.raises(UsageError, match="no answer is to a task with a published truth"):
        own_weight({"a": "yes"}, {"b": "yes"}, LABELS)
