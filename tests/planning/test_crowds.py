"""Crowds that a plan assumes."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.errors import UsageError
from sottovoce.model import Domain, FloatArray, Reports
from sottovoce.planning.crowds import LABELS, Design, LabelAbility, NumberAbility

FOUR = Domain.categorical("abcd")
NUMBERS = Domain.numeric(0, 10)


def right(answers: Reports, truths: np.ndarray) -> FloatArray:
    return np.asarray(answers.value == truths[answers.task], np.float64)


def pair_covariance(values: FloatArray, group: np.ndarray) -> float:
    """The mean product of two different values of a group: the variance between groups."""
    count, total = np.bincount(group), np.bincount(group, values)
    products = np.square(total) - np.bincount(group, np.square(values))
    return float(products.sum() / (count * (count - 1)).sum())


@pytest.mark.parametrize("name", LABELS)
def test_answers_of_a_named_crowd_are_as_often_right_as_described(name: str) -> None:
    low, high = LABELS[name].right(4)
    shares = []
    for seed in range(30):
        answers, truths = LabelAbility(name).draw(Design(FOUR, 60, 40, 60), seed)  # type: ignore[arg-type]
        shares.append(right(answers, truths).mean())
    assert low - 0.08 < min(shares) < max(shares) < high + 0.08
    assert np.std(shares) > (high - low) / 6  # campaigns differ, not only answers


def test_tasks_and_workers_of_a_named_crowd_differ() -> None:
    answers, truths = LabelAbility("mixed").draw(Design(FOUR, 400, 400, 200), 4)
    rest = right(answers, truths)
    rest = rest - rest.mean()
    assert pair_covariance(rest, answers.task) > 0.08**2 / 2
    assert pair_covariance(rest, answers.worker) > 0.05**2 / 2


def test_wrong_answers_to_a_task_agree() -> None:
    answers, truths = LabelAbility("mixed").draw(Design(FOUR, 200, 100, 200), 1)
    wrong = answers.value != truths[answers.task]
    votes = np.zeros((200, 4))
    np.add.at(votes, (answers.task[wrong], answers.value[wrong]), 1)
    assert (votes.max(axis=1) / votes.sum(axis=1)).mean() > 0.45  # three equal ones: about .4


def test_answers_to_a_task_share_an_error_of_numbers() -> None:
    answers, truths = NumberAbility("mixed").draw(Design(NUMBERS, 300, 60, 300), 1)
    errors = answers.value - truths[answers.task]
    shared = np.sqrt(pair_covariance(errors - errors.mean(), answers.task)) / 10
    assert 0.02 < shared < 0.09


def test_accuracies_are_resampled_and_errors_are_independent() -> None:
    answers, truths = LabelAbility((0.3, 0.9)).draw(Design(FOUR, 500, 50, 500), 3)
    of_worker = np.bincount(answers.worker, right(answers, truths)) / 500
    assert np.minimum(np.abs(of_worker - 0.3), np.abs(of_worker - 0.9)).max() < 0.13  # 6 sigma


def test_the_first_workers_are_the_same_in_a_larger_crowd() -> None:
    few, many = (LabelAbility().draw(Design(FOUR, 30, size, 30), 7) for size in (10, 50))
    assert (few[1] == many[1]).all()
    near = [np.bincount(each.worker, right(each, truths))[:10] for each, truths in (few, many)]
    assert np.abs(near[0] - near[1]).max() < 18  # of 30, 6 sigma


@pytest.mark.parametrize("given", ["clever", (), (0.5, 1.2), (float("nan"),)])
def test_what_is_no_ability_is_refused(given: object) -> None:
    for kind in (LabelAbility, NumberAbility):
        with pytest.raises(UsageError, match=r"mixed, able, expert|from 0 to 1"):
            kind(given)  # type: ignore[arg-type]


def test_every_assumption_is_said_in_words() -> None:
    assert "right 40 to 77.5 % of the time" in LabelAbility().sentence(FOUR)
    assert "public datasets" in LabelAbility("expert").sentence(FOUR)
    assert "independently" in LabelAbility((0.5,)).sentence(FOUR)
    assert "3 to 8 % together on a task" in NumberAbility().sentence(NUMBERS)
    assert "5 to 10 % of the range each" in NumberAbility("able").sentence(NUMBERS)
