"""Sealing against published answers, and against an independent version of RFC 9180."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from tests.securesum.rfc9180 import AES_128_GCM, AES_256_GCM, open_base, seal_base

from sottovoce.errors import UsageError
from sottovoce.securesum.hpke import OVERHEAD, seal, unseal

ODE = bytes.fromhex("4f6465206f6e2061204772656369616e2055726e")
BEAUTY = b"Beauty is truth, truth beauty"

# RFC 9180 A.1.1, and the same mode with AES-256-GCM from the vectors published with the RFC.
KNOWN = {
    AES_128_GCM: {
        "ephemeral": "52c4a758a802cd8b936eceea314432798d5baf2d7e9235dc084ab1b9cfa2f736",
        "private": "4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8",
        "public": "3948cfe0ad1ddb695d780e59077195da6c56506b027329794ab02bca80815c4d",
        "enc": "37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431",
        "ciphertext": "f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a9"
        "6d8770ac83d07bea87e13c512a",
    },
    AES_256_GCM: {
        "ephemeral": "179d4b53b6365c45b600c4163b61d95cbc2f4d9e36f1695558dce265ab8bab11",
        "private": "497b4502664cfea5d5af0b39934dac72242a74f8480451e1aee7d6a53320333d",
        "public": "430f4b9859665145a6b1ba274024487bd66f03a2dd577d7753c68d7d7d00c00c",
        "enc": "6c93e09869df3402d7bf231bf540fadd35cd56be14f97178f0954db94b7fc256",
        "ciphertext": "e5d84cd531cfb583096e7cfa9641bd3079cf3a91cda813c52deb5f512be99319"
        "80a41de125a925cdad859d5b7a",
    },
}


@pytest.mark.parametrize("aead", KNOWN)
def test_the_reference_gives_the_published_ciphertexts(aead: int) -> None:
    known = {name: bytes.fromhex(text) for name, text in KNOWN[aead].items()}
    sealed = seal_base(known["ephemeral"], known["public"], ODE, BEAUTY, aad=b"Count-0", aead=aead)
    assert sealed == known["enc"] + known["ciphertext"]
    assert open_base(known["private"], sealed, ODE, aad=b"Count-0", aead=aead) == BEAUTY


def test_what_the_reference_seals_the_library_opens_and_the_other_way_round() -> None:
    key = X25519PrivateKey.generate()
    public, private = key.public_key().public_bytes_raw(), key.private_bytes_raw()
    ephemeral = X25519PrivateKey.generate().private_bytes_raw()
    for plaintext in (b"", b"x", bytes(9000)):
        assert unseal(key, seal_base(ephemeral, public, b"info", plaintext), b"info") == plaintext
        sealed = seal(public, plaintext, b"info")
        assert open_base(private, sealed, b"info") == plaintext
        assert len(sealed) == len(plaintext) + OVERHEAD


def test_what_is_sealed_twice_is_different_each_time() -> None:
    public = X25519PrivateKey.generate().public_key().public_bytes_raw()
    assert seal(public, b"same", b"info") != seal(public, b"same", b"info")


def test_another_key_another_purpose_or_any_other_byte_opens_nothing() -> None:
    key, other = X25519PrivateKey.generate(), X25519PrivateKey.generate()
    sealed = seal(key.public_key().public_bytes_raw(), b"share", b"info")
    assert unseal(other, sealed, b"info") is None
    assert unseal(key, sealed, b"infO") is None
    for place in range(len(sealed)):
        flipped = bytes([*sealed[:place], sealed[place] ^ 1, *sealed[place + 1 :]])
        assert unseal(key, flipped, b"info") is None
    for short in (b"", sealed[:31], sealed[:47], sealed[:-1], sealed + b"\0"):
        assert unseal(key, short, b"info") is None


@pytest.mark.parametrize("point", [bytes(32), b"\1" + bytes(31), b"short"])
def test_a_key_that_anybody_can_open_is_refused(point: bytes) -> None:
    with pytest.raises(UsageError, match="not a usable X25519 key"):
        seal(point, b"share", b"info")


def test_x25519_is_that_of_rfc_7748() -> None:
    """§5.2, the first vector."""
    scalar = "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4"
    point = "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c"
    shared = "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"
    key = X25519PrivateKey.from_private_bytes(bytes.fromhex(scalar))
    found = key.exchange(X25519PublicKey.from_public_bytes(bytes.fromhex(point)))
    assert found.hex() == shared


def test_ed25519_is_that_of_rfc_8032() -> None:
    """§7.1, test 1."""
    private = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"
    public = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    signature = (
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
        "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
    )
    key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(private))
    assert key.public_key().public_bytes_raw().hex() == public
    assert key.sign(b"").hex() == signature
