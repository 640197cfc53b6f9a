"""Large integers: the arithmetic of gmpy2, products of powers, and safe primes.

A secret exponent goes through `powmod_sec` only: its time does not depend on the exponent's bits.
Everything else here is fast and not in constant time. Integers have one encoding as bytes.

Products of powers with public exponents, Π bᵢ^eᵢ, share one row of squarings (Straus, Amer. Math.
Monthly, 1964, problem 5125): exponents are read in windows of the same width, from the highest on,
and each base has a table of its small powers.

Safe primes p = 2q + 1 with q prime too are found by sieving q and 2q + 1 together. Of the odd
numbers q in a window, those with a small prime that divides q or 2q + 1 are eliminated before the
first exponentiation. Primes are rare and safe primes rarer; with the joint sieve a key takes
seconds and not minutes.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError, absent

try:
    import gmpy2
except ImportError:
    if not TYPE_CHECKING:
        gmpy2 = absent("gmpy2", purpose="the suite damgard_jurik", extra="secure")

# gmpy2 has no types: an mpz is typed as the int that it behaves like.
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
    """A secret uniform integer from 0 to bound - 1, from the system's randomness."""
    return mpz(secrets.randbelow(int(bound)))


def unit_below(bound: int) -> int:
    """A secret invertible integer modulo bound."""
    while True:
        drawn = below(bound)
        if gcd(drawn, bound) == 1:
            return drawn


def length_of(bound: int) -> int:
    """The number of bytes of integers below this bound."""
    return (int(bound - 1).bit_length() + 7) // 8


def bytes_of(value: int, length: int) -> bytes:
    """An integer as bytes, the most significant first."""
    return int(value).to_bytes(length, "big")


def integer_of(content: bytes) -> int:
    """The integer that `bytes_of` wrote."""
    return mpz(int.from_bytes(content, "big"))


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


SIEVED_TO = 1 << 20
"""Numbers with a smaller factor are eliminated; small numbers use fewer (`_primes_for`)."""
ROUNDS = 64
"""GMP's rounds: the first 24 are a Baillie-PSW test, the other 40 are Miller-Rabin."""
FEWEST_BITS = 16


@cache
def small_primes(to: int = SIEVED_TO) -> npt.NDArray[np.int64]:
    """The odd primes below `to`.

    >>> small_primes(20).tolist()
    [3, 5, 7, 11, 13, 17, 19]
    """
    prime = np.ones(to, bool)
    prime[:2] = prime[4::2] = False
    for each in range(3, int(to**0.5) + 1, 2):
        if prime[each]:
            prime[each * each :: 2 * each] = False
    return np.flatnonzero(prime)[1:]


def is_safe_prime(p: int) -> bool:
    """Whether p and (p - 1) / 2 are both prime, with an error probability below 4⁻⁴⁰.

    >>> [p for p in range(60) if is_safe_prime(p)]
    [5, 7, 11, 23, 47, 59]
    """
    return bool(is_prime(mpz(p), ROUNDS) and is_prime(mpz(p) // 2, ROUNDS))


def safe_prime(bits: int) -> int:
    """A secret safe prime of `bits` bits whose two highest bits are set.

    The product of two of them has exactly 2 · bits bits. Every window starts at a fresh random
    position; the first safe prime in it is taken.
    """
    if bits < FEWEST_BITS:
        raise UsageError(f"a safe prime needs at least {FEWEST_BITS} bits, not {bits}")
    while True:
        for q in _candidates(bits - 1):
            p = 2 * q + 1
            if _passes(q) and _passes(p) and is_safe_prime(p) and p.bit_length() == bits:
                return p


def _passes(number: int) -> bool:
    """Fermat's test to base 2: fast, and eliminates nearly everything."""
    return bool(powmod(2, number - 1, number) == 1)


def _candidates(bits: int) -> Iterator[int]:
    """The odd numbers q of a random window for which no small prime divides q or 2q + 1."""
    first = mpz(secrets.randbits(bits)) | 3 << bits - 2 | 1
    for place in np.flatnonzero(_sieved(first, bits << 7, _primes_for(bits))):
        yield first + 2 * int(place)


def _primes_for(bits: int) -> npt.NDArray[np.int64]:
    """The small primes below bits²: beyond, sieving costs more than a test would.

    They are smaller than any q of these bits, so none eliminates itself.
    """
    primes = small_primes()
    return primes[primes < min(bits * bits, 1 << bits - 2)]


def _sieved(first: int, window: int, primes: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """A mask of the q = first + 2k, k < window, where neither q nor 2q + 1 has a factor here.

    q = first + 2k is divisible by r where k = -first / 2 (mod r), and 2q + 1 where k = -(2 first +
    1) / 4. (r + 1) / 2 is the inverse of 2.
    """
    left = np.ones(window, bool)
    remainder = np.array([int(first % int(each)) for each in primes], np.int64)
    half = (primes + 1) // 2
    ours = (primes - remainder) * half % primes
    twice = (2 * primes - (2 * remainder + 1) % primes) * half % primes * half % primes
    for prime, one, other in zip(primes.tolist(), ours.tolist(), twice.tolist(), strict=True):
        left[one::prime] = False
        left[other::prime] = False
    return left
