"""A worker's contribution to a round: its ciphertexts and its announcement, as bytes.

It commits to a hash of them before it has seen any other's.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeGuard

from sottovoce.errors import SealedRefused
from sottovoce.securesum.envelope import CONTEXT, canonical
from sottovoce.securesum.star.damgard_jurik.encrypting import is_ciphertext, product
from sottovoce.securesum.star.damgard_jurik.integers import bytes_of, integer_of
from sottovoce.securesum.star.damgard_jurik.keys import PublicKey
from sottovoce.securesum.star.frames import Frame
from sottovoce.securesum.star.rounds import RoundStart

__all__ = [
    "Contribution",
    "check_units",
    "commitment",
    "is_digest",
    "note_distinct",
    "read_contribution",
    "read_numbers",
    "read_units",
    "units_content",
]


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one worker has contributed: the frame's digest, ciphertexts and announcement."""

    digest: str
    ciphertexts: list[int] = field(repr=False)
    announced: int = field(repr=False)

    @property
    def units(self) -> list[int]:
        """All its numbers."""
        return [*self.ciphertexts, self.announced]


def units_content(public: PublicKey, units: Iterable[int]) -> bytes:
    """Ciphertexts, or partial decryptions, one after the other, each of the same length."""
    return b"".join(bytes_of(each, public.length) for each in units)


def read_units(public: PublicKey, content: bytes, count: int, culprit: str) -> list[int]:
    """So many units from 1 to nˢ⁺¹ - 1, written in the one way they are written."""
    units = read_numbers(public, content, count, culprit)
    check_units(public, [product(public, units)], culprit)
    return units


def read_numbers(public: PublicKey, content: bytes, count: int, culprit: str) -> list[int]:
    """So many numbers from 1 to nˢ⁺¹ - 1; whether they are units is still to be seen."""
    length = public.length
    if len(content) != count * length:
        raise SealedRefused(culprit, f"it sent {len(content):,} bytes, not {count * length:,}")
    units = [integer_of(content[at : at + length]) for at in range(0, len(content), length)]
    if not all(0 < each < public.modulus for each in units):
        raise SealedRefused(culprit, "it sent a number that is out of range")
    return units


def check_units(public: PublicKey, products: Iterable[int], culprit: str) -> None:
    """Refuse products of numbers that are not all units.

    A product has a factor in common with n exactly if one of its factors has: one test does for
    all of them.
    """
    if not all(is_ciphertext(public, each) for each in products):
        raise SealedRefused(culprit, "it sent a number that has a factor in common with n")


def read_contribution(public: PublicKey, frame: Frame, count: int, culprit: str) -> Contribution:
    """The contribution in a frame: so many ciphertexts, then the announcement.

    Whether they are units is still to be seen (`check_units`).
    """
    *ciphertexts, announced = read_numbers(public, frame.payload, count + 1, culprit)
    return Contribution(frame.digest, ciphertexts, announced)


def commitment(start: RoundStart, number: int, content: bytes) -> str:
    """What a worker says of its contribution before it has seen any other: a hash.

    It is bound to the worker: a copy of somebody's hash fits no contribution of one's own. It
    hides enough, since ciphertexts are as unpredictable as their blinds.
    """
    purpose = {"kind": "commitment", "round": start.round, "session": start.terms.id,
               "worker": number}  # fmt: skip
    head = CONTEXT + canonical(purpose).encode("ascii") + b"\0"
    return hashlib.sha256(head + content).hexdigest()


def is_digest(value: object) -> TypeGuard[str]:
    """Whether this is a hash as `commitment` writes it."""
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None


def note_distinct(seen: set[bytes], content: bytes, length: int, culprit: str) -> None:
    """Add a contribution's units to those seen; refused where one is there already.

    An honest ciphertext never comes twice: its blind is fresh. The second one was copied.
    """
    units = [content[at : at + length] for at in range(0, len(content), length)]
    new = set(units)
    if len(new) != len(units) or not seen.isdisjoint(new):
        raise SealedRefused(culprit, "the same ciphertext is there twice: one was copied")
    seen |= new
