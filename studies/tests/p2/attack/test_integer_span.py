"""Spans, the vectors of zeros and ones in them, and short relations: each against brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce_studies.p2.attack.bounded_vectors import MOST_SUMS, bounded_vectors
from sottovoce_studies.p2.attack.integer_span import (
    PRIME,
    Integers,
    Span,
    completed,
    reduced,
    span_of,
    within,
)


def matrix(seed: int, rows: int, columns: int, most: int) -> Integers:
    return np.random.default_rng(seed).integers(0, most, (rows, columns))


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 9))
def test_the_rank_is_that_of_the_rationals(seed: int, rows: int, columns: int) -> None:
    vectors = matrix(seed, rows, columns, 4)
    assert span_of(vectors).rank == np.linalg.matrix_rank(vectors)


@given(st.integers(0, 10**6))
def test_a_basis_is_the_identity_at_the_pivots_and_spans_the_same(seed: int) -> None:
    vectors = matrix(seed, 4, 7, 10**6)
    span = span_of(vectors)
    assert np.array_equal(span.basis[:, span.pivots], np.eye(span.rank))
    again = vectors[:, span.pivots] % PRIME
    for row, parts in zip(vectors, again, strict=True):
        combined = sum(
            int(part) * line.astype(object) for part, line in zip(parts, span.basis, strict=True)
        )
        assert np.array_equal(combined % PRIME, row % PRIME)


def test_large_totals_are_exact() -> None:
    """Floats would not see that the second row is not twice the first."""
    vectors = np.array([[10**18 + 1, 3], [2 * 10**18 + 3, 6]])
    assert span_of(vectors).rank == 2


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 5))
def test_all_vectors_of_a_span_within_bounds_are_found(seed: int, rank: int) -> None:
    bits = matrix(seed, rank, 10, 2)
    mixed = matrix(seed + 1, rank, rank, 50) @ bits
    most, least = matrix(seed + 2, 1, 10, 3)[0], np.zeros(10, np.int64)
    least[:2] = most[:2] // 2
    span = span_of(mixed)
    found = bounded_vectors(span, most, least)
    assert found is not None
    expected = set()
    for choice in itertools.product(range(3), repeat=span.rank):
        vector = np.array(choice) @ span.basis % PRIME
        if (vector <= most).all() and (vector >= least).all():
            expected.add(tuple(vector.tolist()))
    assert set(map(tuple, found.tolist())) == expected


def test_a_rank_of_thirty_six_is_searched() -> None:
    bits = matrix(5, 36, 80, 2)
    found = bounded_vectors(span_of(bits), np.ones(80, np.int64))
    assert found is not None
    assert {row.tobytes() for row in bits} <= {row.tobytes() for row in found}


def test_more_vectors_than_the_limit_are_not_listed() -> None:
    span = span_of(np.eye(5, dtype=np.int64))
    ones = np.ones(5, np.int64)
    assert bounded_vectors(span, ones, limit=31) is None
    every = bounded_vectors(span, ones, limit=32)
    assert every is not None
    assert len(every) == 32


def test_a_rank_beyond_the_search_is_not_begun() -> None:
    size = 2 * MOST_SUMS.bit_length()
    span = span_of(matrix(1, size, 2 * size, 2))
    assert bounded_vectors(span, np.ones(2 * size, np.int64)) is None


@given(st.integers(0, 10**6))
def test_a_restricted_span_has_every_vector_that_vanishes_elsewhere(seed: int) -> None:
    bits = matrix(seed, 4, 9, 2)
    bits[:2, 5:] = 0
    places = np.arange(9) < 5
    own = within(span_of(bits), places)
    assert not own.basis[:, 5:].any()
    assert own.rank == 4 - min(4, span_of(bits[:, 5:]).rank) - (4 - span_of(bits).rank)
    assert span_of(np.concatenate([own.basis, bits[:2]])).rank == own.rank


@given(st.integers(0, 10**6))
def test_a_reduced_basis_is_of_the_same_lattice(seed: int) -> None:
    basis = matrix(seed, 5, 5, 1000) + 1000 * np.eye(5, dtype=np.int64)
    short = reduced(basis)
    steps = short @ np.linalg.inv(basis)
    assert np.allclose(steps, np.rint(steps), atol=1e-6)
    assert abs(np.linalg.det(np.rint(steps))) == pytest.approx(1, abs=1e-6)


def test_a_reduced_basis_begins_with_a_short_vector() -> None:
    """All other vectors of this lattice are hundreds of times as long as the one hidden in it."""
    lattice = np.eye(6, dtype=np.int64)
    lattice[:, 0] = np.random.default_rng(3).integers(1, PRIME, 6)
    lattice[0, 0] = PRIME
    hidden = np.array([0, -1, 1, 0, 1, -1])
    lattice[1, 0] = hidden[2:] @ lattice[2:, 0] % PRIME
    short = reduced(lattice)[0]
    assert short.tolist() in (hidden.tolist(), (-hidden).tolist())


def test_a_span_is_completed_from_a_few_of_its_vectors() -> None:
    bits = matrix(7, 12, 60, 2)
    opened = matrix(8, 3, 12, 10**10) @ bits
    whole, span = span_of(bits), span_of(opened)
    assert span.rank == 3
    found = completed(span, 12)
    assert found is not None
    assert found.clear
    assert same(found.span, whole)


def test_what_is_whole_is_not_completed() -> None:
    span = span_of(matrix(7, 12, 60, 2))
    assert completed(span, 12) is None


def same(one: Span, other: Span) -> bool:
    return one.rank == other.rank == span_of(np.concatenate([one.basis, other.basis])).rank
