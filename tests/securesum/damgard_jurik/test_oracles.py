"""Known answers, and two other implementations, both ways."""

from __future__ import annotations

import damgard_jurik as other
import phe
import pytest
from damgard_jurik.crypto import EncryptedNumber, PrivateKeyRing, PrivateKeyShare
from damgard_jurik.crypto import PublicKey as OtherKey
from tests.securesum.damgard_jurik.small_keys import decrypted, encrypted, primes, small_key

from sottovoce.securesum.damgard_jurik.encryption import encrypt, full_blind
from sottovoce.securesum.damgard_jurik.keys import KeyShare, PublicKey
from sottovoce.securesum.damgard_jurik.number_theory import mpz

MESSAGES = [0, 1, 2, 10**20 + 7]


def _bare(n: int, s: int, threshold: int = 1, holders: int = 1) -> PublicKey:
    """A key of which only n, s and the numbers of holders are used."""
    return PublicKey(mpz(n), s, threshold, h=1, v=1, verifiers=(1,) * holders)


def _other_key(public: PublicKey) -> OtherKey:
    p, q = primes()
    return OtherKey(
        n=int(public.n), s=public.s, m=(p // 2) * (q // 2), threshold=public.threshold,
        delta=int(public.delta),
    )  # fmt: skip


def test_paillier_known_answer() -> None:
    public = _bare(126_869, 1)
    assert encrypt(public, 10_100, full_blind(public, unit=74_384)) == 935_906_717


def test_phe_encrypts_to_the_same_ciphertext() -> None:
    public, _ = small_key()
    theirs = phe.PaillierPublicKey(int(public.n))
    for message in MESSAGES:
        ours = encrypt(public, message, full_blind(public, unit=987_654_321))
        assert theirs.raw_encrypt(message, r_value=987_654_321) == ours


def test_phe_decrypts_what_is_encrypted_here() -> None:
    public, _ = small_key()
    private = phe.PaillierPrivateKey(phe.PaillierPublicKey(int(public.n)), *primes())
    assert [private.raw_decrypt(int(encrypted(public, each))) for each in MESSAGES] == MESSAGES


def test_what_phe_encrypts_is_opened_here() -> None:
    public, shares = small_key()
    theirs = phe.PaillierPublicKey(int(public.n))
    ciphertexts = [mpz(theirs.raw_encrypt(each)) for each in MESSAGES]
    assert decrypted(public, shares[:3], ciphertexts) == MESSAGES


@pytest.mark.parametrize("s", [1, 2, 3])
def test_the_library_damgard_jurik_opens_with_shares_from_here(s: int) -> None:
    public, shares = small_key(s)
    key = _other_key(public)
    ring = PrivateKeyRing([PrivateKeyShare(key, each.number, int(each.value)) for each in shares])
    messages = [*MESSAGES, int(public.messages) - 1]
    opened = [ring.decrypt(EncryptedNumber(int(encrypted(public, m)), key)) for m in messages]
    assert opened == messages


@pytest.mark.parametrize("s", [1, 2, 3])
def test_what_the_library_damgard_jurik_encrypts_is_opened_here(s: int) -> None:
    public, shares = small_key(s)
    messages = [*MESSAGES, int(public.messages) - 1]
    ciphertexts = [mpz(_other_key(public).encrypt(each).value) for each in messages]
    assert decrypted(public, shares[1:4], ciphertexts) == messages


@pytest.mark.parametrize("s", [1, 2, 3])
def test_shares_that_the_library_damgard_jurik_dealt_open_here(s: int) -> None:
    key, ring = other.keygen(n_bits=64, s=s, threshold=3, n_shares=5)
    public = _bare(int(key.n), s, threshold=3, holders=5)
    shares = [KeyShare(int(each.i), mpz(each.s_i)) for each in ring.private_key_shares]
    assert decrypted(public, shares, [mpz(key.encrypt(2**40).value)]) == [2**40]
