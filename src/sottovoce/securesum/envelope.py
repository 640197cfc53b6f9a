"""Signed messages: a canonical text, and an Ed25519 signature (RFC 8032) over it.

A message is JSON, `{"signature":…,"text":…}`, whose text is the canonical JSON of its body. One
body has one text, one text one digest, and any other encoding is refused: no two parties can read
different things in the same bytes.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from sottovoce.errors import SealedRefused, absent
from sottovoce.model.canonical_json import canonical

try:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )
except ImportError:
    if not TYPE_CHECKING:
        InvalidSignature = Ed25519PrivateKey = Ed25519PublicKey = absent(
            "cryptography", purpose="signing messages", extra="secure"
        )

__all__ = [
    "CONTEXT",
    "Ed25519PrivateKey",
    "Envelope",
    "b64",
    "canonical",
    "holds",
    "parsed_object",
    "public_text",
    "read_envelope",
    "sha256_hex",
    "signed",
    "unb64",
]

CONTEXT = b"sottovoce-sealed/1\0"
"""The prefix of signed and sealed data, so that no signature is valid in another protocol."""

_SIGNATURE_BYTES = 64

Whose: TypeAlias = str | Callable[[Mapping[str, Any]], str]
"""A public key, or a function that finds it from the sender in the body."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """A message with a valid signature: its body, its text, and its unsigned parts."""

    body: Mapping[str, Any]
    text: str
    extra: Mapping[str, Any]

    @property
    def digest(self) -> str:
        """SHA-256 of the text, in hexadecimal: the message's name."""
        return sha256_hex(self.text)


def sha256_hex(text: str) -> str:
    """SHA-256 of an ASCII text, in hexadecimal."""
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def b64(content: bytes) -> str:
    """URL-safe base64 without padding."""
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode("ascii")


def unb64(text: object) -> bytes | None:
    """The bytes that `b64` wrote; None for anything else, also for other encodings of them."""
    if not isinstance(text, str):
        return None
    try:
        content = base64.urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
    except (ValueError, binascii.Error):
        return None
    return content if b64(content) == text else None


def public_text(key: Ed25519PrivateKey) -> str:
    """The public half of a signing key, as policies and messages write it."""
    return b64(key.public_key().public_bytes_raw())


def signed(body: Mapping[str, Any], key: Ed25519PrivateKey, **extra: Any) -> bytes:
    """The message with this body. Its other parts are not signed: the body must pin them."""
    text = canonical(body)
    signature = b64(key.sign(CONTEXT + text.encode("ascii")))
    return canonical({**extra, "signature": signature, "text": text}).encode("ascii")


def read_envelope(
    content: bytes, key: Whose, *, culprit: str, extra: Collection[str] = ()
) -> Envelope:
    """The message in these bytes, if the owner of the key signed it.

    Only `extra` may be present in addition to signature and text. A refusal names the culprit.
    """
    wire = parsed_object(content, culprit)
    if wire.keys() != {"signature", "text", *extra}:
        raise SealedRefused(culprit, "the message does not have the required fields")
    text, signature = wire["text"], unb64(wire["signature"])
    if not isinstance(text, str) or not text.isascii():
        raise SealedRefused(culprit, "the message's text is not canonical JSON")
    body = parsed_object(text.encode("ascii"), culprit)
    whose = key if isinstance(key, str) else key(body)
    if signature is None or not holds(whose, signature, text):
        raise SealedRefused(culprit, "the message's signature is invalid")
    return Envelope(body, text, {name: wire[name] for name in extra})


def holds(key: str, signature: bytes, text: str) -> bool:
    """Whether the owner of this key signed the text."""
    public = _public(key)
    if public is None or len(signature) != _SIGNATURE_BYTES:
        return False
    try:
        public.verify(signature, CONTEXT + text.encode("ascii"))
    except InvalidSignature:
        return False
    return True


@lru_cache(maxsize=16_384)
def _public(key: str) -> Ed25519PublicKey | None:
    content = unb64(key)
    try:
        return None if content is None else Ed25519PublicKey.from_public_bytes(content)
    except ValueError:
        return None


def parsed_object(content: bytes, culprit: str) -> dict[str, Any]:
    """A JSON object in canonical form: no float, no repeated field, no space."""
    try:
        text = content.decode("ascii")
        document = _DECODER.decode(text)
        same = isinstance(document, dict) and canonical(document) == text
    except (ValueError, RecursionError):
        same = False
    if not same:
        raise SealedRefused(culprit, "the message is not canonical JSON")
    fields: dict[str, Any] = document
    return fields


def _refuse(_: str) -> NoReturn:
    raise ValueError("messages must not contain fractions")


_DECODER = json.JSONDecoder(parse_float=_refuse, parse_constant=_refuse)
