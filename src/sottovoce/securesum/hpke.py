"""Sealing to one keyholder: HPKE in base mode (RFC 9180).

The suite is DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-256-GCM, which browsers support too. The
output is the encapsulated key (32 bytes), then the ciphertext with its tag (16 bytes more than the
plaintext). `info` binds it to its purpose, and the associated data are empty.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from sottovoce.errors import UsageError, absent

try:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
    from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite
except ImportError:
    if not TYPE_CHECKING:
        InvalidTag = X25519PrivateKey = X25519PublicKey = AEAD = KDF = KEM = Suite = absent(
            "cryptography", purpose="sealing answers", extra="secure"
        )

__all__ = ["OVERHEAD", "X25519PrivateKey", "seal", "unseal"]

OVERHEAD = 48
"""The number of bytes that sealing adds to the plaintext."""


@cache
def _suite() -> Suite:
    return Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_256_GCM)


def seal(public_key: bytes, plaintext: bytes, info: bytes) -> bytes:
    """Seal a plaintext to the owner of a key, for one purpose."""
    try:
        return _suite().encrypt(plaintext, X25519PublicKey.from_public_bytes(public_key), info=info)
    except ValueError:  # a point of small order: anyone could read what is sealed to it
        raise UsageError("a keyholder's sealing key is not a usable X25519 key") from None


def unseal(private_key: X25519PrivateKey, sealed: bytes, info: bytes) -> bytes | None:
    """The plaintext; None if it was not sealed to this key for this purpose."""
    try:
        return _suite().decrypt(sealed, private_key, info=info)
    except (InvalidTag, ValueError):
        return None
