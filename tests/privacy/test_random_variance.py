from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import kve, ndtr

from sottovoce.privacy.random_variance import (
    delta_finite,
    delta_limit,
    delta_published,
    delta_single,
    epsilon_single,
    log_bessel,
    rate_for,
    rate_published,
)

epsilons = st.floats(1e-4, 30.0)
deltas = st.floats(1e-9, 0.99)


def epsilon_limit(delta: float, rate: float, distance: float) -> float:
    """The smallest ε at δ > 0 on the same curve: λD²/(2L) - L with L = -ln(1 - δ), not below 0."""
    loss = -math.log1p(-delta)
    return max(rate * distance**2 / (2 * loss) - loss, 0.0)


@pytest.mark.parametrize(
    ("epsilon", "rate", "distance", "delta"),
    [(1, 0.2, 1, 0.0875372), (0.5, 1, 1, 0.3934693), (2, 0.3, 2, 0.2327258)],
)
def test_the_limit_has_its_reference_values(
    epsilon: float, rate: float, distance: float, delta: float
) -> None:
    assert delta_limit(epsilon, rate, distance) == pytest.approx(delta, abs=5e-8)


@pytest.mark.parametrize(("epsilon", "rate"), [(1e-4, 1e-3), (0.3, 0.2), (2.0, 5.0)])
def test_the_limit_is_the_mean_of_gaussian_curves(epsilon: float, rate: float) -> None:
    def curve(log_variance: float) -> float:
        variance = math.exp(log_variance)
        shift = 1 / math.sqrt(variance)
        least, most = -epsilon / shift + shift / 2, -epsilon / shift - shift / 2
        delta = float(ndtr(least) - math.exp(epsilon) * ndtr(most))
        return delta * rate * variance * math.exp(-rate * variance)

    mean = sum(quad(curve, a, a + 5, epsabs=1e-12)[0] for a in range(-30, 15, 5))
    assert delta_limit(epsilon, rate, 1.0) == pytest.approx(mean, abs=1e-9)


@given(epsilon=epsilons, delta=deltas, distance=st.floats(0.1, 1000))
def test_rate_and_limit_are_each_others_inverse(
    epsilon: float, delta: float, distance: float
) -> None:
    rate = rate_for(epsilon, delta, distance)
    assert delta_limit(epsilon, rate, distance) == pytest.approx(delta, rel=1e-9)
    assert epsilon_limit(delta, rate, distance) == pytest.approx(epsilon, abs=1e-9, rel=1e-9)


@given(epsilon=epsilons, delta=deltas)
def test_the_published_delta_is_never_too_small_for_one_answer_of_many(
    epsilon: float, delta: float
) -> None:
    rate = rate_published(epsilon, delta, 1.0)
    assert delta_published(epsilon, rate, 1.0) == pytest.approx(delta, rel=1e-9)
    assert delta_limit(epsilon, rate, 1.0) <= delta * (1 + 1e-12)


def test_the_published_delta_is_far_too_small_for_a_worker() -> None:
    rate = rate_published(1.0, 0.1, 1.0)
    assert delta_finite(1.0, rate, math.sqrt(10), 10) == pytest.approx(0.458, abs=5e-4)
    assert delta_finite(1.0, rate, math.sqrt(100), 100) == pytest.approx(0.94, abs=5e-3)


@pytest.mark.parametrize(
    ("answers", "delta", "digit"),
    [(1, 0, 1e-12), (2, 0.0097, 5e-5), (10, 0.073, 5e-4), (100, 0.090, 5e-4)],
)
def test_few_answers_lose_less(answers: int, delta: float, digit: float) -> None:
    rate = rate_published(1.0, 0.1, 1.0)
    assert delta_finite(1.0, rate, 1.0, answers) == pytest.approx(delta, abs=digit)


def test_one_answer_has_laplace_noise() -> None:
    shift = epsilon_single(0.6, 1.5)
    tail = quad(
        lambda x: math.exp(-abs(x)) / 2 * (abs(x - shift) - abs(x) > 0.4), -40, 40, limit=999
    )
    other = quad(
        lambda x: math.exp(-abs(x - shift)) / 2 * (abs(x - shift) - abs(x) > 0.4),
        -40,
        40,
        limit=999,
    )
    assert delta_single(0.4, 0.6, 1.5) == pytest.approx(
        tail[0] - math.exp(0.4) * other[0], abs=1e-4
    )
    assert delta_single(shift, 0.6, 1.5) == 0.0


@pytest.mark.parametrize(
    ("epsilon", "rate"), [(1e-4, 0.01), (0.5, 1.0), (1.0, 0.2), (5.0, 20.0), (30.0, 600.0)]
)
def test_three_answers_agree_with_a_sum_over_a_fine_grid(epsilon: float, rate: float) -> None:
    # For k = 3 the density is exp(-z)/z in closed form, and cos θ is uniform.
    shift = math.sqrt(2 * rate)
    x = np.linspace(math.log(1e-5), math.log(50), 3000)[:, None]
    edges = np.linspace(-1, 1, 1001)
    cosine, z = (edges[1:] + edges[:-1]) / 2, np.exp(x)
    far = np.sqrt(z * z + shift * shift - 2 * z * shift * cosine)
    loss = far + np.log(far) - z - np.log(z)
    gain = -np.expm1(np.minimum(epsilon - loss, 0.0)).mean(axis=1)
    summed = float(np.sum(gain * (z * z * np.exp(-z))[:, 0]) * (x[1, 0] - x[0, 0]))
    assert delta_finite(epsilon, rate, 1.0, 3) == pytest.approx(summed, abs=2e-6)


@given(epsilon=st.floats(1e-4, 30.0), shift=st.floats(0.01, 50.0), answers=st.integers(1, 100_000))
def test_more_answers_lose_more_and_never_more_than_the_limit(
    epsilon: float, shift: float, answers: int
) -> None:
    rate = shift * shift / 2
    fewer, more = (delta_finite(epsilon, rate, 1.0, k) for k in (answers, 2 * answers))
    assert -1e-15 <= fewer <= more + 2e-9
    assert more <= delta_limit(epsilon, rate, 1.0)


@pytest.mark.parametrize("answers", [1_000, 10_000, 60_000])
def test_many_answers_approach_the_limit(answers: int) -> None:
    gap = delta_limit(1.0, 0.2, 1.0) - delta_finite(1.0, 0.2, 1.0, answers)
    assert gap * answers == pytest.approx(0.175, rel=0.01)


@settings(max_examples=12, deadline=None)
@given(shift=st.floats(0.05, 20.0), answers=st.integers(2, 2000))
def test_delta_falls_as_epsilon_rises(shift: float, answers: int) -> None:
    curve = [delta_finite(e, shift * shift / 2, 1.0, answers) for e in (0.01, 0.1, 1.0, 4.0, 12.0)]
    assert all(b <= a + 1e-9 for a, b in pairwise(curve))


@pytest.mark.parametrize("order", [0.0, 0.5, 1.0, 7.5, 30.0])
def test_the_logarithm_of_the_bessel_function_agrees_with_the_function(order: float) -> None:
    z = np.exp(np.linspace(-8, 6, 40))
    assert log_bessel(order, z) == pytest.approx(np.log(kve(order, z)) - z, rel=1e-12, abs=1e-12)
