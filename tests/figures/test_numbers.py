"""Numbers as people read them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.figures.numbers import round_steps, spread, words_for

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
