"""Large integers: the arithmetic of gmpy2, and the one way in which integers are written as bytes.

A secret exponent goes through `powmod_sec` only: it takes the same time whatever the exponent's
bits are. Everything else here is quick and takes whatever time it takes.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from sottovoce.errors import absent

try:
    import gmpy2
except ImportError:
    if not TYPE_CHECKING:
        gmpy2 = absent("gmpy2", purpose="the suite damgard_jurik", extra="secure")

__all__ = ["below", "bytes_of", "gcd", "integer_of", "invert", "is_power", "is_prime", "jacobi",
           "length_of", "mpz", "powmod", "powmod_sec", "primorial", "unit_below"]  # fmt: skip

# gmpy2 has no types of its own: an mpz is used as the int that it behaves like.
mpz: Callable[[int], int] = gmpy2.mpz
gcd: Callable[[int, int], int] = gmpy2.gcd
invert: Callable[[int, int], int] = gmpy2.invert
is_power: Callable[[int], bool] = gmpy2.is_power
is_prime: Callable[[int, int], bool] = gmpy2.is_prime
jacobi: Callable[[int, int], int] = gmpy2.jacobi
powmod: Callable[[int, int, int], int] = gmpy2.powmod
powmod_sec: Callable[[int, int, int], int] = gmpy2.powmod_sec


@cache
def primorial(to: int) -> int:
    """The product of all primes up to a bound: one gcd with it finds all small factors."""
    return mpz(gmpy2.primorial(to))


def below(bound: int) -> int:
    """A secret integer from 0 to bound - 1, all as likely, from the system's randomness."""
    return mpz(secrets.randbelow(int(bound)))


def unit_below(bound: int) -> int:
    """A secret invertible integer modulo bound."""
    while True:
        drawn = below(bound)
        if gcd(drawn, bound) == 1:
            return drawn


def length_of(bound: int) -> int:
    """How many bytes integers below this bound are written with."""
    return (int(bound - 1).bit_length() + 7) // 8


def bytes_of(value: int, length: int) -> bytes:
    """An integer as bytes, the most significant first."""
    return int(value).to_bytes(length, "big")


def integer_of(content: bytes) -> int:
    """The integer that `bytes_of` wrote."""
    return mpz(int.from_bytes(content, "big"))
