"""The symmetric primitives: key derivation, sealing, tags, and masks as a stream of bytes."""

from __future__ import annotations

import hmac

import numpy as np
import numpy.typing as npt

from sottovoce.errors import NotInstalled

try:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
except ImportError:
    raise NotInstalled("cryptography", purpose="masking sums", extra="secure") from None

__all__ = ["TAG", "Masks", "Words", "derived", "expanded", "extracted", "sealed", "tagged",
           "unsealed"]  # fmt: skip

Words = npt.NDArray[np.uint64]
"""Integers modulo 2⁶⁴."""

TAG = 16
"""Bytes that sealing adds, and bytes of a tag."""

_BLOCK, _WORD = 16, 8
_NONCE = bytes(12)
_ZERO = bytes(_BLOCK)


def extracted(secret: bytes, salt: bytes) -> bytes:
    """A key from which others are expanded: HKDF-Extract with SHA-256 (RFC 5869, section 2.2)."""
    return hmac.digest(salt, secret, "sha256")


def expanded(key: bytes, info: bytes) -> bytes:
    """A 256-bit key for one purpose: HKDF-Expand, of which 32 bytes are the first block."""
    return hmac.digest(key, info + b"\x01", "sha256")


def derived(secret: bytes, salt: bytes, info: bytes) -> bytes:
    """A 256-bit key for one purpose: HKDF-SHA256 (RFC 5869)."""
    return expanded(extracted(secret, salt), info)


def tagged(key: bytes, content: bytes) -> bytes:
    """Who has the key says this: HMAC-SHA256 (RFC 2104), cut to 128 bits."""
    return hmac.digest(key, content, "sha256")[:TAG]


def sealed(key: bytes, plaintext: bytes, bound: bytes) -> bytes:
    """AES-256-GCM. The nonce is constant: a key is derived for one message and used for it."""
    return AESGCM(key).encrypt(_NONCE, plaintext, bound)


def unsealed(key: bytes, content: bytes, bound: bytes) -> bytes | None:
    """What `sealed` sealed; None where it was not under this key, or bound to something else."""
    try:
        return AESGCM(key).decrypt(_NONCE, content, bound)
    except InvalidTag:
        return None


class Masks:
    """Masks of so many words each, one after another in the same memory."""

    def __init__(self, count: int) -> None:
        self._zeros = bytes(_WORD * count)
        self._stream = bytearray(len(self._zeros) + _BLOCK - 1)  # as `update_into` asks for
        self._words = np.frombuffer(self._stream, "<u8", count)

    def of(self, key: bytes, counter: bytes = _ZERO) -> Words:
        """Words that are uniform modulo 2⁶⁴ to whoever lacks the key; the next takes their place.

        AES-256-CTR (NIST SP 800-38A, 6.5) from counter 0: a key is derived for one mask. All 64
        bits of a word are drawn, so that x + mask is uniform too, whatever x is.
        """
        encryptor = Cipher(algorithms.AES(key), modes.CTR(counter)).encryptor()
        encryptor.update_into(self._zeros, self._stream)
        return self._words.astype(np.uint64, copy=False)
