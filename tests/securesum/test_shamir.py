"""Shares: enough of them give the value, and fewer give nothing."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from sottovoce.errors import UsageError
from sottovoce.securesum.field import Elements, P, add, elements, multiply, random_elements
from sottovoce.securesum.shamir import (
    interpolate,
    lies_on,
    random_sharing,
    share,
    zero_sharing,
)

COMMITTEES = [(1, 3), (1, 5), (2, 5), (3, 7)]
EACH = pytest.mark.parametrize(("degree", "seats"), COMMITTEES)
ONE = np.uint64(1)


@EACH
def test_any_shares_one_more_than_the_degree_give_the_values(degree: int, seats: int) -> None:
    values = random_elements(5)
    shares = share(values, degree, seats)
    for chosen in combinations(range(seats), degree + 1):
        points = [seat + 1 for seat in chosen]
        assert np.array_equal(interpolate(points, shares[list(chosen)]), values)


@EACH
def test_as_many_shares_as_the_degree_fit_every_value(degree: int, seats: int) -> None:
    """For any t shares and any other value there is one polynomial: nothing is excluded."""
    shares = share(elements([1]), degree, seats)[:degree]
    points = list(range(1, degree + 1))
    for value in (0, 1, 12345):
        through = np.concatenate([elements([[value]]), shares])
        assert lies_on(degree, [0, *points], through)


@pytest.mark.statistical
@pytest.mark.parametrize("value", [0, 1])
def test_one_share_is_uniform_whatever_the_value(value: int) -> None:
    """Six chi-square tests of 256 cells; one fails by chance with less than 6 · 10⁻¹⁰."""
    shares = share(np.full(100_000, value, np.uint64), 1, 3)
    for row in shares:
        assert _chance(row >> np.uint64(53)) > 1e-10
        assert _chance(row & np.uint64(255)) > 1e-10


@pytest.mark.statistical
@pytest.mark.parametrize("value", [0, 1])
def test_two_shares_of_degree_two_are_uniform_together_whatever_the_value(value: int) -> None:
    """Ten chi-square tests; one fails by chance with less than 5 · 10⁻¹⁰."""
    shares = share(np.full(100_000, value, np.uint64), 2, 5) >> np.uint64(57)
    for one, other in combinations(shares, 2):
        assert _chance(one * np.uint64(16) + other) > 5e-11


def _chance(digits: Elements) -> float:
    """How likely counts of 256 cells are at least as uneven as these, if they are uniform."""
    counts = np.bincount(digits.astype(np.int64), minlength=256)
    return float(stats.chisquare(counts).pvalue)


def test_sums_of_shares_are_shares_of_sums() -> None:
    a, b = random_elements(4), random_elements(4)
    summed = add(share(a, 1, 3), share(b, 1, 3))
    assert np.array_equal(interpolate([2, 3], summed[1:]), add(a, b))


@EACH
def test_products_of_shares_need_twice_the_degree(degree: int, seats: int) -> None:
    values = random_elements(3)
    shares = share(values, degree, seats)
    squares = multiply(shares, shares)
    points = range(1, seats + 1)
    assert np.array_equal(interpolate(points, squares), multiply(values, values))
    assert lies_on(2 * degree, points, squares)
    assert not lies_on(degree, points, squares)


@EACH
def test_a_wrong_share_is_seen_wherever_it_is(degree: int, seats: int) -> None:
    shares = share(random_elements(3), degree, seats)
    points = range(1, seats + 1)
    assert lies_on(degree, points, shares)
    for seat in range(seats):
        wrong = shares.copy()
        wrong[seat, 1] = add(wrong[seat, 1], ONE)
        assert not lies_on(degree, points, wrong)


def test_zero_sharings_are_of_zero_and_random_ones_of_different_values() -> None:
    zeros, masks = zero_sharing(50, 2, 3), random_sharing(50, 1, 3)
    assert not interpolate([1, 2, 3], zeros).any()
    assert len(np.unique(zeros)) == 150
    values = interpolate([1, 2], masks[:2])
    assert lies_on(1, [1, 2, 3], masks)
    assert len(np.unique(values)) == 50
    assert values.max() < P


@pytest.mark.parametrize(("degree", "seats"), [(0, 3), (-1, 3), (3, 3), (4, 3)])
def test_degrees_that_hide_nothing_or_cannot_be_opened_are_refused(degree: int, seats: int) -> None:
    for deal in (zero_sharing, random_sharing):
        with pytest.raises(UsageError, match="degree"):
            deal(1, degree, seats)


def test_a_zero_sharing_for_products_needs_twice_the_degree_and_one_more_seat() -> None:
    zero_sharing(1, 2 * 2, 5)
    with pytest.raises(UsageError, match="more than 4 seats"):
        zero_sharing(1, 2 * 2, 4)


def test_shares_and_points_must_be_as_many() -> None:
    shares = share(elements([1]), 1, 3)
    with pytest.raises(UsageError, match="do not fit"):
        interpolate([1, 2], shares)
    with pytest.raises(UsageError, match="do not fit"):
        lies_on(1, [1, 2, 3, 4], shares)
