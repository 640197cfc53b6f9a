"""The error probability of a weighted vote, and P1's bounds on it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.errors import UsageError
from sottovoce_studies.theorems import (
    error_bound,
    flipped,
    log_odds,
    published_change,
    published_error_bound,
    published_expanded_change,
    published_folded_bound,
    vote_error,
)

FIVE = [0.9] * 5

accuracies = st.lists(st.floats(0.01, 0.99), min_size=1, max_size=9)


@st.composite
def weighted_crowds(draw: st.DrawFn) -> tuple[list[float], list[float]]:
    accuracy = draw(accuracies)
    weight = st.one_of(st.integers(-3, 3).map(float), st.floats(-10, 10))
    return accuracy, [draw(weight) for _ in accuracy]


def enumerated(accuracy: list[float], weights: list[float]) -> tuple[float, float]:
    """P(the sum of weights is below 0) and P(it is 0), pattern by pattern."""
    below, tied = 0.0, 0.0
    for pattern in itertools.product([1, -1], repeat=len(accuracy)):
        total = math.fsum(x * w for x, w in zip(pattern, weights, strict=True))
        chance = math.prod(p if x > 0 else 1 - p for x, p in zip(pattern, accuracy, strict=True))
        below += chance * (total < 0)
        tied += chance * (total == 0)
    return below, tied


def test_five_workers_of_nine_in_ten_err_as_the_binomial_law_says() -> None:
    by_hand = sum(math.comb(5, k) * 0.1**k * 0.9 ** (5 - k) for k in (3, 4, 5))
    assert vote_error(FIVE) == pytest.approx(by_hand, rel=1e-12)
    assert by_hand == pytest.approx(0.00856)


def test_the_published_bound_is_below_the_true_error_and_ours_above() -> None:
    published = published_error_bound(FIVE)
    assert published.value == pytest.approx(0.00385, abs=5e-6)
    assert published.value < vote_error(FIVE) < published.sound
    assert not published.holds


def test_the_fold_makes_the_published_bound_smaller_still() -> None:
    folded = published_folded_bound(FIVE)
    assert folded.value == pytest.approx(4.6e-5, abs=5e-7)
    assert not folded.holds


def test_one_factor_of_the_published_bound_has_its_reference_value() -> None:
    assert published_error_bound([0.9]).value == pytest.approx(0.3290, abs=5e-5)
    assert published_error_bound([0.1]).value == pytest.approx(0.1355, abs=5e-5)


def test_a_published_bound_that_is_weak_enough_is_said_to_hold() -> None:
    weak = published_error_bound([0.6])
    assert weak.value > 1 > weak.sound
    assert weak.holds


def test_a_published_bound_without_end_is_infinite() -> None:
    assert published_error_bound([0.55] * 20_000).value == math.inf


def test_a_weight_of_next_to_nothing_changes_nothing() -> None:
    assert error_bound([0.9, 0.8], [1.0, 5e-324]) == pytest.approx(error_bound([0.9], [1.0]))


def test_weights_of_ones_choice_are_equation_5() -> None:
    claim = published_error_bound([0.9, 0.8], [1.0, 1.0])
    by_hand = math.prod(p / math.e + (1 - p) * math.e for p in (0.9, 0.8))
    assert claim.value == pytest.approx(by_hand)
    assert claim.source == "P1 eq. 5"


@given(accuracies)
def test_the_bound_is_the_product_of_bhattacharyya_coefficients(accuracy: list[float]) -> None:
    product = math.prod(2 * math.sqrt(p * (1 - p)) for p in accuracy)
    assert error_bound(accuracy) == pytest.approx(product, rel=1e-9)
    assert error_bound(accuracy, log_odds(accuracy)) == pytest.approx(product, rel=1e-9)


@given(accuracies)
def test_no_vote_errs_more_often_than_the_bound(accuracy: list[float]) -> None:
    assert vote_error(accuracy) <= error_bound(accuracy) * (1 + 1e-9)


@given(accuracies)
def test_with_fair_ties_half_the_bound_is_enough(accuracy: list[float]) -> None:
    assert vote_error(accuracy) <= error_bound(accuracy) / 2 * (1 + 1e-9)


@given(weighted_crowds())
def test_the_bound_covers_any_weights_even_if_every_tie_is_lost(
    crowd: tuple[list[float], list[float]],
) -> None:
    below, tied = enumerated(*crowd)
    assert below + tied <= error_bound(*crowd) * (1 + 1e-9)


@given(st.lists(st.tuples(st.floats(0.01, 0.99), st.integers(-4, 4)), min_size=1, max_size=8))
def test_the_exact_error_is_that_of_all_patterns(crowd: list[tuple[float, int]]) -> None:
    accuracy, weights = [p for p, _ in crowd], [float(w) for _, w in crowd]
    below, tied = enumerated(accuracy, weights)
    assert vote_error(accuracy, weights) == pytest.approx(below + tied / 2, abs=1e-12)


@given(accuracies, st.floats(-3, 3))
def test_no_weights_err_less_than_log_odds(accuracy: list[float], power: float) -> None:
    other = log_odds(accuracy) + power
    assert vote_error(accuracy) <= vote_error(accuracy, other) + 1e-9


@given(accuracies)
def test_a_worker_who_is_wrong_tells_as_much_as_one_who_is_right(accuracy: list[float]) -> None:
    other = [1 - accuracy[0], *accuracy[1:]]
    assert vote_error(other) == pytest.approx(vote_error(accuracy), abs=1e-9)


def test_a_large_crowd_of_equals_is_counted_exactly() -> None:
    assert vote_error([0.6] * 401) == pytest.approx(
        sum(math.comb(401, k) * 0.4**k * 0.6 ** (401 - k) for k in range(201, 402)), rel=1e-9
    )


def test_a_crowd_of_too_many_different_workers_is_refused() -> None:
    accuracy = np.random.default_rng(1).uniform(0.5, 0.9, 24)
    with pytest.raises(UsageError, match="24 workers have too many different weights"):
        vote_error(accuracy)


def test_flipping_halves_nothing_at_zero_and_all_at_one_half() -> None:
    assert flipped([0.9, 0.2], 0.0).tolist() == [0.9, 0.2]
    assert flipped([0.9, 0.2], 0.5).tolist() == pytest.approx([0.5, 0.5])


def test_each_worker_may_flip_with_a_probability_of_its_own() -> None:
    assert flipped([0.9, 0.9], [0.0, 1.0]).tolist() == pytest.approx([0.9, 0.1])


@given(st.lists(st.floats(0.01, 0.49), min_size=1, max_size=7), st.floats(0.01, 1.0))
def test_equation_10_loses_a_factor_of_2_to_the_n(accuracy: list[float], flip: float) -> None:
    lost = 2 ** len(accuracy)
    whole, expanded = published_change(accuracy, flip), published_expanded_change(accuracy, flip)
    assert whole.value == pytest.approx(lost * expanded.value, rel=1e-9)


def test_equation_10_is_its_printed_terms_for_two_workers() -> None:
    (p, q), f = (0.1, 0.2), 0.3
    first, second = f * (1 - 2 * p), f * (1 - 2 * q)
    printed = first * second + p * second + q * first
    assert published_expanded_change([p, q], f).value == pytest.approx(printed)


def test_equation_9_is_the_same_for_right_and_wrong_workers() -> None:
    assert published_change(FIVE, 0.25).value == pytest.approx(0.6**5 - 0.2**5)
    assert published_change([0.1] * 5, 0.25).value == pytest.approx(0.6**5 - 0.2**5)


def test_equations_9_and_10_understate_the_change_of_the_error() -> None:
    for change in (published_change(FIVE, 0.25), published_expanded_change(FIVE, 0.25)):
        assert (
            change.value < change.sound == pytest.approx(vote_error([0.7] * 5) - vote_error(FIVE))
        )
        assert not change.holds


@pytest.mark.parametrize("accuracy", [[1.0], [0.9, 0.0], [float("nan")], [-0.1]])
def test_an_accuracy_without_finite_odds_is_refused(accuracy: list[float]) -> None:
    with pytest.raises(UsageError, match="accuracy must lie between 0 and 1, not"):
        error_bound(accuracy)


@pytest.mark.parametrize("accuracy", [[], [[0.9]]])
def test_what_is_no_list_of_accuracies_is_refused(accuracy: list[float]) -> None:
    with pytest.raises(UsageError, match="accuracy must be a list of probabilities"):
        vote_error(accuracy)


@pytest.mark.parametrize("weights", [[1.0], [1.0, math.inf]])
def test_weights_that_do_not_fit_are_refused(weights: list[float]) -> None:
    with pytest.raises(UsageError, match="weights must be 2 finite numbers, one per worker"):
        vote_error([0.9, 0.8], weights)


def test_flips_that_are_none_are_refused() -> None:
    with pytest.raises(UsageError, match=r"flip must lie in \[0, 1\], not 1.5"):
        flipped([0.9], 1.5)
    with pytest.raises(UsageError, match="flip must be one number or 2, one per worker"):
        flipped([0.9, 0.8], [0.1, 0.2, 0.3])


def test_a_crowd_without_weights_errs_half_of_the_time_and_has_no_bound() -> None:
    assert vote_error([0.9, 0.8], [0.0, 0.0]) == 0.5
    assert error_bound([0.9, 0.8], [0.0, 0.0]) == 1.0
