"""Threshold decryption: each holder's part, and opening with enough of the parts.

    c_i = c^(2 Δ f(i)) modulo nˢ⁺¹                                      holder i's part

(Damgård and Jurik, PKC 2001, after Shoup, EUROCRYPT 2000). The 2 makes it a square, and with Δ = ℓ!
nobody needs to divide by the unknown order of the group.

Parts are combined by Lagrange in the exponent, then a logarithm. For a set S of θ holders,
λ_i = D Π_{i' ∈ S, i' ≠ i} i' / (i' - i) are integers if D is a common
multiple of the denominators, and Σ λ_i f(i) = D f(0) = D d modulo nˢ m. All squares have an order
that divides nˢ m, and c_i² is one, so

    c' = Π c_i^(2 λ_i) = c^(4 Δ D d) = (1 + n)^(4 Δ D · message)       since d = 0 mod m, 1 mod nˢ

(Damgård and Jurik, PKC 2001, with D = Δ; any common multiple works, and the least one makes the
exponents short). The rest is the logarithm to base 1 + n, which is easy (`logarithm`), and a
division by 4 Δ D modulo nˢ, which has no factor in common with n.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from math import factorial, lcm, prod

from sottovoce.errors import UsageError
from sottovoce.securesum.damgard_jurik.keys import KeyShare, PublicKey
from sottovoce.securesum.damgard_jurik.number_theory import (
    invert,
    mpz,
    powmod_sec,
    product_of_powers,
)


@lru_cache(maxsize=256)
def lagrange(points: tuple[int, ...], at: int = 0) -> tuple[int, tuple[int, ...]]:
    """D and the D λ_i: f(at) = Σ λ_i f(i) for polynomials of degree below the number of points.

    >>> lagrange((1, 2, 4))
    (3, (8, -6, 1))
    """
    exact = [
        prod(
            (Fraction(at - other, each - other) for other in points if other != each),
            start=Fraction(1),
        )
        for each in points
    ]
    common = lcm(*(one.denominator for one in exact))
    return common, tuple(int(one * common) for one in exact)


def combine(public: PublicKey, partials: Mapping[int, Sequence[int]]) -> list[int] | None:
    """The messages of several ciphertexts, from the partial decryptions of exactly θ holders.

    None if the result is not a power of 1 + n: then some partial decryption was wrong. A power
    proves nothing (`proofs.prove` does).
    """
    if len(partials) != public.threshold:
        raise UsageError(f"{public.threshold} holders open a ciphertext, not {len(partials)}")
    points = tuple(sorted(partials))
    common, coefficients = lagrange(points)
    doubled = [2 * each for each in coefficients]
    unscale = invert(4 * public.delta * common, public.messages)
    messages = []
    for row in zip(*(partials[point] for point in points), strict=True):
        power = product_of_powers(row, doubled, public.modulus)
        if power % public.n != 1:
            return None
        messages.append(logarithm(public.n, public.s, power) * unscale % public.messages)
    return messages


def logarithm(n: int, s: int, power: int) -> int:
    """The i below nˢ with (1 + n)^i = power modulo nˢ⁺¹ (Damgård and Jurik, PKC 2001).

    With L(b) = (b - 1) / n, and i known modulo nʲ⁻¹ from the previous turn:

        i mod nʲ = L(power mod nʲ⁺¹) - Σ_{k=2…j} (i over k) nᵏ⁻¹  modulo nʲ
    """
    found = mpz(0)
    for j in range(1, s + 1):
        modulus = mpz(n) ** j
        rest, falling, left = (power % (modulus * n) - 1) // n, found, found
        for k in range(2, j + 1):
            left -= 1
            falling = falling * left % modulus
            rest -= falling * mpz(n) ** (k - 1) * _inverse(k, modulus)
        found = rest % modulus
    return found


@lru_cache(maxsize=64)
def _inverse(k: int, modulus: int) -> int:
    """1 / k! modulo nʲ."""
    return invert(factorial(k), modulus)


def partial(public: PublicKey, share: KeyShare, ciphertext: int) -> int:
    """The holder's partial decryption of a ciphertext; in constant time."""
    exponent = 2 * public.delta * share.value
    return powmod_sec(ciphertext, exponent, public.modulus)


def holds_share(public: PublicKey, share: KeyShare) -> bool:
    """Whether v^(Δ f(i)) is the holder's verifier; in constant time."""
    if not (1 <= share.number <= public.holders and 0 < share.value < public.modulus):
        return False
    power = powmod_sec(public.v, public.delta * share.value, public.modulus)
    return bool(power == public.verifiers[share.number - 1])
