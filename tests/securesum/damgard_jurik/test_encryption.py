"""Properties of the encryption, for any messages and any holders."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.securesum.damgard_jurik.small_keys import decrypted, encrypted, small_key

from sottovoce.errors import UsageError
from sottovoce.securesum.damgard_jurik.decryption import (
    combine,
    holds_share,
    lagrange,
    logarithm,
    partial,
)
from sottovoce.securesum.damgard_jurik.encryption import (
    Blinds,
    Comb,
    blinding_comb,
    encrypt,
    exponent_bits,
    is_ciphertext,
    power_of_generator,
    product,
)
from sottovoce.securesum.damgard_jurik.keys import KeyShare, PublicKey
from sottovoce.securesum.damgard_jurik.number_theory import jacobi, mpz, powmod, product_of_powers

exponents = st.integers(1, 3)
integers = st.integers(0, 2**900)


@given(s=exponents, message=integers)
def test_the_binomial_is_the_power(s: int, message: int) -> None:
    public, _ = small_key(s)
    expected = powmod(public.n + 1, message, public.modulus)
    assert power_of_generator(public, message) == expected


@given(s=st.integers(1, 4), message=integers)
def test_the_logarithm_undoes_the_power(s: int, message: int) -> None:
    public, _ = small_key(s)
    power = power_of_generator(public, message)
    assert logarithm(public.n, s, power) == message % public.messages


@given(
    bases=st.lists(st.integers(1, 10**30), min_size=1, max_size=6),
    data=st.data(),
)
def test_a_product_of_powers_is_what_it_says(bases: list[int], data: st.DataObject) -> None:
    modulus = (1 << 127) - 1
    drawn = [data.draw(st.integers(-(2**300), 2**300)) for _ in bases]
    expected = 1
    for base, exponent in zip(bases, drawn, strict=True):
        expected = expected * pow(base, exponent, modulus) % modulus
    assert product_of_powers(bases, drawn, modulus) == expected


@given(exponent=st.integers(0, 2**160 - 1))
def test_the_comb_gives_the_power(exponent: int) -> None:
    public, _ = small_key()
    base = powmod(public.h, public.messages, public.modulus)
    assert blinding_comb(public, 160).power(exponent) == powmod(base, exponent, public.modulus)


@pytest.mark.parametrize("bits", [1, 31, 32, 33, 64, 100])
def test_a_comb_takes_exponents_of_any_length(bits: int) -> None:
    comb = Comb(mpz(3), mpz(10**9 + 7), bits)
    assert comb.power((1 << bits) - 1) == pow(3, (1 << bits) - 1, 10**9 + 7)


def test_a_blind_hides_zero_and_serves_once() -> None:
    public, shares = small_key(2)
    blinds = Blinds(public)
    blinds.fill(3)
    assert len(blinds) == 3
    taken = [blinds.take() for _ in range(5)]  # more than were made ahead
    assert len({each.exponent for each in taken}) == 5
    assert decrypted(public, shares[:3], [each.value for each in taken]) == [0] * 5
    assert str(taken[0].exponent) not in repr(taken[0])


def test_blinds_come_from_a_number_with_jacobi_symbol_one_that_is_no_square() -> None:
    public, _ = small_key()
    assert jacobi(public.h, public.n) == 1
    assert exponent_bits(public) == 160


@given(s=exponents, messages=st.lists(st.integers(0, 2**300), min_size=1, max_size=5))
def test_the_product_of_ciphertexts_opens_to_the_sum(s: int, messages: list[int]) -> None:
    public, shares = small_key(s)
    ciphertext = product(public, [encrypted(public, each) for each in messages])
    assert decrypted(public, shares[:3], [ciphertext]) == [sum(messages) % public.messages]


@pytest.mark.parametrize("s", [1, 2])
def test_every_subset_of_the_threshold_opens_the_same(s: int) -> None:
    public, shares = small_key(s)
    ciphertext = encrypted(public, 123_456_789)
    for chosen in itertools.combinations(shares, 3):
        assert decrypted(public, chosen, [ciphertext]) == [123_456_789]


@given(threshold=st.integers(1, 7), data=st.data())
def test_any_threshold_of_any_number_of_holders_opens(threshold: int, data: st.DataObject) -> None:
    public, shares = small_key(1, threshold, 7)
    chosen = data.draw(st.permutations(shares))[:threshold]
    assert decrypted(public, chosen, [encrypted(public, 42)]) == [42]


def test_one_holder_fewer_opens_something_else() -> None:
    public, shares = small_key(1, 3, 5)
    fewer = PublicKey(public.n, 1, 2, public.h, public.v, public.verifiers)
    assert decrypted(fewer, shares[:2], [encrypted(public, 42)]) != [42]


def test_another_number_of_partial_decryptions_is_refused() -> None:
    public, shares = small_key()
    with pytest.raises(UsageError, match="3 holders open a ciphertext, not 2"):
        decrypted(public, shares[:2], [encrypted(public, 42)])


def test_a_wrong_partial_decryption_gives_no_power_of_the_generator() -> None:
    public, shares = small_key()
    ciphertext = encrypted(public, 42)
    partials = {each.number: [partial(public, each, ciphertext)] for each in shares[:3]}
    partials[2] = [partials[2][0] * 3 % public.modulus]
    assert combine(public, partials) is None


def test_the_sign_of_a_partial_decryption_does_not_matter() -> None:
    public, shares = small_key()
    ciphertext = encrypted(public, 42)
    partials = {each.number: [partial(public, each, ciphertext)] for each in shares[:3]}
    partials[2] = [public.modulus - partials[2][0]]
    assert combine(public, partials) == [42]


@given(points=st.sets(st.integers(1, 40), min_size=1, max_size=8), data=st.data())
def test_lagrange_interpolates_anywhere_in_integers(points: set[int], data: st.DataObject) -> None:
    order = tuple(sorted(points))
    polynomial = [data.draw(st.integers(-100, 100)) for _ in order]
    at = data.draw(st.integers(0, 50))

    def value(x: int) -> int:
        return sum(each * x**power for power, each in enumerate(polynomial))

    common, coefficients = lagrange(order, at)
    assert common * value(at) == sum(
        each * value(point) for each, point in zip(coefficients, order, strict=True)
    )
    assert math.factorial(40) % common == 0


@pytest.mark.parametrize("message", [-1, None])
def test_a_message_out_of_range_is_refused(message: int | None) -> None:
    public, _ = small_key()
    with pytest.raises(UsageError, match="pack fewer values"):
        encrypt(public, public.messages if message is None else message, 1)


def test_only_units_in_range_are_ciphertexts() -> None:
    public, _ = small_key()
    assert is_ciphertext(public, encrypted(public, 5))
    for wrong in (0, -1, public.modulus, public.modulus + 1, public.n, 7 * public.n):
        assert not is_ciphertext(public, wrong)


def test_every_holder_can_check_its_share() -> None:
    public, shares = small_key(2)
    assert all(holds_share(public, each) for each in shares)
    first = shares[0]
    wrong = [
        KeyShare(2, first.value), KeyShare(1, first.value + 1), KeyShare(0, first.value),
        KeyShare(6, first.value), KeyShare(1, 0), KeyShare(1, public.modulus),
    ]  # fmt: skip
    assert not any(holds_share(public, each) for each in wrong)


def test_a_share_and_a_key_say_no_secret() -> None:
    public, shares = small_key()
    assert str(shares[0].value) not in repr(shares[0])
    assert str(public.v) not in repr(public)


def test_keys_that_open_nothing_are_refused() -> None:
    with pytest.raises(UsageError, match="3 of 2 holders"):
        PublicKey(mpz(15), 1, 3, 1, 1, (1, 1))
    with pytest.raises(UsageError, match="s must be at least 1"):
        PublicKey(mpz(15), 0, 1, 1, 1, (1, 1))


def test_the_id_of_a_key_depends_on_each_of_its_numbers() -> None:
    public, _ = small_key()
    n, h, v, verifiers = public.n, public.h, public.v, public.verifiers
    others = [
        PublicKey(n + 2, 1, 3, h, v, verifiers), PublicKey(n, 2, 3, h, v, verifiers),
        PublicKey(n, 1, 4, h, v, verifiers), PublicKey(n, 1, 3, h + 1, v, verifiers),
        PublicKey(n, 1, 3, h, v + 1, verifiers), PublicKey(n, 1, 3, h, v, verifiers[:-1]),
        PublicKey(n, 1, 3, h, v, verifiers[::-1]),
    ]  # fmt: skip
    assert len({public.id, *(each.id for each in others)}) == 8


def test_secret_integers_are_not_repeated() -> None:
    public, _ = small_key()
    assert len({int(encrypted(public, 0)) for _ in range(20)}) == 20
