"""Numbers as people read them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.figures.number_format import log_steps, power_words, round_steps, spread, words_for

finite = st.floats(-1e150, 1e150)


@given(st.lists(finite, min_size=1), st.integers(2, 12))
def test_round_steps_lie_inside_and_are_few(values: list[float], most: int) -> None:
    low, high = spread(values)
    steps = [number for number, _ in round_steps(low, high, most)]
    slack = (high - low) * 1e-6
    assert len(steps) <= most + 1
    assert all(low - slack <= step <= high + slack for step in steps)


@given(st.lists(finite, min_size=1), st.integers(4, 12))
def test_no_two_steps_read_the_same(values: list[float], most: int) -> None:
    words = [words for _, words in round_steps(*spread(values), most)]
    assert len(set(words)) == len(words)


@given(st.lists(finite, min_size=1))
def test_a_spread_is_never_empty(values: list[float]) -> None:
    low, high = spread(values)
    assert low <= min(values) <= max(values) <= high
    assert low < high


@given(st.lists(finite, min_size=1))
def test_every_number_is_short(values: list[float]) -> None:
    words = words_for(values)
    assert all(len(words(value)) <= 15 for value in values)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ((0.5, 0.93), "0.930"),
        ((0.931, 0.934), "0.93400"),
        ((1200.0, 80.0), "80"),
        ((1e9, 0.0), "0"),
    ],
)
def test_decimals_follow_the_spread(values: tuple[float, ...], told: str) -> None:
    assert words_for(values)(values[-1]) == told


@given(st.floats(1e-100, 1e100), st.floats(1.05, 1e40), st.integers(4, 12))
def test_steps_of_ratios_lie_inside_are_few_and_read_differently(
    low: float, ratio: float, most: int
) -> None:
    high = low * ratio
    steps = log_steps(low, high, most)
    words = power_words(steps)
    assert 2 <= len(steps) <= most + 5
    assert all(low * (1 - 1e-6) <= step <= high * (1 + 1e-6) for step in steps)
    assert len({words(step) for step in steps}) == len(steps)


@pytest.mark.parametrize(
    ("value", "told"), [(1e-12, "10⁻¹²"), (1.0, "1"), (10.0, "10"), (2.5e7, "2.5·10⁷")]
)
def test_far_powers_of_ten_are_written_as_such(value: float, told: str) -> None:
    assert power_words([1e-12, 1e7])(value) == told
