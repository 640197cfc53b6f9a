"""Grids: the points that stand for numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sottovoce.errors import DataError, UsageError
from sottovoce.model import Domain, Grid
from sottovoce.model.grid import FINEST


def test_steps_of_a_tenth_are_the_numbers_people_write() -> None:
    values = Grid.over(Domain.numeric(0, 10, 0.1)).values(range(101))
    assert values.tolist() == [float(f"{i // 10}.{i % 10}") for i in range(101)]


@given(st.integers(-(10**6), 10**6), st.integers(1, 10**4), st.integers(0, 6), st.integers(1, 2000))
def test_every_point_of_a_decimal_grid_comes_back(
    low: int, step: int, digits: int, steps: int
) -> None:
    scale = 10**digits
    first, last = low / scale, (low + step * steps) / scale
    grid = Grid.over(Domain.numeric(first, last, step / scale))
    codes = np.arange(steps + 1, dtype=np.int32)
    assert grid.steps == steps
    assert grid.values(codes).tolist() == [(low + step * i) / scale for i in range(steps + 1)]
    np.testing.assert_array_equal(grid.codes(grid.values(codes)), codes)


NORMAL = st.floats(-1e90, 1e90, allow_subnormal=False)


@given(NORMAL, NORMAL, st.integers(1, 500))
def test_every_point_of_any_grid_comes_back(low: float, high: float, steps: int) -> None:
    assume(low < high)
    exact = (Fraction(repr(high)) - Fraction(repr(low))) / steps
    # Else floats are too coarse, or run into the smallest ones.
    assume(exact > Fraction(max(abs(low), abs(high))) / 2**30 and exact > Fraction(1, 10**250))
    grid = Grid(Fraction(repr(low)), exact, steps)
    codes = np.arange(steps + 1, dtype=np.int32)
    values = np.clip(grid.values(codes), float(grid.low), float(grid.high))
    np.testing.assert_array_equal(grid.codes(values), codes)


def test_a_number_between_points_goes_to_the_nearest() -> None:
    assert Grid.over(Domain.numeric(0, 1, 0.25)).codes([0.1, 0.2, 0.9]).tolist() == [0, 1, 4]


def test_a_range_without_a_step_has_a_thousand() -> None:
    assert Grid.over(Domain.numeric(-5, 5)).steps == 1000


@pytest.mark.parametrize(
    ("domain", "message"),
    [
        (Domain.numeric(0, 10, 3), "does not divide"),
        (Domain.numeric(0, 10, 20), "does not divide"),
        (Domain.numeric(0, FINEST + 1, 1), "65,536 steps"),
        (Domain.numeric(0, 1e308, 1), "65,536 steps"),
        (Domain.numeric(-1e308, 1e308), "divide by a common factor"),
        (Domain.numeric(1e16, 1e16 + 2), "too fine"),
        (Domain.numeric(0), "public range"),
        (Domain.numeric(), "public range"),
        (Domain.ordinal([1, 2, 4]), "evenly spaced"),
        (Domain.ordinal([3, 2, 1]), "rising order"),
        (Domain.ordinal(["only"]), "two labels"),
    ],
)
def test_what_is_no_grid_is_refused(domain: Domain, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Grid.over(domain)


def test_the_finest_grid_is_allowed() -> None:
    assert Grid.over(Domain.numeric(0, FINEST, 1)).steps == FINEST


@pytest.mark.parametrize("step", [0, -1, float("nan"), float("inf")])
def test_a_step_that_is_none_is_refused(step: float) -> None:
    with pytest.raises(UsageError, match="step must be above 0"):
        Domain.numeric(0, 10, step)


def test_a_reversed_range_is_refused() -> None:
    with pytest.raises(UsageError, match=r"low < high, not 10\.\.0"):
        Domain.numeric(10, 0)


@pytest.mark.parametrize("wrong", [10.01, -0.01, float("nan"), float("inf"), 777.25])
def test_a_number_outside_the_range_is_refused_by_its_row_and_not_quoted(wrong: float) -> None:
    with pytest.raises(DataError, match=r"^row 2: answer 2 is outside the range 0\.\.10") as error:
        Grid.over(Domain.numeric(0, 10, 0.1)).codes([5.0, wrong])
    assert repr(wrong) not in str(error.value)


def test_labels_that_are_no_numbers_are_spaced_by_their_order() -> None:
    grid = Grid.over(Domain.ordinal(["bad", "so-so", "good"]))
    assert (grid.steps, grid.values([0, 1, 2]).tolist()) == (2, [0.0, 1.0, 2.0])


def test_points_go_on_beyond_the_ends() -> None:
    assert Grid.over(Domain.numeric(0, 1, 0.1)).values([-3, 12]).tolist() == [-0.3, 1.2]
