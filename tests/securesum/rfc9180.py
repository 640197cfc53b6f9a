"""HPKE in base mode for X25519 and HKDF-SHA256, written from RFC 9180 alone.

The library draws its ephemeral keys itself. Here they are given, so that the output is known.
"""

from __future__ import annotations

import hashlib
import hmac

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

__all__ = ["AES_128_GCM", "AES_256_GCM", "open_base", "seal_base"]

AES_128_GCM, AES_256_GCM = 1, 2
_KEM = b"KEM" + (0x0020).to_bytes(2)
_KEY_BYTES = {AES_128_GCM: 16, AES_256_GCM: 32}


def seal_base(
    ephemeral: bytes, recipient: bytes, info: bytes, plaintext: bytes,
    *, aad: bytes = b"", aead: int = AES_256_GCM,
) -> bytes:  # fmt: skip
    """§6.1: enc, then the ciphertext of the first message of the context."""
    own = X25519PrivateKey.from_private_bytes(ephemeral)
    enc = own.public_key().public_bytes_raw()
    secret = own.exchange(X25519PublicKey.from_public_bytes(recipient))
    key, nonce = _schedule(_shared(secret, enc + recipient), info, aead)
    return enc + AESGCM(key).encrypt(nonce, plaintext, aad)


def open_base(
    private: bytes, sealed: bytes, info: bytes, *, aad: bytes = b"", aead: int = AES_256_GCM
) -> bytes:
    """§6.1, the other side."""
    own = X25519PrivateKey.from_private_bytes(private)
    enc = sealed[:32]
    secret = own.exchange(X25519PublicKey.from_public_bytes(enc))
    context = enc + own.public_key().public_bytes_raw()
    key, nonce = _schedule(_shared(secret, context), info, aead)
    return AESGCM(key).decrypt(nonce, sealed[32:], aad)


def _shared(secret: bytes, context: bytes) -> bytes:
    """§4.1: ExtractAndExpand."""
    extracted = _extract(_KEM, b"", b"eae_prk", secret)
    return _expand(_KEM, extracted, b"shared_secret", context, 32)


def _schedule(shared: bytes, info: bytes, aead: int) -> tuple[bytes, bytes]:
    """§5.1: KeySchedule with mode 0 and no pre-shared key; the key and the base nonce."""
    suite = b"HPKE" + (0x0020).to_bytes(2) + (0x0001).to_bytes(2) + aead.to_bytes(2)
    context = (
        b"\0" + _extract(suite, b"", b"psk_id_hash", b"") + _extract(suite, b"", b"info_hash", info)
    )
    secret = _extract(suite, shared, b"secret", b"")
    return (
        _expand(suite, secret, b"key", context, _KEY_BYTES[aead]),
        _expand(suite, secret, b"base_nonce", context, 12),
    )


def _extract(suite: bytes, salt: bytes, label: bytes, keying: bytes) -> bytes:
    """§4: LabeledExtract over RFC 5869."""
    return hmac.digest(salt or bytes(32), b"HPKE-v1" + suite + label + keying, hashlib.sha256)


def _expand(suite: bytes, key: bytes, label: bytes, info: bytes, length: int) -> bytes:
    """§4: LabeledExpand; one block of SHA-256 is enough here."""
    labelled = length.to_bytes(2) + b"HPKE-v1" + suite + label + info
    return hmac.digest(key, labelled + b"\1", hashlib.sha256)[:length]
