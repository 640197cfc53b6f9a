"""The symmetric primitives: key derivation, sealing and tags."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from sottovoce.errors import absent

try:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
except ImportError:
    if not TYPE_CHECKING:
        InvalidTag = AESGCM = absent("cryptography", purpose="masking sums", extra="secure")

__all__ = ["TAG", "derived", "expanded", "extracted", "sealed", "tagged", "unsealed"]

TAG = 16
"""Bytes that sealing adds, and bytes of a tag."""

_NONCE = bytes(12)


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
