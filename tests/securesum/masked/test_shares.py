"""Secrets in pieces: recovered from enough of them, and from nothing else."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.securesum.field import P
from sottovoce.securesum.masked.shares import (
    PIECE,
    commitment,
    commitments,
    dealt,
    joined,
    pieces_in,
    well_formed,
)

SECRETS = st.binary(min_size=32, max_size=32)


@given(one=SECRETS, other=SECRETS)
def test_enough_pieces_of_any_seats_give_the_secrets(one: bytes, other: bytes) -> None:
    seats = dealt((one, other), 2, 5)
    for points in combinations(range(1, 6), 3):
        rows = [pieces_in(seats[point - 1]) for point in points]
        assert joined(list(points), rows) == [one, other]


@pytest.mark.parametrize("secret", [bytes(32), b"\xff" * 32, bytes(31) + b"\x80"])
def test_the_least_and_greatest_secrets_come_back(secret: bytes) -> None:
    seats = dealt((secret,), 1, 3)
    assert joined([1, 3], [[seats[0]], [seats[2]]]) == [secret]


def test_pieces_that_are_of_no_secret_give_none() -> None:
    # f(0) = 2 f(1) - f(2) is beyond 2^56 if f(1) is the field's greatest and f(2) is 0.
    wrong = bytes(16) + (P - 1).to_bytes(8, "little") * 5
    assert joined([1, 2], [[wrong], [bytes(PIECE)]]) == [None]
    assert joined([1, 2], [[bytes(PIECE)], [bytes(PIECE)]]) == [bytes(32)]


def test_pieces_of_one_secret_are_dealt_differently_each_time() -> None:
    one, other = (dealt((bytes(32),), 1, 3)[0] for _ in range(2))
    assert one[:16] != other[:16]
    assert one[16:] != other[16:]


def test_pieces_are_cut_where_they_were_joined() -> None:
    pieces = dealt((bytes(32),), 1, 3)
    assert pieces_in(b"".join(pieces)) == pieces


def test_a_commitment_is_sha_256() -> None:
    # FIPS 180-4, the example "abc".
    expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert commitment(b"abc").hex() == expected
    assert commitments((b"abc", b"")).hex() == expected + commitment(b"").hex()


def test_a_share_that_is_no_element_is_seen() -> None:
    piece = b"\xff" * 16 + dealt((bytes(32),), 1, 3)[0][16:]
    wrong = piece[: PIECE - 8] + P.to_bytes(8, "little")
    assert well_formed(piece + wrong + piece) == [True, False, True]
    assert well_formed(b"") == []


@pytest.mark.statistical
def test_too_few_pieces_say_nothing_of_the_secret() -> None:
    """The low bits of one share of degree 1: as often set for one secret as for another.

    1,000 shares each; the counts differ by six standard deviations once in 10⁹.
    """

    def ones(secret: bytes) -> int:
        pieces = [dealt((secret,), 1, 3)[0] for _ in range(1000)]
        return sum(piece[16] & 1 for piece in pieces)

    assert abs(ones(bytes(32)) - ones(b"\xff" * 32)) < 6.2 * (2 * 1000 / 4) ** 0.5
