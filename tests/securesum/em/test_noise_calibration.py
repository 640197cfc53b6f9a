"""The noise that a target needs."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.securesum.em.noised import small_terms

from sottovoce.errors import UsageError
from sottovoce.model import Unit
from sottovoce.securesum.em.noise_calibration import calibrated, guarantee
from sottovoce.securesum.em.terms import EMTerms, Law, RoundNoise


@settings(max_examples=10, deadline=None)
@given(
    st.floats(0.2, 20), st.sampled_from([1e-9, 1e-6, 1e-3]), st.integers(0, 3), st.integers(2, 60),
    st.sampled_from([2, 5]), st.sampled_from([None, Law.GAUSSIAN]),
)  # fmt: skip
def test_what_is_calibrated_keeps_what_was_asked_for(
    epsilon: float, delta: float, rounds: int, honest: int, labels: int, law: Law | None
) -> None:
    terms = small_terms(40, labels, epsilon, rounds=rounds, honest=honest, delta=delta, law=law)
    held = guarantee(terms, 1, Unit.ANSWER)
    assert held.within(epsilon, delta)
    assert held.epsilon > 0.98 * epsilon
    assert EMTerms.of_json(terms.as_json()) == terms


def test_gaussian_shares_are_smooth() -> None:
    for epsilon in (0.5, 20.0):
        terms = small_terms(40, 2, epsilon, rounds=2, law=Law.GAUSSIAN, honest=50)
        assert terms.noise is not None
        assert min(each.size for each in terms.noise.rounds) >= 60


def test_counts_alone_need_no_delta() -> None:
    terms = small_terms(rounds=0, epsilon=1.0, delta=0.0)
    assert terms.noise is not None
    assert terms.noise.rounds == (RoundNoise(Law.LAPLACE, Fraction(2)),)


def test_one_weighted_round_is_laplace_and_three_are_gaussian() -> None:
    """The smaller of two noises at the same target."""
    laws = []
    for rounds in (1, 3):
        terms = small_terms(100, 2, 4.0, rounds=rounds)
        assert terms.noise is not None
        laws.append([each.law for each in terms.noise.rounds[1:]])
    assert laws == [[Law.LAPLACE], [Law.GAUSSIAN] * 3]


def test_laplace_shares_that_take_too_long_to_draw_are_gaussian() -> None:
    terms = small_terms(3000, 2, 4.0, rounds=1)
    assert terms.noise is not None
    assert terms.noise.rounds[1].law is Law.GAUSSIAN


@pytest.mark.parametrize(
    ("epsilon", "delta", "rounds", "wrong"),
    [
        (0.0, 1e-6, 0, "epsilon must be above 0"),
        (1e-5, 1e-6, 0, "epsilon must be from 0.0001"),
        (1.0, 1.0, 0, "below 1"),
        (1.0, 1e-6, 10, "weighted_rounds must be from 0 to 9"),
        (0.001, 0.0, 3, "too wide to draw"),
    ],
)
def test_what_cannot_be_kept_is_refused(
    epsilon: float, delta: float, rounds: int, wrong: str
) -> None:
    with pytest.raises(UsageError, match=wrong):
        calibrated(
            list(map(str, range(500))), ["a", "b"], epsilon, delta, honest=3, weighted_rounds=rounds
        )
