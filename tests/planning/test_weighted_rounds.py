"""Whether weighted rounds reduce the error."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.errors import UsageError
from sottovoce.planning.crowds import LabelAbility
from sottovoce.planning.weighted_rounds import _fewest, weighted_rounds_that_pay

FEW_KNOW = LabelAbility((0.95,) * 2 + (0.5,) * 8)


def test_weighted_rounds_do_not_pay_at_epsilon_1() -> None:
    """Clearly: 10 or more of 100 labels more are wrong, with 1 of 100 as the standard error."""
    mixed = LabelAbility((0.82, 0.86, 0.9, 0.94, 0.46, 0.49, 0.51, 0.54, 0.56, 0.59))
    decision = weighted_rounds_that_pay(20, 159, 20, 1.0, 1e-6, ability=mixed, trials=6)
    assert decision.rounds == 0
    assert min(decision.errors[1:]) > decision.errors[0] + 0.1
    assert "none of them is clearly better" in decision.reason


def test_they_pay_where_few_know_and_epsilon_is_large() -> None:
    decision = weighted_rounds_that_pay(60, 200, 50, 8.0, 1e-6, ability=FEW_KNOW, trials=6)
    assert decision.rounds > 0
    assert decision.errors[decision.rounds] < decision.errors[0] / 3
    assert "weighting pays" in decision.reason


def test_one_count_of_a_session_is_about_that_of_a_sealed_campaign() -> None:
    """With little noise both are the same votes."""
    decision = weighted_rounds_that_pay(30, 100, 15, 20.0, 1e-6, trials=4)
    assert decision.sealed == pytest.approx(decision.errors[0], abs=0.02)


def test_three_labels_are_weighed_too() -> None:
    decision = weighted_rounds_that_pay(
        60, 100, 30, 12.0, 1e-6, labels=3, ability=FEW_KNOW, trials=4
    )
    assert min(decision.errors[1:]) < decision.errors[0]


def test_a_decision_is_the_same_again() -> None:
    first, second = (weighted_rounds_that_pay(20, 60, 10, 4.0, 1e-6, trials=3) for _ in range(2))
    assert first == second


def test_rounds_whose_noise_cannot_be_drawn_are_left_out() -> None:
    decision = weighted_rounds_that_pay(10, 300, 5, 0.01, 0.0, trials=2)
    assert (decision.rounds, len(decision.errors)) == (0, 1)
    assert "too wide to draw" in decision.reason


def test_a_large_session_is_simulated_on_fewer_tasks_with_its_own_noise() -> None:
    """Without a delta, noise for a weighted round of this many tasks cannot be drawn."""
    decision = weighted_rounds_that_pay(50, 20_000, 10, 2.0, 0.0, trials=2)
    assert (decision.rounds, len(decision.errors)) == (0, 1)


@pytest.mark.parametrize(
    ("errors", "rounds"),
    [
        ([[0.2, 0.1, 0.1], [0.3, 0.2, 0.2]], 1),  # the same gain with fewer rounds
        ([[0.2, 0.1, 0.0], [0.3, 0.2, 0.1]], 2),
        ([[0.2, 0.1, 0.3], [0.2, 0.3, 0.3]], 0),  # a gain that chance explains
        ([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]], 0),
    ],
)
def test_the_fewest_rounds_that_are_not_clearly_worse_win(
    errors: list[list[float]], rounds: int
) -> None:
    assert _fewest(np.array(errors)) == rounds


@pytest.mark.parametrize("answers", [0, 21])
def test_more_answers_than_workers_are_refused(answers: int) -> None:
    with pytest.raises(UsageError, match="at most the 20 workers"):
        weighted_rounds_that_pay(20, 50, answers, 1.0, 1e-6)
