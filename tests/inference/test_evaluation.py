"""Scores: how close truths come to gold, and how sure that is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sottovoce.engines import LocalEngine
from sottovoce.errors import DataError
from sottovoce.inference import MajorityVote, Mean, score
from sottovoce.model import Domain, Gold, Reports, Result


def labels_result(values: list[int], tasks: Any, labels: Any = ("no", "yes")) -> Result:
    """One worker answers every task; its answers are the truths."""
    count = len(values)
    domain = Domain.categorical(labels)
    reports = Reports.of([0] * count, range(count), values, domain=domain, tasks=tasks)
    return MajorityVote().fit(LocalEngine(reports))


def numbers_result(values: Any) -> Result:
    count = len(values)
    reports = Reports.of([0] * count, range(count), values, domain=Domain.numeric())
    return Mean().fit(LocalEngine(reports))


def test_accuracy_is_the_share_of_right_truths() -> None:
    gold = Gold(np.array(["a", "b", "c", "d"]), np.array(["yes", "no", "no", "no"]))
    found = score(labels_result([1, 1, 0, 0], ["a", "b", "c", "d"]), gold)
    assert (found.accuracy, found.tasks, found.unanswered) == (0.75, 4, 0)


def test_numbers_have_two_errors() -> None:
    found = score(numbers_result([1.0, 2.0, 3.0]), Gold(np.arange(3), np.array([1.0, 3.0, 0.0])))
    assert found.mae == pytest.approx(4 / 3)
    assert found.rmse == pytest.approx(np.sqrt(10 / 3))
    assert found.accuracy is None


def test_gold_without_an_answer_is_counted_and_left_out() -> None:
    gold = Gold(np.array(["a", "z", "b", "y"]), np.array(["yes", "yes", "no", "no"]))
    found = score(labels_result([1, 1], ["a", "b"]), gold)
    assert (found.accuracy, found.tasks, found.unanswered) == (0.5, 2, 2)


def test_answers_without_gold_are_left_out() -> None:
    found = score(labels_result([1, 1, 0], list("abc")), Gold(np.array(["c"]), np.array(["no"])))
    assert (found.accuracy, found.tasks) == (1.0, 1)


def test_gold_about_other_tasks_is_refused() -> None:
    gold = Gold(np.array(["x"]), np.array(["yes"]))
    with pytest.raises(DataError, match="no gold task has an answer"):
        score(labels_result([1], ["a"]), gold)


@pytest.mark.parametrize("tasks", [[10, 9, 8], ["10", "9", "8"]])
@pytest.mark.parametrize("wanted", [[8, 9, 10], ["8", "9", "10"]])
def test_names_match_whether_they_are_text_or_integers(tasks: Any, wanted: Any) -> None:
    gold = Gold(np.array(wanted), np.array(["no", "yes", "yes"]))
    assert score(labels_result([1, 1, 0], tasks), gold).accuracy == 1.0


@pytest.mark.parametrize("labels", [(0, 1), ("0", "1")])
@pytest.mark.parametrize("truths", [[1, 0], ["1", "0"]])
def test_labels_match_whether_they_are_text_or_integers(labels: Any, truths: Any) -> None:
    gold = Gold(np.array(["a", "b"]), np.array(truths))
    assert score(labels_result([1, 0], ["a", "b"], labels), gold).accuracy == 1.0


def slow_interval(errors: list[float]) -> tuple[float, float]:
    """The 95 % percentile bootstrap, one draw at a time."""
    rng = np.random.default_rng(99)
    means = sorted(
        sum(errors[i] for i in rng.integers(0, len(errors), len(errors)).tolist()) / len(errors)
        for _ in range(2_000)
    )
    return means[49], means[1_949]


def test_the_interval_is_the_bootstraps() -> None:
    rng = np.random.default_rng(7)
    values = rng.normal(size=200)
    found = score(numbers_result(values), Gold(np.arange(200), np.zeros(200)))
    low, high = slow_interval(np.abs(values).tolist())
    width = high - low
    assert found.low == pytest.approx(low, abs=0.1 * width)
    assert found.high == pytest.approx(high, abs=0.1 * width)


def test_the_interval_is_the_same_every_time() -> None:
    result, gold = (
        labels_result([1, 0] * 50, range(100)),
        Gold(np.arange(100), np.array(["yes"] * 100)),
    )
    assert score(result, gold) == score(result, gold)


def test_the_interval_of_very_many_tasks_is_close_to_the_bootstraps() -> None:
    rng = np.random.default_rng(8)
    few = score(numbers_result(rng.normal(size=9_000)), Gold(np.arange(9_000), np.zeros(9_000)))
    many = score(numbers_result(rng.normal(size=90_000)), Gold(np.arange(90_000), np.zeros(90_000)))
    assert (many.high - many.low) * np.sqrt(10) == pytest.approx(few.high - few.low, rel=0.1)


def test_an_interval_of_an_accuracy_stays_within_zero_and_one() -> None:
    count = 30_000
    values = np.ones(count, int)
    values[0] = 0
    result = labels_result(values.tolist(), range(count))
    found = score(result, Gold(np.arange(count), np.array(["yes"] * count)))
    assert 0 <= found.low <= found.high <= 1


def test_a_score_is_ready_for_json() -> None:
    gold = Gold(np.array(["a"]), np.array(["yes"]))
    found = score(labels_result([1], ["a"]), gold).as_dict()
    assert list(found) == ["accuracy", "low", "high", "tasks", "unanswered"]
