"""Keys that are fast to make and insecure: for the mathematics, which holds at any size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from sottovoce.securesum.damgard_jurik.decryption import combine, partial
from sottovoce.securesum.damgard_jurik.encryption import encrypt, full_blind
from sottovoce.securesum.damgard_jurik.keys import KeyShare, PublicKey, key_of
from sottovoce.securesum.damgard_jurik.number_theory import safe_prime

__all__ = ["decrypted", "encrypted", "primes", "small_key"]

BITS = 160
"""Of each prime: more than the 128 bits below which a proof in a batch would not be sound."""


@cache
def primes() -> tuple[int, int]:
    """Two safe primes."""
    p = q = safe_prime(BITS)
    while q == p:
        q = safe_prime(BITS)
    return int(p), int(q)


def small_key(
    s: int = 1, threshold: int = 3, holders: int = 5
) -> tuple[PublicKey, tuple[KeyShare, ...]]:
    """A key of these primes: the same for the same numbers."""
    return _dealt(s, threshold, holders)


@cache
def _dealt(s: int, threshold: int, holders: int) -> tuple[PublicKey, tuple[KeyShare, ...]]:
    return key_of(*primes(), s, threshold, holders)


def encrypted(public: PublicKey, message: int) -> int:
    """A ciphertext of a message."""
    return encrypt(public, message, full_blind(public))


def decrypted(
    public: PublicKey, shares: Iterable[KeyShare], ciphertexts: Sequence[int]
) -> list[int] | None:
    """The messages that these holders open together."""
    return combine(
        public, {share.number: [partial(public, share, each) for each in ciphertexts]
                 for share in shares}
    )  # fmt: skip
