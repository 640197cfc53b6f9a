"""The primitives match their standards, through the functions that the suite uses."""

from __future__ import annotations

import os

import numpy as np
import pytest
from scipy import stats

from sottovoce.securesum.masked.keys import TAG, MaskKeys, derived, sealed, tagged, unsealed
from sottovoce.securesum.masked.masks import Masks

# RFC 7748, section 5.2, and both directions of the agreement in section 6.1: scalar, u, result.
X25519 = [
    ("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
     "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
     "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"),
    ("4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
     "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
     "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957"),
    ("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a",
     "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f",
     "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742"),
    ("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb",
     "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a",
     "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742"),
]  # fmt: skip

# RFC 5869, appendices A.1 to A.3: secret, salt, info, the first 32 bytes of the output.
HKDF = [
    (b"\x0b" * 22, bytes(range(13)), bytes(range(0xF0, 0xFA)),
     "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"),
    (bytes(range(0x50)), bytes(range(0x60, 0xB0)), bytes(range(0xB0, 0x100)),
     "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c"),
    (b"\x0b" * 22, b"", b"",
     "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"),
]  # fmt: skip

# NIST SP 800-38A, F.5.5 (CTR-AES256.Encrypt): key, initial counter, the four output blocks.
CTR_KEY = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"
CTR_COUNTER = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"
CTR_BLOCKS = (
    "0bdf7df1591716335e9a8b15c860c502" "5a6e699d536119065433863c8f657b94"
    "1bc12c9c01610d5d0d8bd6a3378eca62" "2956e1c8693536b1bee99c73a31576b6"
)  # fmt: skip

# The GCM submission to NIST (McGrew and Viega), test cases 13 and 14: AES-256, key and IV zero.
GCM = [
    (b"", "530f8afbc74536b9a963b4f1c4cb738b"),
    (bytes(16), "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"),
]
BITS = 8


@pytest.mark.parametrize(("scalar", "point", "result"), X25519)
def test_an_agreement_is_that_of_rfc_7748(scalar: str, point: str, result: str) -> None:
    assert MaskKeys(bytes.fromhex(scalar)).agreed(bytes.fromhex(point)).hex() == result


def test_a_public_key_is_that_of_rfc_7748() -> None:
    scalar, public = X25519[2][0], X25519[3][1]
    assert MaskKeys(bytes.fromhex(scalar)).public.hex() == public


@pytest.mark.parametrize(("secret", "salt", "info", "result"), HKDF)
def test_a_key_is_derived_as_in_rfc_5869(
    secret: bytes, salt: bytes, info: bytes, result: str
) -> None:
    assert derived(secret, salt, info).hex() == result


def test_the_key_stream_is_that_of_sp_800_38a() -> None:
    words = Masks(8).of(bytes.fromhex(CTR_KEY), bytes.fromhex(CTR_COUNTER))
    assert words.astype("<u8").tobytes().hex() == CTR_BLOCKS


def test_a_mask_is_the_key_stream_from_counter_zero_in_little_endian_words() -> None:
    # The GCM submission, test case 13, has AES-256 of the zero block under the zero key: H.
    block = bytes.fromhex("dc95c078a2408989ad48a21492842087")
    words = [int.from_bytes(block[at : at + 8], "little") for at in (0, 8)]
    assert Masks(2).of(bytes(32)).tolist() == words


@pytest.mark.parametrize("count", [1, 2, 3, 1001])
def test_a_mask_has_nothing_of_the_one_before(count: int) -> None:
    masks, one, other = Masks(count), os.urandom(32), os.urandom(32)
    first = masks.of(one).tolist()
    assert masks.of(other).tolist() == Masks(count).of(other).tolist() != first
    assert masks.of(one).tolist() == first


def test_a_tag_is_that_of_rfc_4231_cut_to_128_bits() -> None:
    # Test case 5 of RFC 4231 is the one with truncation to 128 bits.
    expected = "a3b6167473100ee06e0c796c2955552b"
    assert tagged(b"\x0c" * 20, b"Test With Truncation").hex() == expected


@pytest.mark.parametrize(("plaintext", "result"), GCM)
def test_sealing_is_aes_256_gcm(plaintext: bytes, result: str) -> None:
    assert sealed(bytes(32), plaintext, b"").hex() == result


def test_what_is_sealed_opens_under_its_key_and_binding_only() -> None:
    content = sealed(b"k" * 32, b"a secret", b"here")
    assert len(content) == len(b"a secret") + TAG
    assert unsealed(b"k" * 32, content, b"here") == b"a secret"
    assert unsealed(b"k" * 32, content, b"there") is None
    assert unsealed(b"K" * 32, content, b"here") is None


@pytest.mark.parametrize("place", range(64))
def test_what_is_sealed_with_one_bit_changed_does_not_open(place: int) -> None:
    content = bytearray(sealed(b"k" * 32, b"a secret", b"here"))
    content[place % len(content)] ^= 1 << place % BITS
    assert unsealed(b"k" * 32, bytes(content), b"here") is None


@pytest.mark.statistical
@pytest.mark.parametrize("shift", [0, 56], ids=["lowest byte", "highest byte"])
def test_masks_are_uniform_over_the_whole_ring(shift: int) -> None:
    words = Masks(1 << 18).of(os.urandom(32))
    counts = np.bincount((words >> np.uint64(shift)).astype(np.int64) & 255, minlength=256)
    assert stats.chisquare(counts).pvalue > 1e-10
