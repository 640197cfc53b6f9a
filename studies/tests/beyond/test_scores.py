"""Tests of scores: ties at random, calibration error, log loss and interval score."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.errors import UsageError
from sottovoce_studies.beyond.scores import (
    calibration_error,
    chances,
    interval_score,
    log_loss,
    reliability,
    rightness,
    smoothed_shares,
)


def test_calibration_error_is_the_mean_distance_over_bins_of_equal_mass() -> None:
    confidence = np.repeat([0.6, 0.9], 10)
    right = np.array([1.0] * 5 + [0.0] * 5 + [1.0] * 10)
    found = reliability(confidence, right, bins=2)
    assert found.error == pytest.approx((0.1 + 0.1) / 2)
    assert found.right.tolist() == [0.5, 1.0]


def test_bins_need_truths() -> None:
    with pytest.raises(UsageError, match="15 bins need as many truths, not 3"):
        reliability(np.ones(3), np.ones(3))


@pytest.mark.parametrize("tasks", [100, 1000])
def test_a_calibrated_method_has_no_excess_at_any_size(tasks: int) -> None:
    rng = np.random.default_rng(1)
    excesses = []
    for _ in range(100):
        confidence = rng.uniform(0.5, 1.0, tasks)
        right = (rng.random(tasks) < confidence).astype(np.float64)
        excesses.append(calibration_error(confidence, right, rng).excess)
    assert abs(np.mean(excesses)) < 0.01


def test_the_excess_of_an_overconfident_method_is_what_it_overstates() -> None:
    rng = np.random.default_rng(2)
    right = (rng.random(5000) < 0.7).astype(np.float64)
    found = calibration_error(np.full(5000, 0.9), right, rng)
    assert found.excess == pytest.approx(0.2, abs=0.03)


@given(st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=20))
def test_only_the_highest_scores_share_the_chance(rows: list[list[int]]) -> None:
    scores = np.array(rows, np.float64)
    found = chances(scores)
    assert found.sum(axis=1) == pytest.approx(1.0)
    for row, seen in zip(rows, found.tolist(), strict=True):
        assert seen == pytest.approx([(x == max(row)) / row.count(max(row)) for x in row])


def test_a_task_without_scores_is_guessed() -> None:
    unknown = np.array([[np.nan, np.nan], [1.0, 0.0]])
    assert rightness(unknown, np.array([1, 0])).tolist() == [0.5, 1.0]


def test_a_truth_outside_the_domain_is_never_right_and_has_no_log_loss() -> None:
    posterior = np.array([[0.5, 0.5], [0.25, 0.75]])
    assert rightness(posterior, np.array([2, 1])).tolist() == [0.0, 1.0]
    assert log_loss(posterior, np.array([2, 1])) == pytest.approx(-np.log(0.75))


def test_unanimous_votes_against_the_truth_have_a_finite_log_loss() -> None:
    shares = smoothed_shares(np.array([[3.0, 0.0]]))
    assert shares.tolist() == [[3.5 / 4, 0.5 / 4]]
    assert log_loss(shares, np.array([1])) == pytest.approx(np.log(8))


@given(st.floats(-5, 5), st.floats(0, 5), st.floats(-10, 10))
def test_an_interval_scores_its_width_and_forty_times_the_distance(
    low: float, width: float, truth: float
) -> None:
    [found] = interval_score(np.array([low]), np.array([low + width]), np.array([truth]))
    distance = max(low - truth, truth - (low + width), 0.0)
    assert found == pytest.approx(width + 40 * distance)
