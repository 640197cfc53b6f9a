"""Choosing between labels that tie."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce
from sottovoce.errors import UsageError
from sottovoce.inference.aggregator import choose

TIED = np.tile([0.3, 0.1, 0.3, 0.3], (30_000, 1))


def test_the_first_of_tied_labels_is_chosen() -> None:
    assert choose(np.array([[0.2, 0.4, 0.4], [0.5, 0.5, 0.0]])).tolist() == [1, 0]


def test_scores_a_billionth_apart_tie() -> None:
    assert choose(np.array([[0.5 - 1e-11, 0.5 + 1e-11]])).tolist() == [0]


def test_scores_a_millionth_apart_do_not_tie() -> None:
    assert choose(np.array([[0.5 - 1e-6, 0.5 + 1e-6]])).tolist() == [1]


def test_many_labels_are_chosen_from_as_few_are() -> None:
    scores = np.random.default_rng(1).random((50, 40))
    assert choose(scores).tolist() == scores.argmax(axis=1).tolist()


@pytest.mark.statistical
def test_random_ties_are_uniform() -> None:
    chosen = choose(TIED, np.random.default_rng(5))
    shares = np.bincount(chosen, minlength=4) / len(chosen)
    assert shares == pytest.approx([1 / 3, 0, 1 / 3, 1 / 3], abs=0.0165)  # 6 sigma


def test_random_ties_change_no_clear_winner() -> None:
    scores = np.tile([0.1, 0.6, 0.3], (100, 1))
    assert (choose(scores, np.random.default_rng(6)) == 1).all()


SPLIT = {
    "worker": ["a", "b"] * 200,
    "task": np.repeat(np.arange(200), 2),
    "answer": ["x", "y"] * 200,
}


def test_random_ties_can_be_had_again() -> None:
    once, again = (
        sottovoce.infer(SPLIT, "majority-vote", ties="random", seed=3).truths for _ in range(2)
    )
    assert once.tobytes() == again.tobytes()


def test_random_ties_choose_both_sides() -> None:
    truths = sottovoce.infer(SPLIT, "majority-vote", ties="random", seed=3).truths
    assert 58 <= truths.sum() <= 142  # 6 sigma


def test_random_ties_without_a_seed_are_refused() -> None:
    with pytest.raises(UsageError, match="random ties need seed="):
        sottovoce.infer(SPLIT, "majority-vote", ties="random")


def test_many_rows_are_chosen_as_few_are() -> None:
    rng = np.random.default_rng(3)
    scores = np.round(rng.normal(size=(120_000, 4)), 1)  # with many ties, some below zero
    at_once = choose(scores)
    piecewise = np.concatenate([choose(part) for part in np.split(scores, 6)])
    np.testing.assert_array_equal(at_once, piecewise)
