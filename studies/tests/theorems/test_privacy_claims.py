"""The privacy theorems of the papers, against exact losses."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from sottovoce.errors import UsageError
from sottovoce_studies.theorems import (
    published_equal_layers,
    published_factorization_privacy,
    published_laplace_privacy,
    published_null_privacy,
    published_one_layer,
    published_two_layers,
    published_variance_privacy,
)


def greatest_loss(flip: float, labels: int, answers: int, changed: int) -> float:
    """The greatest log ratio over all reports, when this many answers change."""
    first, other = (0,) * answers, (1,) * changed + (0,) * (answers - changed)

    def chance(reports: tuple[int, ...], truth: tuple[int, ...]) -> float:
        return math.prod(
            1 - flip if report == answer else flip / (labels - 1)
            for report, answer in zip(reports, truth, strict=True)
        )

    every = itertools.product(range(labels), repeat=answers)
    return max(abs(math.log(chance(r, first) / chance(r, other))) for r in every)


@pytest.mark.parametrize(("unit", "changed"), [("answer", 1), ("worker", 3)])
@pytest.mark.parametrize("flip", [0.2, 0.8])
def test_one_layer_loses_what_all_reports_together_reveal(
    unit: str, changed: int, flip: float
) -> None:
    claim = published_one_layer(flip, 3, 3, unit)  # type: ignore[arg-type]
    assert claim.sound == pytest.approx(greatest_loss(flip, 3, 3, changed))


def test_one_layer_holds_per_answer_and_not_per_worker() -> None:
    assert published_one_layer(0.3, 2, 50, "answer").holds
    assert not published_one_layer(0.3, 2, 50, "worker").holds


def test_a_printed_epsilon_may_be_negative() -> None:
    claim = published_one_layer(0.9, 2, 1, "answer")
    assert not claim.holds
    assert claim.value == pytest.approx(-math.log(9))
    assert claim.sound == pytest.approx(math.log(9))


@pytest.mark.parametrize(
    ("low", "high", "labels", "answers", "per_answer", "per_worker"),
    [
        (0, 0.538, 2, 1, 0.99970, 0.99970),
        (0, 0.538, 2, 5, 1.6805, 3.7096),
        (0, 0.538, 2, 14, 2.6392, 9.3070),
        (0.1, 0.6, 4, 1, 1.71765, 1.71765),
        (0.1, 0.6, 4, 10, 2.60361, 15.4461),
        (0.2, 0.9, 3, 7, 1.54045, 4.76523),
        (0, 1, 2, 10, math.log(10), math.log(252)),
    ],
)
def test_two_layers_lose_the_exact_joint_loss(
    low: float, high: float, labels: int, answers: int, per_answer: float, per_worker: float
) -> None:
    for unit, true in (("answer", per_answer), ("worker", per_worker)):
        claim = published_two_layers(low, high, labels, answers, unit)  # type: ignore[arg-type]
        assert claim.sound == pytest.approx(true, abs=6e-5)
        assert claim.holds == (answers == 1)


def test_two_layers_are_as_private_as_one_for_a_single_answer_only() -> None:
    assert published_equal_layers(0, 0.538, 2, 1, "answer").holds
    more = published_equal_layers(0, 0.538, 2, 14, "answer")
    assert not more.holds
    assert more.value < more.sound


def test_two_layers_can_lose_less_per_worker_than_one() -> None:
    claim = published_equal_layers(0, 0.538, 2, 100, "worker")
    assert claim.sound < claim.value
    assert not claim.holds


def test_random_variance_holds_per_answer_for_any_number_and_not_per_worker() -> None:
    for answers in (1, 2, 10, 100_000):
        assert published_variance_privacy(1.0, 0.1, answers, "answer").holds
    claim = published_variance_privacy(1.0, 0.1, 10, "worker")
    assert claim.sound == pytest.approx(0.4576, abs=5e-5)
    assert not claim.holds


def test_laplace_noise_by_the_number_of_values_hides_a_wide_range_badly() -> None:
    assert published_laplace_privacy(range(10), 2.0).sound == pytest.approx(1.8)
    wide = published_laplace_privacy([0, 100], 1.0)
    assert (wide.sound, wide.holds) == (50.0, False)


def test_the_laplace_loss_is_the_log_ratio_of_two_densities() -> None:
    values, epsilon = [0.0, 3.0, 7.0], 1.5
    scale = len(values) / epsilon
    reports = np.linspace(-20, 20, 401)
    ratio = (np.abs(reports - values[-1]) - np.abs(reports - values[0])) / scale
    assert published_laplace_privacy(values, epsilon).sound == pytest.approx(ratio.max())


def test_randomised_response_with_null_holds() -> None:
    assert published_null_privacy(range(5), 3.0).holds


def test_factorisation_is_private_between_values_but_not_against_null() -> None:
    assert published_factorization_privacy(range(10), 1.0, null=False).holds
    against = published_factorization_privacy(range(10), 1.0, null=True)
    assert (against.sound, against.holds) == (math.inf, False)


def test_parameters_outside_of_a_theorem_are_refused() -> None:
    with pytest.raises(UsageError, match="labels must be at least 2"):
        published_one_layer(0.3, 1, 1, "answer")
    with pytest.raises(UsageError, match="mean flip probability"):
        published_two_layers(0, 0, 2, 1, "answer")
    with pytest.raises(UsageError, match="0 <= low <= high <= 1"):
        published_two_layers(0.5, 0.4, 2, 1, "answer")
    with pytest.raises(UsageError, match="increase strictly"):
        published_laplace_privacy([1, 1], 1.0)
    with pytest.raises(UsageError, match="answers must be at least 1"):
        published_variance_privacy(1.0, 0.1, 0, "answer")
