"""The keys of one worker for one round: a pair from which masks are agreed, and a seed.

They are fresh in every round. The mask key of a worker who falls silent is recovered, and with it
all masks it ever agreed on under that key: had it served an earlier round too, where the worker's
own mask was opened, the server could bare that round's contribution. And the key of the channels
(`channels`) is another one, so that nobody who recovers a mask key can read the shares of others.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Self

from sottovoce.errors import absent
from sottovoce.securesum.star.masked.ciphers import derived
from sottovoce.securesum.star.rounds import RoundStart

try:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
except ImportError:
    if not TYPE_CHECKING:
        X25519PrivateKey = X25519PublicKey = absent(
            "cryptography", purpose="masking sums", extra="secure"
        )

__all__ = ["KEY", "Pair", "bound", "is_small", "pair_key", "salt", "self_key"]

KEY = 32
"""Bytes of a key, public or private, and of a seed."""

_PRIME = 2**255 - 19
_ORDER_8 = (
    325606250916557431795983626356110631294008115727848805560023387167927233504,
    39382357235489614581723060781553021112529911719440698176882885853963445705823,
)
_SMALL = frozenset({0, 1, *_ORDER_8, _PRIME - 1, _PRIME, _PRIME + 1})
"""Points with which every agreement is zero, and every way to write them (RFC 7748, section 7)."""

_ENDS = struct.Struct("<II")


@dataclass(frozen=True, slots=True)
class Pair:
    """An X25519 key pair (RFC 7748). The private key is 32 bytes from the operating system."""

    private: bytes = field(repr=False)
    public: bytes = field(init=False)
    _key: X25519PrivateKey = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        key = X25519PrivateKey.from_private_bytes(self.private)
        object.__setattr__(self, "_key", key)
        object.__setattr__(self, "public", key.public_key().public_bytes_raw())

    @classmethod
    def fresh(cls) -> Self:
        """A new pair."""
        return cls(os.urandom(KEY))

    def agreed(self, public: bytes) -> bytes:
        """What the owners of both keys, and nobody else, can compute."""
        return self._key.exchange(X25519PublicKey.from_public_bytes(public))


def pair_key(start: RoundStart, own: int, pair: Pair, peer: int, public: bytes) -> bytes:
    """The key of the mask that two workers have in common; both derive the same."""
    if own < peer:
        info = bound("pair", start, own, peer, pair.public, public)
    else:
        info = bound("pair", start, peer, own, public, pair.public)
    return derived(pair.agreed(public), salt(start), info)


def self_key(start: RoundStart, number: int, seed: bytes) -> bytes:
    """The key of the mask that is a worker's own, from its seed b."""
    return derived(seed, salt(start), bound("self", start, number, number))


def bound(purpose: str, start: RoundStart, one: int, other: int, *keys: bytes) -> bytes:
    """What binds a key to its purpose, session, round, workers and their public keys."""
    return b"".join((_where(purpose, start.terms.id, start.round), _ENDS.pack(one, other), *keys))


def salt(start: RoundStart) -> bytes:
    """The session, to derive keys in."""
    return bytes.fromhex(start.terms.id)


def is_small(public: bytes) -> bool:
    """Whether everybody who agrees on something with this key agrees on zero."""
    return int.from_bytes(public, "little") & ((1 << 255) - 1) in _SMALL


@lru_cache(maxsize=256)
def _where(purpose: str, session: str, round: int) -> bytes:
    head = f"sottovoce-star/1 masked {purpose}\0".encode("ascii")
    return head + bytes.fromhex(session) + round.to_bytes(8, "little")
