"""Shamir's secret sharing over the field, for whole vectors at once (Shamir 1979).

A value is the constant of a random polynomial of degree t, and the share of seat i is its value at
i. Any t + 1 shares give the value; t of them are uniform for any value. Shares of a sum are sums of
shares, and products of shares lie on a polynomial of degree 2t, so seats ≥ 2t + 1.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.securesum.field import Draw, Elements, add, dot, lagrange, multiply, random_elements


def share(values: Elements, degree: int, seats: int, draw: Draw = os.urandom) -> Elements:
    """Shares (seats, V) of V values; coefficients are drawn value by value, from x¹ to xᵗ."""
    _check(degree, seats)
    drawn = random_elements(len(values) * degree, draw).reshape(len(values), degree)
    return _evaluated([values, *drawn.T], seats)


def zero_sharing(count: int, degree: int, seats: int, draw: Draw = os.urandom) -> Elements:
    """Shares (seats, count) of zeros: added to shares, they hide all but the shared values."""
    return share(np.zeros(count, np.uint64), degree, seats, draw)


def random_sharing(count: int, degree: int, seats: int, draw: Draw = os.urandom) -> Elements:
    """Shares (seats, count) of unknown random values, drawn from x⁰ to xᵗ."""
    _check(degree, seats)
    drawn = random_elements(count * (degree + 1), draw).reshape(count, degree + 1)
    return _evaluated(list(drawn.T), seats)


def interpolate(points: Sequence[int], shares: Elements) -> Elements:
    """The values at 0 of the polynomials through these shares (points, V), one row per point."""
    _check_rows(points, shares)
    return _at(0, points, shares)


def lies_on(degree: int, points: Sequence[int], shares: Elements) -> bool:
    """Whether each column of shares (points, V) lies on a polynomial of at most this degree.

    The first degree + 1 rows determine the others. With no others there is nothing to check, and
    any shares pass.
    """
    _check_rows(points, shares)
    known = degree + 1
    return all(
        np.array_equal(_at(point, points[:known], shares[:known]), row)
        for point, row in zip(points[known:], shares[known:], strict=True)
    )


def _evaluated(coefficients: Sequence[Elements], seats: int) -> Elements:
    """The polynomials at 1 … seats, by Horner's rule; coefficients from the constant upwards."""
    at = np.arange(1, seats + 1, dtype=np.uint64)[:, None]
    shares = np.broadcast_to(coefficients[-1], (seats, len(coefficients[-1])))
    for coefficient in reversed(coefficients[:-1]):
        shares = add(multiply(shares, at), coefficient)
    return shares


def _at(point: int, points: Sequence[int], shares: Elements) -> Elements:
    weights = np.array(lagrange(points, point), np.uint64)
    return dot(np.moveaxis(shares, 0, -1), weights)


def _check(degree: int, seats: int) -> None:
    if degree < 1:
        raise UsageError(f"degree must be at least 1, not {degree}: every share would be the value")
    if seats <= degree:
        raise UsageError(
            f"polynomials of degree {degree} need more than {degree} seats, not {seats}"
        )


def _check_rows(points: Sequence[int], shares: Elements) -> None:
    if not len(points) == len(shares) > 0:
        raise UsageError(f"{len(points)} points do not fit {len(shares)} rows of shares")
