"""The threshold key of Damgård and Jurik: its public part, the shares, and its generation.

n = p q for safe primes p = 2p' + 1 and q = 2q' + 1, and m = p' q'. Messages are integers modulo nˢ,
ciphertexts are units modulo nˢ⁺¹. The squares among those are a cyclic group of order nˢ m, whose
prime factors are all huge: without m, there are no small subgroups to find.

The secret d is 0 modulo m and 1 modulo nˢ. It is the constant of a random polynomial f of degree
θ - 1 modulo nˢ m; holder i of ℓ has f(i), and Δ = ℓ! (Damgård and Jurik, PKC 2001).

The generator of a key knows p and q and could decrypt everything. Python cannot overwrite integers:
discarding the primes, the secret and the polynomial means that nothing refers to them once a
function returns, and that the process should end soon after. Until its memory is reused, anyone who
can read it, a swap file or a core dump can find them there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import factorial

from sottovoce.errors import UsageError
from sottovoce.securesum.damgard_jurik.number_theory import (
    below,
    bytes_of,
    invert,
    length_of,
    mpz,
    powmod,
    powmod_sec,
    safe_prime,
    unit_below,
)
from sottovoce.securesum.envelope import canonical, sha256_hex


@dataclass(frozen=True)
class PublicKey:
    """The public part of a key.

    `h` generates the blinds, `v` is a random square modulo nˢ⁺¹, and `verifiers` has
    v_i = v^(Δ f(i)) for the holders i = 1 … ℓ: a partial decryption is proven against it.
    """

    n: int
    s: int
    threshold: int
    h: int = field(repr=False)
    v: int = field(repr=False)
    verifiers: tuple[int, ...] = field(repr=False)

    def __post_init__(self) -> None:
        if self.s < 1:
            raise UsageError(f"s must be at least 1, not {self.s}")
        if not 1 <= self.threshold <= self.holders:
            raise UsageError(
                f"{self.threshold} of {self.holders} holders cannot open anything: the threshold "
                "must be from 1 to the number of holders"
            )

    @property
    def holders(self) -> int:
        """ℓ: the number of shares."""
        return len(self.verifiers)

    @cached_property
    def delta(self) -> int:
        """Δ = ℓ!: times it, every Lagrange coefficient is an integer."""
        return mpz(factorial(self.holders))

    @cached_property
    def messages(self) -> int:
        """nˢ: a message is below it."""
        return mpz(self.n**self.s)

    @cached_property
    def modulus(self) -> int:
        """nˢ⁺¹: a ciphertext is below it."""
        return mpz(self.n ** (self.s + 1))

    @cached_property
    def message_bits(self) -> int:
        """Every integer of this many bits is a message."""
        return int(self.messages).bit_length() - 1

    @cached_property
    def length(self) -> int:
        """Bytes of a ciphertext, a partial decryption or a share."""
        return length_of(self.modulus)

    @cached_property
    def id(self) -> str:
        """SHA-256 of the key, in hexadecimal, to which shares and proofs are bound."""
        rows = [bytes_of(each, self.length) for each in (self.n, self.h, self.v, *self.verifiers)]
        numbers = hashlib.sha256(b"".join(rows)).hexdigest()
        return sha256_hex(canonical({"numbers": numbers, "s": self.s, "threshold": self.threshold}))


@dataclass(frozen=True, slots=True)
class KeyShare:
    """Holder i's share of the secret: f(i). It is in no repr, log or error."""

    number: int
    value: int = field(repr=False)


def generate(
    bits: int, s: int, threshold: int, holders: int
) -> tuple[PublicKey, tuple[KeyShare, ...]]:
    """A fresh key with n of `bits` bits, and the shares of holders 1 … ℓ."""
    if bits % 2:
        raise UsageError(
            f"n is a product of two primes of the same size: its bits must be even, not {bits}"
        )
    p = q = safe_prime(bits // 2)
    while q == p:
        q = safe_prime(bits // 2)
    return key_of(p, q, s, threshold, holders)


def key_of(
    p: int, q: int, s: int, threshold: int, holders: int
) -> tuple[PublicKey, tuple[KeyShare, ...]]:
    """The key of two different safe primes (Damgård and Jurik, PKC 2001).

    d = 0 modulo m = p' q' and d = 1 modulo nˢ: d = m (m⁻¹ mod nˢ).
    """
    n, order = mpz(p) * q, mpz(p // 2) * (q // 2)
    messages, modulus = n**s, n ** (s + 1)
    secret = order * invert(order, messages)
    values = _shared(secret, messages * order, threshold, holders)
    v = powmod(unit_below(modulus), 2, modulus)
    delta = mpz(factorial(holders))
    public = PublicKey(
        n,
        s,
        threshold,
        h=-powmod(unit_below(n), 2, n) % n,
        v=v,
        verifiers=tuple(powmod_sec(v, delta * value, modulus) for value in values),
    )
    return public, tuple(KeyShare(number, value) for number, value in enumerate(values, 1))


def _shared(secret: int, order: int, threshold: int, holders: int) -> list[int]:
    """f(1) … f(ℓ) of a random polynomial of degree θ - 1 with f(0) = secret, by Horner."""
    coefficients = [secret, *(below(order) for _ in range(threshold - 1))]
    return [_evaluated(coefficients, point, order) for point in range(1, holders + 1)]


def _evaluated(coefficients: Sequence[int], point: int, order: int) -> int:
    value = mpz(0)
    for each in reversed(coefficients):
        value = (value * point + each) % order
    return value
