"""The guarantee of noised rounds, and the noise that it needs."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.securesum.em.noised import small_terms

from sottovoce.errors import UsageError
from sottovoce.mechanisms.laws.discrete_gaussian import DiscreteGaussian
from sottovoce.mechanisms.laws.polya import noise_law
from sottovoce.model import Unit
from sottovoce.privacy.concentrated_privacy import concentrated_epsilon, summed_rho
from sottovoce.securesum.em.noise_calibration import default_honest, guarantee
from sottovoce.securesum.em.sensitivity import TAIL, NoisedSlots
from sottovoce.securesum.em.terms import EMTerms, Law, Mode, NoiseTerms, RoundNoise
from sottovoce.securesum.em.weights import answer_moves

TINY = 1e-30
"""The cost of the noise's reach is below it, at every epsilon here."""


def noised(
    *rounds: RoundNoise, tasks: int = 50, labels: int = 2, scale: int = 100, honest: int = 6
) -> EMTerms:
    """Terms with this noise, with any guarantee."""
    noise = NoiseTerms(Fraction(1), Fraction(1, 10**6), honest, rounds)
    names = tuple(map(str, range(tasks))), tuple(map(str, range(labels)))
    return EMTerms(*names, Mode.NOISED, scale, noise=noise)


def laplace(size: float) -> RoundNoise:
    return RoundNoise(Law.LAPLACE, Fraction(size))


def gaussian(size: int) -> RoundNoise:
    return RoundNoise(Law.GAUSSIAN, Fraction(size))


@pytest.mark.parametrize("labels", [2, 3])
def test_one_count_keeps_two_over_its_size(labels: int) -> None:
    held = guarantee(noised(laplace(2), labels=labels), 1, Unit.ANSWER)
    assert held.epsilon == 1
    assert held.delta < TINY


def test_the_promise_on_one_count_is_exact() -> None:
    """Two labels: a changed answer moves one slot by 2, under discrete Laplace noise."""
    law, _ = noise_law(Fraction(1, 2), Fraction(1))
    worst = float(np.log(law[2:] / law[:-2]).max())
    assert guarantee(noised(laplace(2)), 1, Unit.ANSWER).epsilon == pytest.approx(worst, rel=1e-9)


def test_the_promise_on_a_weighted_sum_holds_for_the_worst_pair() -> None:
    """A move of many slots under Gaussian noise is as bad as one of a slot of equal length.

    Six discrete Gaussians with σ² = 10,000 add up to one with six times that, but for 10⁻⁹⁰⁰⁰.
    """
    variance = 10_000
    held = guarantee(noised(laplace(10**5), gaussian(variance)), 1, Unit.ANSWER)
    counts = guarantee(noised(laplace(10**5)), 1, Unit.ANSWER)
    law, _ = DiscreteGaussian(6 * variance).law(1e-40)
    move = math.isqrt(answer_moves(2, 50, 100).squared)
    epsilon = held.epsilon - counts.epsilon
    delta = np.maximum(law[move:] - math.exp(epsilon) * law[:-move], 0).sum() + law[:move].sum()
    assert 1e-8 < delta < 1e-6


def test_rounds_add_up() -> None:
    """ρ of the rounds, and the epsilon of the counts."""
    terms = noised(laplace(8), gaussian(40_000), gaussian(90_000))
    squared = answer_moves(2, 50, 100).squared
    rho = summed_rho(squared, 40_000, 6, 50) + summed_rho(squared, 90_000, 6, 50)
    expected = 2 / 8 + concentrated_epsilon(rho, 1e-6)
    assert guarantee(terms, 1, Unit.ANSWER).epsilon == pytest.approx(expected, rel=1e-9)


def test_many_laplace_rounds_are_converted_too_where_that_is_better() -> None:
    pure = 9 * answer_moves(2, 50, 100).absolute / 40_000
    terms = noised(*[laplace(2 * 10**4)] * 1, *[laplace(40_000)] * 9)
    assert guarantee(terms, 1, Unit.ANSWER).epsilon < pure


@given(st.integers(1000, 10**6), st.integers(1, 50), st.sampled_from([2, 3]))
def test_more_noise_promises_more(variance: int, answers: int, labels: int) -> None:
    for unit in Unit:
        less, more = (
            guarantee(noised(laplace(4), gaussian(size), labels=labels), answers, unit).epsilon
            for size in (variance, 2 * variance)
        )
        assert more < less


@given(st.integers(2, 40), st.sampled_from([laplace(300), gaussian(9000)]))
def test_more_honest_workers_never_harm(honest: int, second: RoundNoise) -> None:
    fewer, more = (
        guarantee(noised(laplace(4), second, honest=count), 1, Unit.ANSWER).epsilon
        for count in (honest, honest + 1)
    )
    assert more <= fewer


@given(st.integers(1, 49), st.sampled_from([laplace(300), gaussian(9000)]), st.sampled_from([2, 4]))
def test_a_worker_loses_more_with_every_answer(
    answers: int, second: RoundNoise, labels: int
) -> None:
    terms = noised(laplace(4), second, labels=labels)
    held = [guarantee(terms, count, Unit.WORKER).epsilon for count in (answers, answers + 1)]
    assert held[0] <= held[1]


def test_the_loss_of_one_answer_does_not_depend_on_their_number() -> None:
    terms = noised(laplace(4), gaussian(9000))
    assert len({guarantee(terms, count, Unit.ANSWER).epsilon for count in (1, 20, 50)}) == 1


def test_a_worker_of_two_labels_may_have_answered_other_tasks() -> None:
    """10 tasks less and 10 others more: 20 tasks, in each of which lead and count move by 1."""
    assert guarantee(noised(laplace(4)), 10, Unit.WORKER).epsilon <= 20 * 2 / 4
    assert guarantee(replace_delta(noised(laplace(4))), 10, Unit.WORKER).epsilon == 20 * 2 / 4
    assert guarantee(replace_delta(noised(laplace(4))), 50, Unit.WORKER).epsilon == 50 * 2 / 4


def replace_delta(terms: EMTerms) -> EMTerms:
    """The same without a delta for conversions."""
    assert terms.noise is not None
    return replace(terms, noise=replace(terms.noise, delta=Fraction(0)))


def test_gaussian_noise_promises_nothing_without_a_delta() -> None:
    held = guarantee(replace_delta(noised(laplace(4), gaussian(9000))), 1, Unit.ANSWER)
    assert not held.is_finite


def test_the_promise_says_what_it_rests_on() -> None:
    held = guarantee(small_terms(honest=7), 3, Unit.WORKER)
    assert any("at least 7 of the workers in every opened set" in each for each in held.assumptions)
    assert not held.exact
    assert "prop. 14" in held.source


def test_all_of_the_workers_noise_is_counted() -> None:
    """Ten workers add twice the noise of five that are assumed honest."""
    slots = NoisedSlots(small_terms(rounds=1, law=Law.GAUSSIAN))
    assert slots.variances(10) == pytest.approx(2 * slots.variances(5))


def test_half_of_the_workers_are_counted_on() -> None:
    assert [default_honest(workers) for workers in (3, 4, 21)] == [2, 2, 11]


def test_rounds_without_noise_promise_nothing() -> None:
    terms = EMTerms(("q",), ("no", "yes"), Mode.LOG_ODDS, 1000)
    with pytest.raises(UsageError, match="have no noise"):
        guarantee(terms, 1, Unit.ANSWER)


@pytest.mark.parametrize("answers", [0, 51])
def test_answers_that_nobody_can_give_are_refused(answers: int) -> None:
    with pytest.raises(UsageError, match="from 1 to the 50 tasks"):
        guarantee(noised(laplace(2)), answers, Unit.WORKER)


def test_a_worker_with_many_answers_is_told_how_little_is_promised() -> None:
    """A large epsilon is stated as it is: the reach of noise does not make it infinite."""
    held = guarantee(replace_delta(noised(laplace(2), tasks=2000)), 1000, Unit.WORKER)
    assert held.epsilon == 2000
    assert held.delta < TINY


@pytest.mark.parametrize("law", list(Law))
def test_shares_go_beyond_their_reach_as_seldom_as_is_said(law: Law) -> None:
    slots = NoisedSlots(small_terms(rounds=1, law=law))
    size, reach = float(slots.noise.rounds[1].size), slots.reach(1)
    exponent = reach**2 / (2 * size) if law is Law.GAUSSIAN else reach / size
    assert 2 * math.exp(-exponent) < TAIL


@pytest.mark.parametrize("size", [0.002, 0.1, 5.0, 2.0**17])
def test_noise_that_is_seen_with_a_chance_of_1e_50_has_one_of_1e_60(size: float) -> None:
    """The argument on the reach depends on it. Discrete Laplace noise, in closed form."""
    q = math.exp(-1 / size)
    far = math.ceil(math.log(1e-50 * (1 + q) / 2) / math.log(q)) - 1
    assert 2 * q ** (far + 1) / (1 + q) <= 1e-50
    assert (1 - q) / (1 + q) * q**far > 1e-60


@pytest.mark.parametrize("deviation", [8.0, 1e6])
def test_the_same_holds_for_gaussian_noise(deviation: float) -> None:
    far = float(stats.norm.isf(0.5e-50)) + 1 / deviation
    assert math.exp(-(far**2) / 2) / (deviation * math.sqrt(2 * math.pi)) > 1e-60
