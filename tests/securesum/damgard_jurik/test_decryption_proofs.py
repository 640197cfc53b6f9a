from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.securesum.damgard_jurik.small_keys import encrypted, small_key

from sottovoce.securesum.damgard_jurik.decryption import partial
from sottovoce.securesum.damgard_jurik.encryption import power_of_generator
from sottovoce.securesum.damgard_jurik.keys import KeyShare
from sottovoce.securesum.damgard_jurik.number_theory import invert, powmod
from sottovoce.securesum.damgard_jurik.proofs import proof_length, prove, verify

HOLDER, CONTEXT = 2, b"session 1, round 2, sender 3"


def _case(s: int = 1) -> tuple[list[int], list[int], bytes]:
    """Three ciphertexts, their partial decryptions by one holder, and its proof."""
    return _made(s)


@cache
def _made(s: int) -> tuple[list[int], list[int], bytes]:
    public, shares = small_key(s)
    ciphertexts = [encrypted(public, each) for each in (3, 1, 4)]
    partials = [partial(public, shares[HOLDER - 1], each) for each in ciphertexts]
    return ciphertexts, partials, prove(public, shares[HOLDER - 1], CONTEXT, ciphertexts, partials)


@pytest.mark.parametrize("s", [1, 2, 3])
def test_an_honest_proof_holds(s: int) -> None:
    public, _ = small_key(s)
    ciphertexts, partials, proof = _case(s)
    assert len(proof) == proof_length(public)
    assert verify(public, HOLDER, CONTEXT, ciphertexts, partials, proof)


def test_a_proof_is_for_one_context_and_one_holder() -> None:
    public, _ = small_key()
    ciphertexts, partials, proof = _case()
    assert verify(public, HOLDER, CONTEXT, ciphertexts, partials, proof)
    assert not verify(public, HOLDER, CONTEXT + b"!", ciphertexts, partials, proof)
    assert not verify(public, HOLDER + 1, CONTEXT, ciphertexts, partials, proof)


def test_a_proof_is_for_one_key() -> None:
    public, _ = small_key(1, 4, 5)
    ciphertexts, partials, proof = _case()
    assert not verify(public, HOLDER, CONTEXT, ciphertexts, partials, proof)


def test_a_proof_is_for_these_values_in_this_order() -> None:
    public, _ = small_key()
    ciphertexts, partials, proof = _case()
    assert not verify(public, HOLDER, CONTEXT, ciphertexts[::-1], partials[::-1], proof)
    assert not verify(public, HOLDER, CONTEXT, ciphertexts[:2], partials[:2], proof)
    assert not verify(public, HOLDER, CONTEXT, ciphertexts, partials[:2], proof)


@given(bit=st.integers(0, 8 * len(_case()[2]) - 1))
def test_no_bit_of_a_proof_may_be_flipped(bit: int) -> None:
    public, _ = small_key()
    ciphertexts, partials, proof = _case()
    flipped = bytearray(proof)
    flipped[bit // 8] ^= 1 << bit % 8
    assert not verify(public, HOLDER, CONTEXT, ciphertexts, partials, bytes(flipped))


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("how", ["times three", "times a power of 1 + n", "inverse"])
def test_no_proof_can_be_made_of_a_wrong_partial_decryption(place: int, how: str) -> None:
    public, shares = small_key()
    ciphertexts, right, _ = _case()
    wrong = list(right)
    changed = {
        "times three": wrong[place] * 3,
        "times a power of 1 + n": wrong[place] * power_of_generator(public, 5),
        "inverse": invert(wrong[place], public.modulus),
    }[how]
    wrong[place] = changed % public.modulus
    proof = prove(public, shares[HOLDER - 1], CONTEXT, ciphertexts, wrong)
    assert not verify(public, HOLDER, CONTEXT, ciphertexts, wrong, proof)


def test_two_wrongs_do_not_make_a_right() -> None:
    public, shares = small_key()
    ciphertexts, wrong = _case()[0], list(_case()[1])
    wrong[0] = wrong[0] * 9 % public.modulus
    wrong[1] = wrong[1] * invert(9, public.modulus) % public.modulus  # the plain product is right
    proof = prove(public, shares[HOLDER - 1], CONTEXT, ciphertexts, wrong)
    assert not verify(public, HOLDER, CONTEXT, ciphertexts, wrong, proof)


def test_another_share_proves_nothing() -> None:
    public, shares = small_key()
    ciphertexts, partials, _ = _case()
    stolen = KeyShare(HOLDER, shares[HOLDER].value)
    proof = prove(public, stolen, CONTEXT, ciphertexts, partials)
    assert not verify(public, HOLDER, CONTEXT, ciphertexts, partials, proof)


def test_a_partial_decryption_is_proven_up_to_its_sign() -> None:
    """The combination squares it, so the sign changes nothing (`test_arithmetic`)."""
    public, shares = small_key()
    ciphertexts, partials, _ = _case()
    negative = [public.modulus - each for each in partials]
    proof = prove(public, shares[HOLDER - 1], CONTEXT, ciphertexts, negative)
    assert verify(public, HOLDER, CONTEXT, ciphertexts, negative, proof)


def test_two_proofs_of_the_same_differ() -> None:
    public, shares = small_key()
    ciphertexts, partials, proof = _case()
    assert prove(public, shares[HOLDER - 1], CONTEXT, ciphertexts, partials) != proof


def test_the_verifier_is_what_a_partial_decryption_is_checked_against() -> None:
    public, shares = small_key()
    share = shares[HOLDER - 1]
    exponent = public.delta * share.value
    assert powmod(public.v, exponent, public.modulus) == public.verifiers[HOLDER - 1]
    ciphertexts, partials, _ = _case()
    assert powmod(ciphertexts[0], 4 * exponent, public.modulus) == powmod(
        partials[0], 2, public.modulus
    )


def test_a_proof_is_written_in_one_way() -> None:
    public, _ = small_key()
    ciphertexts, partials, proof = _case()
    longer = proof[:32] + b"\0" + proof[32:]  # the same numbers
    assert not verify(public, HOLDER, CONTEXT, ciphertexts, partials, longer)
