"""The checks of contributions, against integers of any size and AES written out."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import ECB
from tests.securesum.committees import rows_of, session_of

from sottovoce.mechanisms.sealed_sum import Layout
from sottovoce.securesum.committee.validity import (
    Failure,
    coefficients,
    failures,
    lies_on_each,
    opened_values,
)
from sottovoce.securesum.field import P

DIGEST = hashlib.sha256(b"a contribution").hexdigest()


def written_out(digest: str, which: int, count: int) -> list[int]:
    """Counter mode, block by block."""
    key = hashlib.sha256(b"sottovoce-check/1\0" + bytes.fromhex(digest) + bytes([which])).digest()
    blocks = b"".join(
        Cipher(AES256(key), ECB()).encryptor().update(block.to_bytes(16, "big"))  # noqa: S305
        for block in range((count + 1) // 2)
    )
    words = [int.from_bytes(blocks[8 * i : 8 * i + 8], "little") & P for i in range(count)]
    return [0 if word == P else word for word in words]


@pytest.mark.parametrize("which", [1, 2])
def test_coefficients_are_the_keystream_of_the_digest(which: int) -> None:
    assert coefficients(DIGEST, which, 7).tolist() == written_out(DIGEST, which, 7)


def test_what_is_opened_is_a_random_combination_and_a_mask() -> None:
    session = session_of(Layout.SUM, 6, hidden=True, tasks=2)
    row = rows_of(session, [1, 0, 1, 1] * 2)[1]
    values, masks = row[:-4], row[-4:]
    constraints = session.ballot.constraint_values(values.reshape(2, 4)).ravel()
    expected: list[int] = []
    for part, place in ((constraints, 0), (values, len(constraints))):
        for which in (1, 2):
            drawn = written_out(DIGEST, which, len(constraints) + len(values))[place:]
            mask = int(masks[len(expected)])
            dot = sum(a * int(b) for a, b in zip(drawn, part, strict=False))
            expected.append((dot + mask) % P)
    assert opened_values(DIGEST, constraints, values, masks) == expected


def polynomial(*coefficients: int) -> list[int]:
    return [sum(c * x**k for k, c in enumerate(coefficients)) % P for x in (1, 2, 3, 4, 5)]


def opened_of(p: list[int], q: list[int], seats: int) -> list[list[list[int]]]:
    """One contribution's values by seat; the second of each check is zero."""
    return [[[p[i], 0, q[i], 0]] for i in range(seats)]


@pytest.mark.parametrize(
    ("p", "q", "seats", "found"),
    [
        (polynomial(0, 5, 7), polynomial(3, 9), 3, None),
        (polynomial(1, 5, 7), polynomial(3, 9), 3, Failure.INVALID),
        (polynomial(0, 5, 7), polynomial(3, 9, 1), 3, Failure.INCONSISTENT),
        (polynomial(1, 5, 7), polynomial(3, 9, 1), 3, Failure.INCONSISTENT),
        (polynomial(0, 5, 7), polynomial(3, 9), 5, None),
        (polynomial(0, 5, 7, 2), polynomial(3, 9), 5, Failure.INVALID),
    ],
)
def test_verdicts_follow_from_degrees_and_the_value_at_zero(
    p: list[int], q: list[int], seats: int, found: Failure | None
) -> None:
    assert failures(opened_of(p, q, seats), 1) == [found]


def test_both_checks_count() -> None:
    fine = opened_of(polynomial(0, 5, 7), polynomial(3, 9), 3)
    for place in range(4):
        wrong = [[list(each) for each in of_seat] for of_seat in fine]
        wrong[2][0][place] = (wrong[2][0][place] + 1) % P
        assert failures(wrong, 1) != [None]


def test_one_keyholder_that_cannot_read_its_share_is_enough() -> None:
    fine = opened_of(polynomial(0, 5, 7), polynomial(3, 9), 3)
    values = [[of_seat[0], None if seat == 1 else of_seat[0]] for seat, of_seat in enumerate(fine)]
    assert failures(values, 1) == [None, Failure.UNREADABLE]
    assert failures([[None], [None], [None]], 1) == [Failure.UNREADABLE]


def test_a_row_lies_on_a_polynomial_or_not() -> None:
    rows = np.array([polynomial(1, 2, 3), polynomial(1, 2, 3, 4)], np.uint64)
    assert lies_on_each(2, [1, 2, 3, 4, 5], rows).tolist() == [True, False]
