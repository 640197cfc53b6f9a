from __future__ import annotations

import numpy as np
import pytest

from sottovoce.errors import UsageError
from sottovoce.securesum.damgard_jurik import number_theory
from sottovoce.securesum.damgard_jurik.number_theory import is_safe_prime, safe_prime, small_primes


def _prime(number: int) -> bool:
    return number > 1 and all(number % each for each in range(2, int(number**0.5) + 1))


def test_safe_primes_are_those_that_trial_division_finds() -> None:
    expected = [p for p in range(5_000) if _prime(p) and _prime((p - 1) // 2)]
    assert [p for p in range(5_000) if is_safe_prime(p)] == expected


def test_small_primes_are_all_odd_primes() -> None:
    assert small_primes(1_000).tolist() == [p for p in range(3, 1_000) if _prime(p)]


@pytest.mark.parametrize("bits", [16, 17, 24, 40, 64, 128, 256])
def test_a_safe_prime_has_its_bits_and_the_two_highest_are_set(bits: int) -> None:
    p = safe_prime(bits)
    assert int(p).bit_length() == bits
    assert int(p) >> bits - 2 == 3
    assert is_safe_prime(p)


def test_the_product_of_two_has_twice_the_bits() -> None:
    assert all(int(safe_prime(20) * safe_prime(20)).bit_length() == 40 for _ in range(20))


def test_no_two_draws_are_alike() -> None:
    assert len({int(safe_prime(128)) for _ in range(5)}) == 5


def test_the_joint_sieve_strikes_out_exactly_what_has_a_small_factor() -> None:
    first, window, small = 10_000_019, 3_000, small_primes(200)
    left = number_theory._sieved(first, window, small)
    q = first + 2 * np.arange(window)
    divisible = (q[:, None] % small == 0) | ((2 * q[:, None] + 1) % small == 0)
    assert np.array_equal(left, ~divisible.any(axis=1))


def test_too_few_bits_are_refused() -> None:
    with pytest.raises(UsageError, match="at least 16 bits, not 15"):
        safe_prime(15)
