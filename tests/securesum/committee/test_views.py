"""The view of t keyholders of an honest worker does not depend on its answers.

Their view: their own shares, and the published check values of all keyholders. Given the worker's
answers, it depends on random coefficients. First exactly, over the field: the view is uniform on a
set of points that does not depend on the answers. Then statistically, with many views.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats
from tests.securesum.committee.test_simulation import LAYOUTS
from tests.securesum.committees import committee, session_of, votes

from sottovoce.mechanisms.sealed_sum import Layout
from sottovoce.securesum.committee import server
from sottovoce.securesum.committee.terms import Session
from sottovoce.securesum.committee.validity import coefficients, opened_values
from sottovoce.securesum.committee.worker import _shares
from sottovoce.securesum.envelope import unb64
from sottovoce.securesum.field import Elements, P, elements, from_bytes, lagrange

Matrix = list[list[int]]
DIGEST = "5e" * 32


def rank(rows: Matrix) -> int:
    """The rank over the field, by Gauss."""
    rows, found = [list(row) for row in rows], 0
    for column in range(len(rows[0])):
        pivot = next((i for i in range(found, len(rows)) if rows[i][column] % P), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        inverse = pow(rows[found][column], -1, P)
        for i in range(found + 1, len(rows)):
            factor = rows[i][column] * inverse % P
            rows[i] = [(a - factor * b) % P for a, b in zip(rows[i], rows[found], strict=True)]
        found += 1
    return found


def powers(points: Sequence[int], exponents: Sequence[int]) -> Matrix:
    """The contribution of each coefficient to a polynomial at these points, one per column."""
    return [[pow(x, k, P) for k in exponents] for x in points]


def shares_seen_alike(
    bits: npt.NDArray[np.integer], seen: Matrix, coalition: Sequence[int], session: Session
) -> Matrix:
    """The shares of all seats if the bits are these, and a coalition sees those shares of them.

    There is exactly one sharing for every vector: t points and the value at 0 fix a polynomial.
    """
    points = [0, *coalition]
    known = [bits.ravel().tolist(), *seen]
    return [
        [sum(w * y for w, y in zip(lagrange(points, seat), column, strict=True)) % P
         for column in zip(*known, strict=True)]
        for seat in range(1, session.sealed.seats + 1)
    ]  # fmt: skip


def published(session: Session, rows: Matrix) -> Matrix:
    """P₁, P₂, Q₁, Q₂ of every seat, with masks of zero."""
    opened = []
    for row in rows:
        values = np.array(row, np.uint64)
        constraints = session.ballot.constraint_values(values.reshape(-1, session.ballot.bits))
        opened.append(opened_values(DIGEST, constraints.ravel(), values, np.zeros(4, np.uint64)))
    return opened


@pytest.mark.parametrize(("seats", "degree"), [(3, 1), (5, 2)])
@pytest.mark.parametrize(("layout", "size", "hidden"), LAYOUTS)
def test_the_view_has_one_law_for_all_answers(
    layout: Layout, size: int, hidden: bool, seats: int, degree: int
) -> None:
    """Shares of a coalition are uniform for every vector; given them, so are the published values.

    The published values under a mask of random coefficients are uniform on an offset plus the
    column space of M, the values of the mask at all seats, and at the coalition's, who know their
    share of it. If the offsets of two vectors differ by something in that space, the laws are the
    same.
    """
    session = session_of(layout, size, hidden=hidden, seats=seats, degree=degree, tasks=2)
    rng = np.random.default_rng(5)
    everyone = range(1, seats + 1)
    coalition = sorted(rng.choice(everyone, degree, replace=False).tolist())
    # Uniform and independent of the bits: the map from coefficients to their shares is onto.
    assert rank(powers(coalition, range(1, degree + 1))) == degree
    seen = rng.integers(0, P, (degree, 2 * session.ballot.bits)).tolist()
    least = -1 if hidden else 0
    offsets = [
        published(
            session, shares_seen_alike(session.ballot.encode(codes), seen, coalition, session)
        )
        for codes in (
            rng.integers(least, session.ballot.codes, 2),
            np.array([1, 0]),
            np.array([0, 1]),
        )
    ]
    for place in range(4):
        exponents = range(1, 2 * degree + 1) if place < 2 else range(degree + 1)
        mask = powers([*everyone, *coalition], exponents)
        for other in offsets[1:]:
            moved = [(a[place] - b[place]) % P for a, b in zip(offsets[0], other, strict=True)]
            beside = [*moved, *([0] * degree)]
            widened = [[*row, extra] for row, extra in zip(mask, beside, strict=True)]
            assert rank(widened) == rank(mask) == len(exponents)
            assert any(moved)  # without the mask the two could be distinguished


def test_openings_tell_no_more_than_the_total() -> None:
    """The shares of honest keyholders follow from the total and what t others know."""
    session = session_of(seats=5, degree=2, tasks=2)
    made = committee(session)
    made.take(votes(session, 3))
    close = server.close(session, made.coordinator, made.state)
    opens = [each.open(close, made.confirms).message for each in made.keyholders]
    total = elements(server.opened_total(session, opens, 3).ravel()).tolist()
    shares = [
        from_bytes(unb64(server.read_message(session, each).body["total"]) or b"").tolist()
        for each in opens
    ]
    for coalition in combinations(range(1, 6), 2):
        for seat in set(range(1, 6)) - set(coalition):
            weights = lagrange([0, *coalition], seat)
            known = [total, *(shares[each - 1] for each in coalition)]
            foretold = [
                sum(w * y for w, y in zip(weights, column, strict=True)) % P
                for column in zip(*known, strict=True)
            ]
            assert foretold == shares[seat - 1]


SESSION = session_of(tasks=1)
SAMPLES, BUCKETS, DOUBT = 100, 4, 1e-9


def views(code: int, *, masked: bool = True) -> npt.NDArray[np.uint64]:
    """Keyholder 1's data and computable values for several contributions of a worker.

    Its share of the bit; P and Q of all seats; and the difference of those of seat 2 from their
    values, without masks, if the answer were 0, and if it were 1.
    """
    bits = SESSION.ballot.encode(np.array([code]))
    return np.array(
        [_view(_shares(bits, SESSION.sealed), masked) for _ in range(SAMPLES)], np.uint64
    )


def _view(rows: Elements, masked: bool) -> list[int]:
    if not masked:
        rows = rows.copy()
        rows[:, 1:] = 0
    opened = [
        opened_values(
            DIGEST, SESSION.ballot.constraint_values(row[:1, None]).ravel(), row[:1], row[1:]
        )
        for row in rows
    ]
    r, s = (int(each) for each in coefficients(DIGEST, 1, 2))
    own = int(rows[0, 0])
    guesses = [(2 * own - answer) % P for answer in (0, 1)]  # the share of seat 2, if it were
    off = [(opened[1][0] - r * b * (b - 1)) % P for b in guesses]
    off += [(opened[1][2] - s * b) % P for b in guesses]
    return [own, *(value for seat in opened for value in seat), *off]


def surprise(one: npt.NDArray[np.uint64], other: npt.NDArray[np.uint64]) -> float:
    """The least P over all marginals of a difference as large, times their number."""
    chances = []
    for column in range(one.shape[1]):
        table = [np.bincount((seen[:, column] >> np.uint64(59)).astype(int), minlength=BUCKETS)
                 for seen in (one, other)]  # fmt: skip
        kept = np.array(table)[:, np.sum(table, axis=0) > 0]
        chances.append(stats.chi2_contingency(kept).pvalue if kept.shape[1] > 1 else 1.0)
    return float(min(chances) * len(chances))


@pytest.mark.statistical
def test_views_of_different_answers_cannot_be_told_apart() -> None:
    """Chi-square of 17 marginals: fails by chance less than once in 10⁹."""
    assert surprise(views(0), views(1)) > DOUBT


def test_without_masks_they_could() -> None:
    assert surprise(views(0, masked=False), views(1, masked=False)) < DOUBT
