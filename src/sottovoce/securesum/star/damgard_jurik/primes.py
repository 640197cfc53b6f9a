"""Safe primes p = 2q + 1 with q prime too, found by sieving q and 2q + 1 together.

Of the odd numbers q in a window, whoever divides q or 2q + 1 by a small prime is struck out before
the first exponentiation: one prime in each number would be rare, two in the same place are rarer,
and a joint sieve is why a key takes seconds and not minutes.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from functools import cache

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.securesum.star.damgard_jurik.integers import is_prime, mpz, powmod

__all__ = ["is_safe_prime", "safe_prime", "small_primes"]

SIEVED_TO = 1 << 20
"""Whatever has a smaller factor is struck out; for small numbers, less far (`_primes_for`)."""
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
    """Whether p and (p - 1) / 2 are both prime, but for a chance below 4⁻⁴⁰.

    >>> [p for p in range(60) if is_safe_prime(p)]
    [5, 7, 11, 23, 47, 59]
    """
    return bool(is_prime(mpz(p), ROUNDS) and is_prime(mpz(p) // 2, ROUNDS))


def safe_prime(bits: int) -> int:
    """A secret safe prime of so many bits whose two highest bits are set.

    The product of two of them has exactly 2 · bits bits. Every window starts at a fresh random
    place; the first safe prime in it is taken.
    """
    if bits < FEWEST_BITS:
        raise UsageError(f"a safe prime has at least {FEWEST_BITS} bits, not {bits}")
    while True:
        for q in _candidates(bits - 1):
            p = 2 * q + 1
            if _passes(q) and _passes(p) and is_safe_prime(p) and p.bit_length() == bits:
                return p


def _passes(number: int) -> bool:
    """Fermat's test to base 2: quick, and enough to throw nearly everything away."""
    return bool(powmod(2, number - 1, number) == 1)


def _candidates(bits: int) -> Iterator[int]:
    """The odd numbers q of a random window for which no small prime divides q or 2q + 1."""
    first = mpz(secrets.randbits(bits)) | 3 << bits - 2 | 1
    for place in np.flatnonzero(_sieved(first, bits << 7, _primes_for(bits))):
        yield first + 2 * int(place)


def _primes_for(bits: int) -> npt.NDArray[np.int64]:
    """The small primes below bits²: beyond, striking out costs more than a test would.

    They are smaller than any q of these bits, so none strikes itself out.
    """
    primes = small_primes()
    return primes[primes < min(bits * bits, 1 << bits - 2)]


def _sieved(first: int, window: int, primes: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Which q = first + 2k, k < window, have no factor here, nor has 2q + 1.

    q = first + 2k is divisible by r where k = -first / 2 (mod r), and 2q + 1 where
    k = -(2 first + 1) / 4. (r + 1) / 2 is the inverse of 2.
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
