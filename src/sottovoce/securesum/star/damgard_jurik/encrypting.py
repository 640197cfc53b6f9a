"""Encryption after Damgård and Jurik: c = (1 + n)^m · blind modulo nˢ⁺¹.

A blind is an nˢ-th power of a random unit: r^(nˢ) (PKC 2001), or h^(nˢ ρ) for a short
random ρ (`blinding`). The product of ciphertexts is a ciphertext of the sum.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import factorial

from sottovoce.errors import UsageError
from sottovoce.securesum.star.damgard_jurik.integers import gcd, invert, mpz, powmod, unit_below
from sottovoce.securesum.star.damgard_jurik.keys import PublicKey

__all__ = ["encrypt", "full_blind", "is_ciphertext", "power_of_generator", "product"]


def power_of_generator(public: PublicKey, message: int) -> int:
    """(1 + n)^m modulo nˢ⁺¹, by the s + 1 terms of its binomial that do not vanish.

        (1 + n)^m = Σ_{k ≤ s} (m over k) nᵏ

    (m over k) is m (m - 1) … (m - k + 1) / k!, and k! is invertible modulo nˢ⁺¹.
    """
    modulus = public.modulus
    total, falling, power = mpz(1), mpz(1), mpz(1)
    for k in range(1, public.s + 1):
        falling = falling * (message - k + 1) % modulus
        power *= public.n
        inverse = 1 if k == 1 else invert(factorial(k), modulus)
        total += falling * inverse % modulus * power
    return total % modulus


def full_blind(public: PublicKey, unit: int | None = None) -> int:
    """r^(nˢ) for a random unit r: slow, and needs no assumption but Damgård's and Jurik's."""
    drawn = unit_below(public.n) if unit is None else mpz(unit)
    return powmod(drawn, public.messages, public.modulus)


def encrypt(public: PublicKey, message: int, blind: int) -> int:
    """The ciphertext of a message under a blind that serves once."""
    if not 0 <= message < public.messages:
        raise UsageError("a message is from 0 to n^s - 1: pack fewer values in it")
    return power_of_generator(public, message) * blind % public.modulus


def product(public: PublicKey, ciphertexts: Iterable[int]) -> int:
    """A ciphertext of the sum of the messages."""
    total = mpz(1)
    for each in ciphertexts:
        total = total * each % public.modulus
    return total


def is_ciphertext(public: PublicKey, number: int) -> bool:
    """Whether a number, or a product of numbers, is a unit from 1 to nˢ⁺¹ - 1."""
    return bool(0 < number < public.modulus and gcd(number, public.n) == 1)
