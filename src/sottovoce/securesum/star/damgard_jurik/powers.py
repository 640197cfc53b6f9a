"""Products of powers with public exponents: Π bᵢ^eᵢ with one row of squarings for all of them.

Straus (Amer. Math. Monthly, 1964, problem 5125): exponents are read in windows of the same
width, from the highest on; squarings are shared, and each base has a table of its small powers.
"""

from __future__ import annotations

from collections.abc import Sequence

from sottovoce.securesum.star.damgard_jurik.integers import invert, mpz

__all__ = ["product_of_powers"]


def product_of_powers(bases: Sequence[int], exponents: Sequence[int], modulus: int) -> int:
    """Π bᵢ^eᵢ modulo the modulus; bases with negative exponents must be invertible.

    >>> int(product_of_powers([2, 3], [5, -1], 7))
    6
    """
    pairs = list(zip(bases, exponents, strict=True))
    above = _straus([(base, e) for base, e in pairs if e > 0], modulus)
    below = _straus([(base, -e) for base, e in pairs if e < 0], modulus)
    return above if below == 1 else above * invert(below, modulus) % modulus


def _straus(pairs: Sequence[tuple[int, int]], modulus: int) -> int:
    bits = max((int(exponent).bit_length() for _, exponent in pairs), default=0)
    width = _width(bits)
    tables = [_small_powers(base, width, modulus) for base, _ in pairs]
    result, mask = mpz(1), (1 << width) - 1
    for shift in range((bits + width - 1) // width * width - width, -1, -width):
        for _ in range(width):
            result = result * result % modulus
        for table, (_, exponent) in zip(tables, pairs, strict=True):
            digit = exponent >> shift & mask
            if digit:
                result = result * table[digit] % modulus
    return result


def _width(bits: int) -> int:
    """A table of 2^width - 2 products must not cost more than the windows that it saves."""
    return 3 if bits <= 64 else 4 if bits <= 240 else 5


def _small_powers(base: int, width: int, modulus: int) -> list[int]:
    powers = [mpz(1), mpz(base) % modulus]
    while len(powers) < 1 << width:
        powers.append(powers[-1] * powers[1] % modulus)
    return powers
