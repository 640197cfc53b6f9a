"""The field against Python's integers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.errors import UsageError
from sottovoce.securesum.field import (
    P,
    add,
    dot,
    elements,
    from_bytes,
    lagrange,
    multiply,
    random_elements,
    subtract,
    to_bytes,
    total,
)

EDGES = (0, 1, 2, (1 << 30) - 1, 1 << 30, (1 << 31) - 1, 1 << 31, 1 << 32, 1 << 60, P - 2, P - 1)
element = st.integers(0, P - 1) | st.sampled_from(EDGES)
pairs = st.lists(st.tuples(element, element), min_size=1, max_size=40)


@given(pairs)
@pytest.mark.parametrize(
    ("ours", "exact"),
    [
        (add, lambda a, b: a + b),
        (subtract, lambda a, b: a - b),
        (multiply, lambda a, b: a * b),
    ],
)
def test_arithmetic_is_that_of_integers_modulo_p(
    ours: Callable[..., object],
    exact: Callable[[int, int], int],
    given_pairs: list[tuple[int, int]],
) -> None:
    a, b = np.array(given_pairs, np.uint64).T
    expected = [exact(x, y) % P for x, y in given_pairs]
    assert np.asarray(ours(a, b)).tolist() == expected


@given(pairs)
def test_sums_and_products_are_those_of_integers_modulo_p(
    given_pairs: list[tuple[int, int]],
) -> None:
    a, b = np.array(given_pairs, np.uint64).T
    assert int(dot(a, b)) == sum(x * y for x, y in given_pairs) % P
    assert int(total(a)) == sum(x for x, _ in given_pairs) % P


def test_long_sums_of_the_largest_elements_do_not_overflow() -> None:
    most = np.full(200_000, P - 1, np.uint64)
    assert int(dot(most, most)) == 200_000
    assert int(total(most)) == P - 200_000


def test_a_dot_product_runs_along_the_last_axis_and_broadcasts() -> None:
    a, b = random_elements(24).reshape(2, 3, 4), random_elements(4)
    expected = [[sum(map(int, multiply(row, b))) % P for row in rows] for rows in a]
    assert dot(a, b).tolist() == expected


def test_negative_integers_have_elements_that_add_up_to_zero() -> None:
    numbers = np.array([-(2**60), -1, 0, 5])
    assert not add(elements(numbers), elements(-numbers)).any()


@given(st.lists(element, max_size=20))
def test_bytes_are_read_as_they_were_written(values: list[int]) -> None:
    content = to_bytes(np.array(values, np.uint64))
    assert content == b"".join(value.to_bytes(8, "little") for value in values)
    assert from_bytes(content).tolist() == values


@pytest.mark.parametrize("content", [b"1234567", P.to_bytes(8, "little"), b"\xff" * 8])
def test_bytes_that_are_no_elements_are_refused(content: bytes) -> None:
    with pytest.raises(UsageError, match="field element"):
        from_bytes(content)


def test_p_is_drawn_again_and_upper_bits_do_not_count() -> None:
    drawn = [b"\xff" * 8, (7 | 5 << 61).to_bytes(8, "little"), P.to_bytes(8, "little"),
             (P - 1).to_bytes(8, "little")]  # fmt: skip
    left = b"".join(drawn)

    def draw(count: int) -> bytes:
        nonlocal left
        content, left = left[:count], left[count:]
        return content

    assert random_elements(2, draw).tolist() == [7, P - 1]
    assert not left


@given(st.lists(element, min_size=1, max_size=6), element)
def test_lagrange_weights_give_a_polynomial_at_any_point(coefficients: list[int], at: int) -> None:
    def polynomial(x: int) -> int:
        return sum(c * pow(x, i, P) for i, c in enumerate(coefficients)) % P

    points = range(1, len(coefficients) + 1)
    weights = lagrange(points, at)
    found = sum(w * polynomial(x) for w, x in zip(weights, points, strict=True)) % P
    assert found == polynomial(at)


def test_a_point_given_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="differ"):
        lagrange([1, 2, 1])
