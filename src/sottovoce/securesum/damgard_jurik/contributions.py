"""A worker's contribution to a round: its ciphertexts and its announcement, as bytes.

The worker commits to a hash of them before it has seen any other's. Workers and the server derive
the same from the contributions of a round (`Gathered`, `Products`).

Many sums go into few ciphertexts: each message has a tally in its lowest bits, which is 1 for every
worker, and then as many slots (`codec.Packing`) as fit. So each opened message gives the number of
workers in it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeGuard

import numpy as np

from sottovoce.errors import SealedRefused, UsageError
from sottovoce.model.sum_rounds import Integers, SumSpec
from sottovoce.securesum.codec import Packing
from sottovoce.securesum.damgard_jurik.encryption import is_ciphertext, product
from sottovoce.securesum.damgard_jurik.keys import PublicKey
from sottovoce.securesum.damgard_jurik.number_theory import bytes_of, integer_of
from sottovoce.securesum.damgard_jurik.proofs import ProofResponse, challenges, holds
from sottovoce.securesum.envelope import CONTEXT, canonical
from sottovoce.securesum.star.confirmation import ProposedSet, listed
from sottovoce.securesum.star.messages import SignedFrame
from sottovoce.securesum.star.suite import RoundStart


@dataclass(frozen=True, slots=True)
class EncryptedContribution:
    """One worker's contribution: the frame's digest, ciphertexts and announcement."""

    digest: str
    ciphertexts: list[int] = field(repr=False)
    announced: int = field(repr=False)

    @property
    def units(self) -> list[int]:
        """All its numbers."""
        return [*self.ciphertexts, self.announced]


def units_content(public: PublicKey, units: Iterable[int]) -> bytes:
    """Ciphertexts, or partial decryptions, concatenated, each of the same length."""
    return b"".join(bytes_of(each, public.length) for each in units)


def read_units(public: PublicKey, content: bytes, count: int, culprit: str) -> list[int]:
    """`count` units from 1 to nˢ⁺¹ - 1, in their canonical encoding."""
    units = read_numbers(public, content, count, culprit)
    check_units(public, [product(public, units)], culprit)
    return units


def read_numbers(public: PublicKey, content: bytes, count: int, culprit: str) -> list[int]:
    """`count` numbers from 1 to nˢ⁺¹ - 1; whether they are units is checked later."""
    length = public.length
    if len(content) != count * length:
        raise SealedRefused(culprit, f"it sent {len(content):,} bytes, not {count * length:,}")
    units = [integer_of(content[at : at + length]) for at in range(0, len(content), length)]
    if not all(0 < each < public.modulus for each in units):
        raise SealedRefused(culprit, "it sent a number that is out of range")
    return units


def check_units(public: PublicKey, products: Iterable[int], culprit: str) -> None:
    """Refuse products of numbers that are not all units.

    A product has a factor in common with n exactly if one of its factors has, so one test covers
    all of them.
    """
    if not all(is_ciphertext(public, each) for each in products):
        raise SealedRefused(culprit, "it sent a number that has a factor in common with n")


def read_contribution(
    public: PublicKey, frame: SignedFrame, count: int, culprit: str
) -> EncryptedContribution:
    """The contribution in a frame: `count` ciphertexts, then the announcement.

    Whether they are units is checked later (`check_units`).
    """
    *ciphertexts, announced = read_numbers(public, frame.payload, count + 1, culprit)
    return EncryptedContribution(frame.digest, ciphertexts, announced)


def commitment(start: RoundStart, number: int, content: bytes) -> str:
    """The hash that a worker publishes before it has seen any other contribution.

    It is bound to the worker: a copied hash fits no contribution of the copier. It hides enough,
    because ciphertexts are as unpredictable as their blinds.
    """
    purpose = {
        "kind": "commitment",
        "round": start.round,
        "session": start.terms.id,
        "worker": number,
    }
    head = CONTEXT + canonical(purpose).encode("ascii") + b"\0"
    return hashlib.sha256(head + content).hexdigest()


def is_digest(value: object) -> TypeGuard[str]:
    """Whether this is a hash as `commitment` writes it."""
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None


def note_distinct(seen: set[bytes], content: bytes, length: int, culprit: str) -> None:
    """Add a contribution's units to those seen; refuses a repeated one.

    An honest ciphertext never repeats: its blind is fresh. The second one was copied.
    """
    units = [content[at : at + length] for at in range(0, len(content), length)]
    new = set(units)
    if len(new) != len(units) or not seen.isdisjoint(new):
        raise SealedRefused(culprit, "the same ciphertext occurs twice: one was copied")
    seen |= new


@dataclass(frozen=True, slots=True)
class PlaintextLayout:
    """The layout of one sum of at most `workers` workers, in messages of `bits` bits.

    >>> slots = PlaintextLayout(SumSpec(values=3, greatest=10), workers=3, bits=16)
    >>> slots.messages, slots.pack(np.array([7, 0, 10]))
    (2, [57, 81])
    >>> slots.unpack([57 + 9, 81 + 41], workers=2)
    array([ 8,  0, 15])
    """

    spec: SumSpec
    workers: int
    bits: int

    def __post_init__(self) -> None:
        if self.values.most >= 1 << 63:
            raise UsageError(
                f"{self.workers:,} workers with values up to {self.spec.greatest:,} add up to more "
                "than 63 bits: lower the scale"
            )
        if self.each < 1:
            raise UsageError("a ciphertext has no room for one value: take a larger key")

    @property
    def tally(self) -> Packing:
        """The slot of the ones."""
        return Packing(1, self.workers)

    @property
    def values(self) -> Packing:
        """The slots of the values."""
        return Packing(self.spec.greatest, self.workers)

    @property
    def each(self) -> int:
        """The number of values in a message."""
        return self.values.slots(self.bits - self.tally.width)

    @property
    def messages(self) -> int:
        """The number of messages in a contribution."""
        return -(-self.spec.values // self.each)

    def pack(self, values: Integers) -> list[int]:
        """One worker's messages."""
        packing, shift = self.values, self.tally.width
        return [
            1 | packing.pack(values[start : start + self.each].tolist()) << shift
            for start in range(0, self.spec.values, self.each)
        ]

    def unpack(self, messages: list[int], workers: int) -> Integers | None:
        """The totals of `workers` workers; None if these messages are impossible."""
        shift, totals = self.tally.width, list[int]()
        for message in map(int, messages):
            if message & (1 << shift) - 1 != workers:
                return None
            count = min(self.each, self.spec.values - len(totals))
            try:
                totals += self.values.unpack(message >> shift, count)
            except UsageError:
                return None
        if max(totals) > workers * self.spec.greatest:
            return None
        return np.array(totals, np.int64)


@dataclass(frozen=True, slots=True)
class Products:
    """The products of some workers' ciphertexts at each position, and of their announcements."""

    ciphertexts: list[int]
    announced: int

    @property
    def units(self) -> list[int]:
        """All of them."""
        return [*self.ciphertexts, self.announced]


@dataclass(frozen=True)
class Gathered:
    """All contributions of a round, and the commitments that came before them."""

    start: RoundStart
    public: PublicKey = field(repr=False)
    commits: Mapping[int, str]
    contributions: Mapping[int, EncryptedContribution]

    @cached_property
    def shown(self) -> str:
        """The name of the data shown to all: contributions, commitments, key and history."""
        return ProposedSet(self.start, self._digests(self.members), self._pins({})).digest

    @property
    def members(self) -> frozenset[int]:
        """The numbers of the workers who contributed."""
        return frozenset(self.contributions)

    @cached_property
    def challenges(self) -> list[int]:
        """The challenges by which each worker proves that it knows its plaintexts."""
        count = len(next(iter(self.contributions.values())).ciphertexts)
        return challenges(self.public, self.shown, count)

    def proposed(self, members: frozenset[int]) -> ProposedSet:
        """The set of these members, as it is confirmed."""
        return ProposedSet(self.start, self._digests(members), self._pins({"shown": self.shown}))

    @cached_property
    def everything(self) -> Products:
        """The products of all contributions."""
        return self._products(self.members)

    def products(self, members: frozenset[int]) -> Products:
        """The products of these members' contributions."""
        return self.everything if members == self.members else self._products(members)

    def _products(self, members: frozenset[int]) -> Products:
        chosen = [self.contributions[each] for each in sorted(members)]
        columns = zip(*(each.ciphertexts for each in chosen), strict=True)
        return Products(
            [product(self.public, column) for column in columns],
            product(self.public, (each.announced for each in chosen)),
        )

    def known(self, products: Products, answer: ProofResponse) -> bool:
        """Whether the answer proves knowledge of the plaintexts of these products."""
        return holds(self.public, answer, products.announced, self.challenges, products.ciphertexts)

    def _digests(self, members: frozenset[int]) -> dict[int, str]:
        return {each: self.contributions[each].digest for each in members}

    def _pins(self, more: Mapping[str, str]) -> dict[str, object]:
        return {"commits": listed(self.commits), "key": self.public.id, **more}


def plaintext_layout(public: PublicKey, start: RoundStart) -> PlaintextLayout:
    """The layout of a round's sum, for a key that is this session's."""
    terms = start.terms
    if (public.holders, public.threshold) != (terms.size + 1, terms.threshold):
        raise UsageError(
            f"the key is for {public.threshold} of {public.holders} holders, but the session "
            f"needs {terms.threshold} of {terms.size + 1}"
        )
    return PlaintextLayout(start.spec, terms.size, public.message_bits)


def proof_context(proposed: ProposedSet, number: int) -> bytes:
    """The context of a proof in addition to the values: session, round, sender and set."""
    start = proposed.start
    purpose = {
        "round": start.round,
        "sender": number,
        "session": start.terms.id,
        "set": proposed.digest,
    }
    return canonical(purpose).encode("ascii")
