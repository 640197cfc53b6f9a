"""Encryption after Damgård and Jurik: c = (1 + n)^m · blind modulo nˢ⁺¹.

The product of ciphertexts is a ciphertext of the sum. A blind is an nˢ-th power of a random unit:
r^(nˢ) (PKC 2001), or a cheap one, a power of one fixed number with a short exponent:

h = -x² modulo n for a random x; a blind is (h^(nˢ))^ρ modulo nˢ⁺¹ for a random ρ of half as many
bits as n (Damgård, Jurik and Nielsen, Int. J. Inf. Secur. 9, 2010). That it looks like a random
blind is their assumption: short exponents of h modulo n must be indistinguishable from long ones.

The powers come from a comb (Lim and Lee, CRYPTO 1994). Its look-ups are not in constant time:
Python cannot guarantee that. Their leakage is bounded, because ρ is used for one ciphertext and
discarded with its round. A leaked ρ opens that one ciphertext, and neither the key nor another one;
and an attacker who can observe a worker's device so closely could read its answers there.
"""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from math import factorial

from sottovoce.errors import UsageError
from sottovoce.securesum.damgard_jurik.keys import PublicKey
from sottovoce.securesum.damgard_jurik.number_theory import gcd, invert, mpz, powmod, unit_below

TEETH, TABLES = 8, 4


def exponent_bits(public: PublicKey) -> int:
    """Bits of ρ: half of n's."""
    return (int(public.n).bit_length() + 1) // 2


class Comb:
    """Powers of a fixed base: an exponent is read in columns of `TEETH` bits at once.

    An exponent of a · b bits is written as a rows of b bits. Column j of the rows chooses one of 2ᵃ
    products of base^(2^(b i)); `TABLES` such tables, each shifted by b / TABLES columns, leave as
    many squarings as a table has columns.
    """

    def __init__(self, base: int, modulus: int, bits: int) -> None:
        self._modulus = modulus
        self._columns = -(-bits // (TEETH * TABLES))
        self._row = self._columns * TABLES
        self._tables = [self._table(base, shift * self._columns) for shift in range(TABLES)]
        self.bits = self._row * TEETH

    def power(self, exponent: int) -> int:
        """base^exponent, for an exponent of at most `bits` bits."""
        digits = format(int(exponent), f"0{self.bits}b")
        rows = [digits[at : at + self._row] for at in range(0, self.bits, self._row)]
        indices = [int("".join(column), 2) for column in zip(*rows, strict=True)]
        result, modulus = mpz(1), self._modulus
        for column in range(self._columns):
            result = result * result % modulus
            for place, table in enumerate(reversed(self._tables)):
                result = result * table[indices[place * self._columns + column]] % modulus
        return result

    def _table(self, base: int, shift: int) -> list[int]:
        """All products of base^(2^(row · tooth + shift)) over sets of teeth, by the set's bits."""
        table = [mpz(1)]
        for tooth in range(TEETH):
            one = powmod(base, mpz(1) << tooth * self._row + shift, self._modulus)
            table += [each * one % self._modulus for each in table]
        return table


@dataclass(frozen=True, slots=True)
class Blind:
    """(h^(nˢ))^ρ, and ρ, which proves knowledge of a ciphertext's message (`proofs`)."""

    value: int
    exponent: int = field(repr=False)


@lru_cache(maxsize=8)
def blinding_comb(public: PublicKey, bits: int) -> Comb:
    """The comb of h^(nˢ): computed once for each key and length in a process."""
    base = powmod(public.h, public.messages, public.modulus)
    return Comb(base, public.modulus, bits)


class Blinds:
    """A worker's pool of blinds: filled while it waits; each blind is used once."""

    def __init__(self, public: PublicKey) -> None:
        self._bits = exponent_bits(public)
        self._comb = blinding_comb(public, self._bits)
        self._pool: deque[Blind] = deque()

    def __len__(self) -> int:
        return len(self._pool)

    def fill(self, count: int) -> None:
        """Make blinds until there are `count` of them."""
        while len(self._pool) < count:
            self._pool.append(self._fresh())

    def take(self) -> Blind:
        """A fresh blind; made now if the pool is empty."""
        return self._pool.popleft() if self._pool else self._fresh()

    def _fresh(self) -> Blind:
        exponent = secrets.randbits(self._bits)
        return Blind(self._comb.power(exponent), exponent)


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
    """r^(nˢ) for a random unit r: slow, and needs only Damgård's and Jurik's assumption."""
    drawn = unit_below(public.n) if unit is None else mpz(unit)
    return powmod(drawn, public.messages, public.modulus)


def encrypt(public: PublicKey, message: int, blind: int) -> int:
    """The ciphertext of a message under a blind that is used once."""
    if not 0 <= message < public.messages:
        raise UsageError("a message must be from 0 to n^s - 1: pack fewer values in it")
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
