"""Weights of answers, and their sensitivity to one answer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.errors import UsageError
from sottovoce.model import FloatArray
from sottovoce.model.sum_rounds import Integers
from sottovoce.securesum.em.weights import (
    GRID,
    MOST_SCALE,
    MOST_TASKS,
    agreement,
    answer_moves,
    weights,
    worker_moves,
)

NONE = -1


def sent(posterior: FloatArray, answers: Integers, scale: int) -> Integers:
    """A worker's weighted votes: `answers[task]` is a label, or NONE."""
    tasks, labels = posterior.shape
    task = np.flatnonzero(answers != NONE)
    own = answers[task]
    agreed = np.array([agreement(posterior, task, own)])
    [weight] = weights(agreed, np.array([len(task)]), labels, scale)
    if labels == 2:
        votes = np.zeros(tasks, np.int64)
        votes[task] = weight * (2 * own - 1)
        return votes
    votes = np.zeros((tasks, labels), np.int64)
    votes[task, own] = weight
    return votes.reshape(-1)


@st.composite
def neighbours(draw: st.DrawFn) -> tuple[FloatArray, Integers, Integers]:
    """Posteriors of a server that may lie, and answers that differ in one of them."""
    tasks, labels = draw(st.integers(1, 40)), draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    extreme = rng.random((tasks, labels)) < draw(st.floats(0, 1))
    posterior = np.where(rng.random((tasks, labels)) < 0.5, extreme, rng.random((tasks, labels)))
    answers = rng.integers(NONE, labels, tasks)
    other = answers.copy()
    place = draw(st.integers(0, tasks - 1))
    other[place] = draw(st.integers(NONE, labels - 1))
    return posterior, answers, other


@given(neighbours(), st.sampled_from([1, 7, 64, 1000]))
def test_one_answer_moves_no_more_than_is_said(
    case: tuple[FloatArray, Integers, Integers], scale: int
) -> None:
    posterior, answers, other = case
    move = sent(posterior, answers, scale) - sent(posterior, other, scale)
    bound = answer_moves(posterior.shape[1], len(posterior), scale)
    assert np.abs(move).sum() <= bound.absolute
    assert np.square(move).sum() <= bound.squared


@given(neighbours(), st.integers(0, 2**32))
def test_all_answers_move_no_more_than_is_said(
    case: tuple[FloatArray, Integers, Integers], seed: int
) -> None:
    posterior, answers, _ = case
    labels = posterior.shape[1]
    other = np.random.default_rng(seed).permutation(answers)
    most = max(int(np.sum(answers != NONE)), 1)
    move = sent(posterior, answers, 64) - sent(posterior, other, 64)
    bound = worker_moves(most, labels, 64)
    assert np.abs(move).sum() <= bound.absolute
    assert np.square(move).sum() <= bound.squared


@pytest.mark.parametrize("labels", [2, 3])
def test_the_bound_is_nearly_reached(labels: int) -> None:
    """An answer that turns a confident worker into a lesser one moves all the rest."""
    tasks, scale = 41, 10_000
    found = []
    for right in range(tasks):
        posterior = np.zeros((tasks, labels))
        posterior[: right + 1, 0] = 1.0
        before, after = np.zeros(tasks, np.int64), np.zeros(tasks, np.int64)
        after[0] = 1
        move = sent(posterior, before, scale) - sent(posterior, after, scale)
        found.append(int(np.square(move).sum()))
    assert max(found) >= 0.8 * answer_moves(labels, tasks, scale).squared


def test_weights_run_from_against_to_for() -> None:
    agreed = np.array([0, 10, 20, 30, 40]) * GRID
    assert weights(agreed, np.full(5, 40), 2, 100).tolist() == [-100, -80, 0, 80, 100]


def test_who_guesses_among_more_labels_weighs_nothing() -> None:
    assert weights(np.array([10 * GRID]), np.array([40]), 4, 1000).tolist() == [0]


def test_who_answered_nothing_weighs_nothing() -> None:
    assert weights(np.array([0]), np.array([0]), 2, 1000).tolist() == [0]


def test_the_largest_numbers_do_not_overflow() -> None:
    agreed, answers = np.array([MOST_TASKS * GRID, 0]), np.full(2, MOST_TASKS)
    assert weights(agreed, answers, 256, MOST_SCALE)[0] == MOST_SCALE
    assert -MOST_SCALE <= weights(agreed, answers, 256, MOST_SCALE)[1] < 0


def test_posteriors_that_are_none_count_from_0_to_1() -> None:
    posterior = np.array([[-5.0, 9.0], [np.nan, np.inf]])
    assert agreement(posterior, np.array([0, 1]), np.array([1, 0])) == GRID


def test_rounding_is_in_the_bound() -> None:
    """With one step to a weight, rounding alone may move each of 99 other tasks."""
    assert answer_moves(2, 100, 1).absolute == 2 + 99


def test_too_many_tasks_are_refused() -> None:
    with pytest.raises(UsageError, match="up to 131,072 tasks"):
        answer_moves(2, MOST_TASKS + 1, 10)


def test_too_fine_steps_are_refused() -> None:
    with pytest.raises(UsageError, match="1,048,576 steps"):
        weights(np.array([0]), np.array([1]), 2, MOST_SCALE + 1)
