"""Validity checks of a contribution on its shares, without opening it.

A contribution's bits b and its constraints c(b), which are 0 for a valid ballot (`Ballot`), are
shared by polynomials of degree t; c has degree 2t. Every keyholder i publishes

    Pₖ(i) = Σ r c(bᵢ) + zₖ(i)        Qₖ(i) = Σ s bᵢ + mₖ(i)        k = 1, 2

with coefficients r and s that nobody knows before the sealed shares are fixed: they are derived
from the hash of the signed text, which has the hashes of all shares (Fiat & Shamir 1986). The
worker dealt z, a random polynomial of degree 2t with z(0) = 0, and m, a random one of degree t. The
contribution passes if Q₁ and Q₂ lie on polynomials of degree t and P₁ and P₂ on ones of degree 2t
that are 0 at 0.

*Sound*: shares that lie on no polynomial of degree t, or bits with c(b) ≠ 0, pass each of the two
with probability 1/p, both with 2⁻¹²², for each text that is tried.

*Private*: for a valid contribution, P and Q are uniform among the polynomials that go through the
values that t keyholders know already. The published values depend on the contribution alone, so
asking twice, or in another batch, reveals nothing more.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sottovoce.errors import absent
from sottovoce.securesum.committee.terms import CHECKS
from sottovoce.securesum.field import WIDTH, Elements, P, add, dot, lagrange

try:
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.algorithms import AES256
    from cryptography.hazmat.primitives.ciphers.modes import CTR
except ImportError:
    if not TYPE_CHECKING:
        Cipher = AES256 = CTR = absent("cryptography", purpose="checking answers", extra="secure")


MASKS = 2 * CHECKS
"""Elements after the bits of a contribution: z₁, z₂, m₁, m₂."""

_P = np.uint64(P)


class Failure(StrEnum):
    """Why a contribution is dropped."""

    UNREADABLE = "unreadable"
    """A keyholder could not open its share, or it had no field elements."""
    INCONSISTENT = "inconsistent"
    """The shares lie on no polynomial of degree t: keyholders would add up different values."""
    INVALID = "invalid"
    """A bit is neither 0 nor 1, or the bits of a task are inconsistent."""


def coefficients(digest: str, which: int, count: int) -> Elements:
    """Pseudorandom elements from a contribution's digest: AES-256 in counter mode."""
    key = hashlib.sha256(b"sottovoce-check/1\0" + bytes.fromhex(digest) + bytes([which])).digest()
    stream = Cipher(AES256(key), CTR(bytes(16))).encryptor().update(bytes(WIDTH * count))
    words = np.frombuffer(stream, "<u8") & _P
    words[words == _P] = 0
    return words


def opened_values(
    digest: str, constraints: Elements, values: Elements, masks: Elements
) -> list[int]:
    """P₁, P₂, Q₁, Q₂ of one keyholder; only the Qs if there are no constraints (deals).

    `constraints` are those of the keyholder's shares, `values` the shares themselves.
    """
    first, count = len(constraints), len(constraints) + len(values)
    drawn = np.stack([coefficients(digest, which + 1, count) for which in range(CHECKS)])
    opened = dot(drawn[:, first:], values)
    if first:
        opened = np.concatenate([dot(drawn[:, :first], constraints), opened])
    return [int(value) for value in add(opened, masks)]


def failures(values: Sequence[Sequence[Sequence[int] | None]], degree: int) -> list[Failure | None]:
    """The fault of each contribution (None: valid), from all keyholders' values.

    `values[i][j]` are the check values of contribution j by the keyholder at seat i + 1: two or
    four elements, or None if it could not read its share.
    """
    seats, count = len(values), len(values[0])
    found: list[Failure | None] = [Failure.UNREADABLE] * count
    readable = [j for j in range(count) if all(of_seat[j] is not None for of_seat in values)]
    if not readable:
        return found
    table = np.array([[of_seat[j] for of_seat in values] for j in readable], np.uint64)
    opened = table.transpose(0, 2, 1)  # contribution, P₁ P₂ Q₁ Q₂, seat
    points = range(1, seats + 1)
    consistent = np.all(lies_on_each(degree, points, opened[:, -2:]), axis=1)
    through_zero = np.concatenate([np.zeros_like(opened[..., :1]), opened], axis=2)[:, :-2]
    valid = np.all(lies_on_each(2 * degree, range(seats + 1), through_zero), axis=1)
    for j, is_consistent, is_valid in zip(
        readable, consistent.tolist(), valid.tolist(), strict=True
    ):
        wrong = None if is_valid else Failure.INVALID
        found[j] = wrong if is_consistent else Failure.INCONSISTENT
    return found


def lies_on_each(degree: int, points: Sequence[int], values: Elements) -> npt.NDArray[np.bool_]:
    """For every row of values at these points whether a polynomial of this degree goes through.

    The first degree + 1 values determine it; the others must agree.
    """
    known = degree + 1
    fine = np.ones(values.shape[:-1], np.bool_)
    for place in range(known, len(points)):
        weights = np.array(lagrange(points[:known], points[place]), np.uint64)
        fine &= dot(values[..., :known], weights) == values[..., place]
    return fine
