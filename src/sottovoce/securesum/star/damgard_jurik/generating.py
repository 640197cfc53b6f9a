"""Making a threshold key: primes, the secret, its shares, and what they are checked against.

Whoever runs this knows p and q and could decrypt everything. Python cannot overwrite integers:
that the primes, the secret and the polynomial are forgotten means that nothing refers to them any
more once a function returns, and that the process should end soon after. Until its memory is used
for something else, whoever can read it, a swap file or a core dump can find them there.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial

from sottovoce.errors import UsageError
from sottovoce.securesum.star.damgard_jurik.integers import (
    below,
    invert,
    mpz,
    powmod,
    powmod_sec,
    unit_below,
)
from sottovoce.securesum.star.damgard_jurik.keys import KeyShare, PublicKey
from sottovoce.securesum.star.damgard_jurik.primes import safe_prime

__all__ = ["generate", "key_of"]


def generate(
    bits: int, s: int, threshold: int, holders: int
) -> tuple[PublicKey, tuple[KeyShare, ...]]:
    """A fresh key with n of so many bits, and the shares of holders 1 … ℓ."""
    if bits % 2:
        raise UsageError(f"n is a product of two primes of the same size: {bits} bits are odd")
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
