"""P3's utility and privacy of noise with a random variance."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from sottovoce.errors import UsageError
from sottovoce.model import FloatArray
from sottovoce.privacy.random_variance import delta_limit
from sottovoce_studies.theorems import (
    Published,
    alpha_bound,
    beta_bound,
    mean_distance,
    noise_ceiling,
    noise_floor,
    published_alpha_bound,
    published_beta_bound,
    published_mean_distance,
    published_noise_ceiling,
    published_noise_floor,
    published_range,
    published_tradeoff_floor,
    range_probability,
    variance_of_mean,
)

rates = st.floats(0.01, 100)
levels = st.floats(0.001, 1000)


def simulated_means(c: float, workers: int, trials: int) -> FloatArray:
    """Ȳ of `trials` crowds with λ₁ = 1, all pairs of workers counted."""
    unit = np.random.default_rng(5).exponential(size=(2, trials, workers))
    before, after = unit[0], unit[0] + c * unit[1]
    return np.asarray(np.sqrt(before[:, :, None] + after[:, None, :]).mean(axis=(1, 2)))


@pytest.mark.parametrize(
    ("lambda1", "lambda2", "mean"), [(1, 2, 1.512884), (2, 1, 1.351608), (1, 0.25, 2.314037)]
)
def test_the_mean_distance_has_its_reference_values(
    lambda1: float, lambda2: float, mean: float
) -> None:
    assert mean_distance(lambda1, lambda1 / lambda2) == pytest.approx(mean, abs=5e-7)


@given(rates, levels.filter(lambda c: abs(c - 1) > 0.01))
def test_the_mean_distance_is_the_specifications_formula(lambda1: float, c: float) -> None:
    l1, l2 = lambda1, lambda1 / c
    first = 3 * l2 / (4 * math.sqrt(l1) * (l2 - l1))
    second = (l1**2 - l2 * math.sqrt(l1 * l2)) / (2 * math.sqrt(l2) * (l2 - l1) ** 2)
    assert mean_distance(l1, c) == pytest.approx(math.sqrt(math.pi) * (first + second), rel=1e-8)


@settings(max_examples=20)
@given(st.floats(0.05, 20))
def test_the_mean_distance_is_the_integral_of_the_root(c: float) -> None:
    def given_the_noise(noise: float) -> float:
        inner = quad(lambda v: math.sqrt(v + c * noise) * v * math.exp(-v), 0, 60)[0]
        return float(inner) * math.exp(-noise)

    assert mean_distance(1, c) == pytest.approx(quad(given_the_noise, 0, 60)[0], rel=1e-6)


@given(rates, st.floats(-1e-6, 1e-6))
def test_nothing_jumps_where_the_rates_are_equal(lambda1: float, step: float) -> None:
    there = 15 / 16 * math.sqrt(math.pi / lambda1)
    assert mean_distance(lambda1, 1) == pytest.approx(there, rel=1e-14)
    assert mean_distance(lambda1, 1 + step) == pytest.approx(there, rel=2 * abs(step) + 1e-14)


@given(rates, levels, st.floats(1.001, 10))
def test_more_noise_moves_truths_farther(lambda1: float, c: float, times: float) -> None:
    assert mean_distance(lambda1, times * c) > mean_distance(lambda1, c)


@pytest.mark.parametrize(("c", "alpha"), [(0.5, 2.4142), (2, 3.0503), (1, 15 * math.sqrt(2) / 8)])
def test_alpha_has_its_reference_values(c: float, alpha: float) -> None:
    assert alpha_bound(1, c) == pytest.approx(alpha, abs=5e-5)


def test_the_printed_mean_is_too_small_and_says_so() -> None:
    claim = published_mean_distance(1, 0.5)
    assert claim.value == pytest.approx(1.0383, abs=5e-5)
    assert not claim.holds


def test_the_printed_mean_is_transcribed_with_both_rates() -> None:
    l1, l2 = 3.0, 0.7
    first = 3 * l2 / (4 * math.sqrt(l1) * (l2 - l1))
    second = (l1**2 - l2 * math.sqrt(l1 * l2)) / (math.sqrt(2 * l2) * (l2 - l1) ** 2)
    printed = math.sqrt(math.pi) * (first + second)
    assert published_mean_distance(l1, l1 / l2).value == pytest.approx(printed)


def test_the_printed_special_case_is_right_for_unit_rates_only() -> None:
    four = published_mean_distance(4, 1)
    assert (four.value, four.sound) == pytest.approx((3.32, 0.831), abs=5e-3)
    assert not four.holds
    assert published_mean_distance(1, 1).holds
    assert published_alpha_bound(1, 1).holds
    assert not published_alpha_bound(0.25, 1).holds


def test_the_printed_alpha_is_too_weak() -> None:
    claim = published_alpha_bound(1, 0.5)
    assert claim.value == pytest.approx(1.657, abs=5e-4)
    assert not claim.holds


@given(rates, levels.filter(lambda c: abs(c - 1) > 1e-3))
def test_the_printed_alpha_is_twice_the_root_of_the_printed_mean(lambda1: float, c: float) -> None:
    from_mean = 2 * math.sqrt(2 / math.pi) * published_mean_distance(lambda1, c).value
    assert published_alpha_bound(lambda1, c).value == pytest.approx(from_mean, rel=1e-9, abs=1e-9)


@pytest.mark.statistical
@pytest.mark.parametrize("workers", [1, 2, 3, 12])
def test_the_variance_of_the_mean_is_that_of_simulated_crowds(workers: int) -> None:
    trials = 40_000
    means = simulated_means(2.0, workers, trials)
    computed = variance_of_mean(1, 2.0, workers, np.random.default_rng(6))
    # The variance of a variance is (kurtosis − 1) σ⁴ / trials, with a kurtosis of 3.0 here; the
    # computed one is right to 0.5 % (one standard error). 7 of both together: once in 1e11.
    allowed = 7 * math.hypot(math.sqrt(2 / trials), 0.005)
    assert computed == pytest.approx(float(means.var()), rel=allowed)


def test_the_variance_falls_like_one_over_the_workers_not_its_square() -> None:
    few, many = (variance_of_mean(1, 2.0, s, np.random.default_rng(7)) for s in (100, 10_000))
    assert few == pytest.approx(4.6e-3, rel=0.05)
    assert few / many == pytest.approx(100, rel=0.05)


def test_one_worker_has_the_variance_of_its_own_pair() -> None:
    alone = variance_of_mean(1, 1.0, 1, np.random.default_rng(8))
    drawn = np.random.default_rng(8).exponential(size=(3, 2, 200_000))[0]
    assert alone == pytest.approx(float(np.sqrt(2 * drawn[0] + drawn[1]).var()))


def test_the_rate_of_errors_only_scales_the_variance() -> None:
    one, four = (variance_of_mean(r, 1.5, 30, np.random.default_rng(9)) for r in (1, 4))
    assert one == pytest.approx(4 * four)


def test_beta_is_never_beaten_by_simulated_crowds() -> None:
    workers, c = 20, 2.0
    shift = math.sqrt(2 / math.pi) * simulated_means(c, workers, 5_000)
    for alpha in (1.6, 2.0, 2.5):
        beta = beta_bound(alpha, 1, c, workers, np.random.default_rng(10))
        assert float((shift >= alpha).mean()) <= beta


def test_beta_says_nothing_below_the_mean() -> None:
    least = math.sqrt(2 / math.pi) * mean_distance(1, 1)
    assert beta_bound(least * 0.999, 1, 1, 50, np.random.default_rng(11)) == 1.0
    assert beta_bound(2 * least, 1, 1, 50, np.random.default_rng(11)) < 0.05


def test_the_published_beta_takes_pairs_for_independent() -> None:
    claim = published_beta_bound(4, 1, 2, 100, np.random.default_rng(12))
    variance = 4 - mean_distance(1, 2) ** 2
    assert variance / 100**2 == pytest.approx(3.5e-5, rel=0.02)
    assert claim.value == pytest.approx(math.sqrt(2 / math.pi) * variance / 100**2 / (4 / 2) ** 2)
    assert not claim.holds


def test_the_ceiling_is_where_beta_is_met() -> None:
    c = noise_ceiling(2.0, 0.1, 1.5, 60, np.random.default_rng(13))
    assert beta_bound(2.0, 1.5, c, 60, np.random.default_rng(13)) == pytest.approx(0.1, rel=1e-6)


def test_a_larger_crowd_stands_more_noise() -> None:
    few, many = (noise_ceiling(2.0, 0.05, 1.0, s, np.random.default_rng(14)) for s in (40, 400))
    assert 0 < few < many


def test_without_room_no_noise_is_small_enough() -> None:
    assert noise_ceiling(0.5, 0.05, 1.0, 100, np.random.default_rng(15)) == 0.0


def test_the_printed_ceiling_grows_with_the_square_of_the_crowd_and_is_far_too_high() -> None:
    claim = published_noise_ceiling(2.0, 0.05, 1.0, 100, np.random.default_rng(16))
    root = math.sqrt(math.pi)
    printed = root * (0.2 * 100**2 / (4 * math.sqrt(2)) + root / 2 + 2 + 2 / root) - 2
    assert claim.value == pytest.approx(printed)
    assert claim.value > 100 * claim.sound
    assert not claim.holds


def test_lemma_4_7_claims_more_than_is_true() -> None:
    claim = published_range(25, 0.9, 2)
    assert claim.value == pytest.approx(0.778, abs=5e-4)
    assert claim.sound == pytest.approx(1 - math.exp(-2 * math.sqrt(2 * math.log(10)) / 5))
    assert not claim.holds


@given(st.floats(0.01, 1.0), st.floats(0.01, 0.99), st.floats(0.1, 8))
def test_lemma_4_7_holds_for_rates_up_to_one(lambda1: float, eta: float, b: float) -> None:
    assert published_range(lambda1, eta, b).holds


@pytest.mark.statistical  # 6.5 standard errors: once in 1e10
def test_two_answers_lie_as_close_as_the_formula_says() -> None:
    rng, draws = np.random.default_rng(17), 200_000
    deviation = np.sqrt(rng.exponential(1 / 25, draws))
    first, second = deviation * rng.standard_normal((2, draws))
    expected = range_probability(25, 0.17)
    allowed = 6.5 * math.sqrt(expected * (1 - expected) / draws)
    assert abs(float((np.abs(first - second) <= 0.17).mean()) - expected) < allowed


@given(rates, st.floats(0.01, 10), st.floats(0.001, 0.9), st.floats(0.1, 100))
def test_the_floor_keeps_exactly_what_is_asked(
    lambda1: float, epsilon: float, delta: float, width: float
) -> None:
    c = noise_floor(lambda1, epsilon, delta, width)
    assert delta_limit(epsilon, lambda1 / c, width) == pytest.approx(delta, rel=1e-9)


def test_theorem_4_8_is_enough_when_its_quantile_covers_the_range() -> None:
    gamma = 2 * math.sqrt(2 * math.log(10))
    covered = published_noise_floor(2.0, 1.0, 0.1, eta=0.9, b=2, width=gamma / 2)
    assert covered.holds
    assert covered.value == pytest.approx(gamma**2 / (4 * math.log(1 / 0.9)))
    assert not published_noise_floor(2.0, 1.0, 0.1, eta=0.9, b=2, width=gamma).holds


def test_theorem_4_9_drops_a_square() -> None:
    with_square = published_noise_floor(2.0, 1.0, 0.1, eta=0.9, b=2, width=2)
    without = published_tradeoff_floor(2.0, 1.0, 0.1, eta=0.9, b=2, width=2)
    assert with_square.value / without.value == pytest.approx(2 * math.sqrt(2 * math.log(10)))
    assert with_square.holds
    assert not without.holds


@pytest.mark.parametrize(
    "call",
    [
        lambda: mean_distance(0, 1),
        lambda: mean_distance(1, -1),
        lambda: mean_distance(math.nan, 1),
        lambda: alpha_bound(1, math.inf),
        lambda: range_probability(1, 0),
        lambda: published_range(1, 1.0, 2),
        lambda: published_range(1, 0.5, 0),
        lambda: published_range(0, 0.5, 1),
        lambda: noise_floor(1, 1, 0, 1),
        lambda: noise_ceiling(1, 0, 1, 10, np.random.default_rng(0)),
        lambda: variance_of_mean(1, 1, 0, np.random.default_rng(0)),
        lambda: variance_of_mean(1, 1, 9, np.random.default_rng(0), draws=999),
    ],
)
def test_a_parameter_without_meaning_is_refused(call: Callable[[], float | Published]) -> None:
    with pytest.raises(UsageError, match=r"must (be|lie) .*not "):
        call()
