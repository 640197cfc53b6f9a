"""Blinds that are cheap to make: powers of one fixed number with short exponents.

h = -x² modulo n for a random x; a blind is (h^(nˢ))^ρ modulo nˢ⁺¹ for a random ρ of half as many
bits as n (Damgård, Jurik and Nielsen, Int. J. Inf. Secur. 9, 2010). That it looks
like a random blind is an assumption of theirs: short exponents of h modulo n must not be told from
long ones.

The powers come from a comb (Lim and Lee, CRYPTO 1994). Its look-ups are not made in constant
time: Python cannot promise that. What they may betray is bounded, since ρ serves one ciphertext
and is forgotten with its round. A ρ that leaks opens that one ciphertext, and neither the key nor
another one; and whoever could watch a worker's device so closely could read its answers there.
"""

from __future__ import annotations

import secrets
from collections import deque
from dataclasses import dataclass, field
from functools import lru_cache

from sottovoce.securesum.star.damgard_jurik.integers import mpz, powmod
from sottovoce.securesum.star.damgard_jurik.keys import PublicKey

__all__ = ["Blind", "Blinds", "Comb", "blinding_comb", "exponent_bits"]

TEETH, TABLES = 8, 4


def exponent_bits(public: PublicKey) -> int:
    """Bits of ρ: half of n's."""
    return (int(public.n).bit_length() + 1) // 2


class Comb:
    """Powers of a fixed base: an exponent is read in columns of `TEETH` bits at once.

    An exponent of a · b bits is written as a rows of b bits. Column j of the rows chooses one of
    2ᵃ products of base^(2^(b i)); `TABLES` such tables, each shifted by b / TABLES columns, leave
    as many squarings as a table has columns.
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
    """(h^(nˢ))^ρ, and ρ, which proves that one knows what is in a ciphertext (`knowing`)."""

    value: int
    exponent: int = field(repr=False)


@lru_cache(maxsize=8)
def blinding_comb(public: PublicKey, bits: int) -> Comb:
    """The comb of h^(nˢ): worked out once for each key and length in a process."""
    base = powmod(public.h, public.messages, public.modulus)
    return Comb(base, public.modulus, bits)


class Blinds:
    """A worker's pool of blinds: filled while it waits, and each of them taken once."""

    def __init__(self, public: PublicKey) -> None:
        self._bits = exponent_bits(public)
        self._comb = blinding_comb(public, self._bits)
        self._pool: deque[Blind] = deque()

    def __len__(self) -> int:
        return len(self._pool)

    def fill(self, count: int) -> None:
        """Make blinds until there are so many."""
        while len(self._pool) < count:
            self._pool.append(self._fresh())

    def take(self) -> Blind:
        """A blind that nobody has seen; made now if none is left."""
        return self._pool.popleft() if self._pool else self._fresh()

    def _fresh(self) -> Blind:
        exponent = secrets.randbits(self._bits)
        return Blind(self._comb.power(exponent), exponent)
