"""Composition of independent reports against enumeration and closed forms."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, localcontext

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.errors import UsageError
from sottovoce.model import Unit
from sottovoce.privacy.calibration import smallest_number
from sottovoce.privacy.composition import (
    pure_delta,
    pure_guarantee,
    repeated_delta,
    repeated_guarantee,
)


def in_decimals(epsilon: float, cell_epsilon: float, plus: float, rounds: int) -> Decimal:
    """δ to 60 digits: the coefficients of (a + z x + b x²)ᵏ by a recurrence of positive terms."""
    with localcontext(prec=60, Emin=-(10**9)):
        loss, a = Decimal(cell_epsilon), Decimal(plus)
        b = a * (-loss).exp()
        z = max(1 - a - b, Decimal(0))
        before, now, total = Decimal(0), a**rounds, Decimal(0)
        for i in range(rounds + 1):
            over = (rounds - i) * loss - Decimal(epsilon)
            if over <= 0:
                break
            total += now * (1 - (-over).exp())
            after = ((rounds - i) * z * now + (2 * rounds - i + 1) * b * before) / (a * (i + 1))
            before, now = now, after
        return total


def by_enumeration(epsilon: float, cell_epsilon: float, plus: float, rounds: int) -> float:
    """δ by all 3ᵏ outcomes."""
    minus = plus * math.exp(-cell_epsilon)
    outcomes = [(0, 1.0)]
    for _ in range(rounds):
        outcomes = [
            (loss + step, chance * of)
            for loss, chance in outcomes
            for step, of in ((1, plus), (0, 1 - plus - minus), (-1, minus))
        ]
    return math.fsum(c * max(0.0, -math.expm1(epsilon - j * cell_epsilon)) for j, c in outcomes)


def plus_of(cell_epsilon: float, share: float) -> float:
    return share / (1 + math.exp(-cell_epsilon))


def largest(holds: Callable[[float], bool], high: float) -> float:
    return -smallest_number(lambda x: holds(-x), -high, 0.0)


@settings(deadline=None)
@given(
    cell_epsilon=st.floats(1e-4, 5),
    share=st.floats(0.01, 0.999),
    rounds=st.integers(1, 7),
    place=st.floats(0, 0.999),
)
def test_delta_is_that_of_all_outcomes(
    cell_epsilon: float, share: float, rounds: int, place: float
) -> None:
    epsilon, plus = place * rounds * cell_epsilon, plus_of(cell_epsilon, share)
    expected = by_enumeration(epsilon, cell_epsilon, plus, rounds)
    found = repeated_delta(epsilon, cell_epsilon, plus, rounds, Unit.WORKER)
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("rounds", "cell_epsilon", "share", "epsilon"),
    [
        (2, 0.5, 0.9, 0.3),
        (100, 0.3, 0.5, 10),
        (1000, 1.0, 0.3, 700),  # about 1e-243
        (3000, 0.01, 0.9, 2.0),
        (3000, 0.01, 0.9, 8.0),
        (3000, 0.05, 1e-4, 1.0),
        (3000, 1e-4, 0.5, 0.003),
        (3000, 8.0, 0.999, 23_000),
        (500, 30.0, 0.999, 14_970),
    ],
)
def test_delta_is_right_to_ten_digits_however_small_and_never_below(
    rounds: int, cell_epsilon: float, share: float, epsilon: float
) -> None:
    plus = plus_of(cell_epsilon, share)
    expected = in_decimals(epsilon, cell_epsilon, plus, rounds)
    found = Decimal(repeated_delta(epsilon, cell_epsilon, plus, rounds, Unit.WORKER))
    assert 0 <= float(found / min(expected, Decimal(1)) - 1) < 1e-10 or found == 1


@pytest.mark.parametrize("cell_epsilon", [1e-4, 0.01, 1.0, 5.0])
def test_hundred_thousand_binary_reports_are_a_binomial(cell_epsilon: float) -> None:
    rounds, plus = 100_000, plus_of(cell_epsilon, 1.0)
    deviation = math.sqrt(rounds * plus * (1 - plus))
    least = math.ceil(rounds * plus + 5 * deviation)
    epsilon = (2 * least - rounds - 1) * cell_epsilon
    expected = in_decimals_from_the_middle(least, rounds, cell_epsilon, epsilon)
    found = pure_delta(epsilon, cell_epsilon, rounds, Unit.WORKER)
    assert found == pytest.approx(expected, rel=1e-8)


def in_decimals_from_the_middle(
    least: int, rounds: int, cell_epsilon: float, epsilon: float
) -> float:
    """The same sum for binary reports, over counts of +ε₀ from `least` to 20 deviations more."""
    with localcontext(prec=40, Emin=-(10**9)):
        odds = Decimal(cell_epsilon).exp()
        share = odds / (1 + odds)
        chance = math.comb(rounds, least) * share**least * (1 - share) ** (rounds - least)
        total = Decimal(0)
        for count in range(least, min(rounds, least + 3500) + 1):
            over = (2 * count - rounds) * Decimal(cell_epsilon) - Decimal(epsilon)
            total += chance * (1 - (-over).exp())
            chance *= odds * (rounds - count) / (count + 1)
        return float(total)


@settings(deadline=None)
@given(
    cell_epsilon=st.floats(1e-4, 30),
    share=st.floats(0.001, 1),
    rounds=st.sampled_from([1, 2, 10, 1000, 100_000]),
    places=st.tuples(st.floats(0, 1), st.floats(0, 1)),
)
def test_delta_falls_as_epsilon_grows(
    cell_epsilon: float, share: float, rounds: int, places: tuple[float, float]
) -> None:
    plus = plus_of(cell_epsilon, share)
    low, high = (place * rounds * cell_epsilon for place in sorted(places))
    more = repeated_delta(low, cell_epsilon, plus, rounds, Unit.WORKER)
    less = repeated_delta(high, cell_epsilon, plus, rounds, Unit.WORKER)
    assert 0 <= less <= more * (1 + 1e-9) <= 1 + 1e-9


@settings(deadline=None)
@given(cell_epsilon=st.floats(1e-3, 5), share=st.floats(0.01, 1), rounds=st.integers(1, 500))
def test_one_more_report_loses_more(cell_epsilon: float, share: float, rounds: int) -> None:
    plus, epsilon = plus_of(cell_epsilon, share), rounds * cell_epsilon / 3
    fewer = repeated_delta(epsilon, cell_epsilon, plus, rounds, Unit.WORKER)
    more = repeated_delta(epsilon, cell_epsilon, plus, rounds + 1, Unit.WORKER)
    assert more >= fewer * (1 - 1e-9)


@settings(deadline=None)
@given(cell_epsilon=st.floats(1e-3, 5), share=st.floats(0.01, 1), rounds=st.integers(1, 2000))
def test_binary_reports_bound_all_others_of_the_same_epsilon(
    cell_epsilon: float, share: float, rounds: int
) -> None:
    epsilon = rounds * cell_epsilon / 4
    found = repeated_delta(epsilon, cell_epsilon, plus_of(cell_epsilon, share), rounds, Unit.WORKER)
    assert found <= pure_delta(epsilon, cell_epsilon, rounds, Unit.WORKER) * (1 + 1e-9)


@settings(max_examples=30, deadline=None)
@given(
    cell_epsilon=st.floats(1e-3, 5),
    share=st.floats(0.05, 1),
    rounds=st.integers(1, 5000),
    delta=st.sampled_from([1e-12, 1e-6, 1e-2, 0.3]),
)
def test_the_guarantee_is_the_curve_read_the_other_way(
    cell_epsilon: float, share: float, rounds: int, delta: float
) -> None:
    plus = plus_of(cell_epsilon, share)
    epsilon = repeated_guarantee(cell_epsilon, plus, rounds, Unit.WORKER, delta).epsilon
    at = repeated_delta(epsilon, cell_epsilon, plus, rounds, Unit.WORKER)
    assert at <= delta * (1 + 1e-9)
    assert epsilon == 0 or at == 0 or at == pytest.approx(delta, rel=1e-6)


@settings(max_examples=30, deadline=None)
@given(
    epsilon=st.floats(0.1, 20),
    delta=st.sampled_from([1e-12, 1e-6, 1e-2]),
    rounds=st.sampled_from([1, 2, 30, 1000, 100_000]),
)
def test_what_is_calibrated_by_delta_is_never_above_the_target(
    epsilon: float, delta: float, rounds: int
) -> None:
    cell_epsilon = largest(lambda e: pure_delta(epsilon, e, rounds, Unit.WORKER) <= delta, 30.0)
    found = pure_guarantee(cell_epsilon, rounds, Unit.WORKER, delta).epsilon
    assert epsilon - 1e-6 <= found <= epsilon


def test_pure_epsilon_adds_up_per_worker_only() -> None:
    assert pure_guarantee(0.5, 7, Unit.WORKER).epsilon == 3.5
    assert pure_guarantee(0.5, 7, Unit.ANSWER).epsilon == 0.5


@settings(deadline=None)
@given(cell_epsilon=st.floats(1e-4, 30), place=st.floats(0, 1), share=st.floats(0.001, 1))
def test_one_answer_has_the_closed_form(cell_epsilon: float, place: float, share: float) -> None:
    plus, epsilon = plus_of(cell_epsilon, share), place * cell_epsilon
    expected = -plus * math.expm1(epsilon - cell_epsilon)
    found = repeated_delta(epsilon, cell_epsilon, plus, 99, Unit.ANSWER)
    assert found == pytest.approx(expected, rel=1e-9)


def test_a_tail_too_small_for_a_float_is_not_nothing() -> None:
    assert 0 < pure_delta(999.0, 0.01, 100_000, Unit.WORKER) <= 1e-300


def test_guarantees_say_what_they_rest_on() -> None:
    guarantee = pure_guarantee(0.5, 7, Unit.WORKER)
    assert not guarantee.exact
    assert guarantee.assumptions == ("answers have independent noise",)
    assert "Kairouz" in guarantee.source


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((math.nan, 1.0, 0.5, 1), "epsilon must be at least 0"),
        ((-1.0, 1.0, 0.5, 1), "epsilon must be at least 0"),
        ((1.0, -1.0, 0.1, 1), "an answer's epsilon"),
        ((1.0, math.inf, 0.5, 1), "an answer's epsilon"),
        ((1.0, 1.0, 0.9, 1), "no loss of 1 has the probability 0.9"),
        ((1.0, 1.0, 0.0, 1), "no loss of 1 has the probability 0"),
        ((1.0, 1.0, 0.5, 0), "answers must be at least 1"),
    ],
)
def test_what_is_no_loss_is_refused(arguments: tuple[float, float, float, int], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        repeated_delta(*arguments, Unit.WORKER)


@pytest.mark.parametrize("delta", [-0.1, 1.0, math.nan])
def test_what_is_no_delta_is_refused(delta: float) -> None:
    with pytest.raises(UsageError, match="delta must be"):
        pure_guarantee(1.0, 1, Unit.WORKER, delta)
