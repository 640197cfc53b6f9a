"""The keys of a worker under masks: for a round, for a session, and their primitives.

For a round a worker has a key pair for the agreement of masks, and a seed. They are fresh in every
round. The mask key of a dropout is recovered, and with it all masks agreed under that key: had it
been used in an earlier round too, where the worker's own mask was opened, the server could reveal
that round's contribution. The key of the channels (`Channels`) is a different one, so that
recovering a mask key does not reveal the shares of others.

For a whole session a worker has a channel with each other worker. All sealing keys are in the
terms, so both ends of a channel are known before the first message, and no man in the middle is
possible. The agreement of two workers is computed once. From it a key is derived for each row that
one seals to the other, bound to the session, the round, the sender and recipient, and the mask key
it comes with; and one key for tags, each of which covers the session, the round, its sender and its
reader.
"""

from __future__ import annotations

import hmac
import os
import struct
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Self

from sottovoce.errors import UsageError, absent
from sottovoce.securesum.envelope import b64, unb64
from sottovoce.securesum.star.suite import RoundStart
from sottovoce.securesum.star.terms import Member, StarTerms

try:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
except ImportError:
    if not TYPE_CHECKING:
        InvalidTag = X25519PrivateKey = X25519PublicKey = AESGCM = absent(
            "cryptography", purpose="masking sums", extra="secure"
        )

TAG = 16
"""Bytes that sealing adds, and bytes of a tag."""

_NONCE = bytes(12)


def hkdf_extract(secret: bytes, salt: bytes) -> bytes:
    """A key from which others are expanded: HKDF-Extract with SHA-256 (RFC 5869, section 2.2)."""
    return hmac.digest(salt, secret, "sha256")


def hkdf_expand(key: bytes, info: bytes) -> bytes:
    """A 256-bit key for one purpose: HKDF-Expand, of which 32 bytes are the first block."""
    return hmac.digest(key, info + b"\x01", "sha256")


def derived(secret: bytes, salt: bytes, info: bytes) -> bytes:
    """A 256-bit key for one purpose: HKDF-SHA256 (RFC 5869)."""
    return hkdf_expand(hkdf_extract(secret, salt), info)


def tagged(key: bytes, content: bytes) -> bytes:
    """A tag by the owner of the key: HMAC-SHA256 (RFC 2104), truncated to 128 bits."""
    return hmac.digest(key, content, "sha256")[:TAG]


def sealed(key: bytes, plaintext: bytes, bound: bytes) -> bytes:
    """AES-256-GCM. The nonce is constant: a key is derived for one message and used for it only."""
    return AESGCM(key).encrypt(_NONCE, plaintext, bound)


def unsealed(key: bytes, content: bytes, bound: bytes) -> bytes | None:
    """The plaintext of `sealed`; None if the key or the context differs."""
    try:
        return AESGCM(key).decrypt(_NONCE, content, bound)
    except InvalidTag:
        return None


KEY = 32
"""Bytes of a key, public or private, and of a seed."""

_PRIME = 2**255 - 19
_ORDER_8 = (
    325606250916557431795983626356110631294008115727848805560023387167927233504,
    39382357235489614581723060781553021112529911719440698176882885853963445705823,
)
_SMALL = frozenset({0, 1, *_ORDER_8, _PRIME - 1, _PRIME, _PRIME + 1})
"""Points with which every agreement is zero, in all their encodings (RFC 7748, section 7)."""

_ENDS = struct.Struct("<II")


@dataclass(frozen=True, slots=True)
class MaskKeys:
    """An X25519 key pair (RFC 7748). The private key is 32 bytes from the operating system."""

    private: bytes = field(repr=False)
    public: bytes = field(init=False)
    _key: X25519PrivateKey = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        key = X25519PrivateKey.from_private_bytes(self.private)
        object.__setattr__(self, "_key", key)
        object.__setattr__(self, "public", key.public_key().public_bytes_raw())

    @classmethod
    def fresh(cls) -> Self:
        """A new pair."""
        return cls(os.urandom(KEY))

    def agreed(self, public: bytes) -> bytes:
        """The shared secret of the owners of both keys."""
        return self._key.exchange(X25519PublicKey.from_public_bytes(public))


def pair_key(start: RoundStart, own: int, pair: MaskKeys, peer: int, public: bytes) -> bytes:
    """The key of the mask that two workers share; both derive the same."""
    if own < peer:
        info = bound("pair", start, own, peer, pair.public, public)
    else:
        info = bound("pair", start, peer, own, public, pair.public)
    return derived(pair.agreed(public), salt(start), info)


def self_key(start: RoundStart, number: int, seed: bytes) -> bytes:
    """The key of a worker's own mask, from its seed b."""
    return derived(seed, salt(start), bound("self", start, number, number))


def bound(purpose: str, start: RoundStart, one: int, other: int, *keys: bytes) -> bytes:
    """The context of a key: purpose, session, round, workers and their public keys."""
    return b"".join((_where(purpose, start.terms.id, start.round), _ENDS.pack(one, other), *keys))


def salt(start: RoundStart) -> bytes:
    """The session id, for key derivation."""
    return bytes.fromhex(start.terms.id)


def is_small(public: bytes) -> bool:
    """Whether every agreement with this key gives zero."""
    return int.from_bytes(public, "little") & ((1 << 255) - 1) in _SMALL


@lru_cache(maxsize=256)
def _where(purpose: str, session: str, round: int) -> bytes:
    head = f"sottovoce-star/1 masked {purpose}\0".encode("ascii")
    return head + bytes.fromhex(session) + round.to_bytes(8, "little")


Lock = tuple[bytes, bytes]
"""The key of one message, and its context."""

_TAGS = b"sottovoce-star/1 masked tags"


class Channels:
    """The channels of worker `number` to every worker, itself included."""

    def __init__(self, terms: StarTerms, number: int, sealing: X25519PrivateKey) -> None:
        if b64(sealing.public_key().public_bytes_raw()) != terms.members[number - 1].sealing:
            raise UsageError(f"the terms have a different sealing key for worker {number}")
        self._number, session = number, bytes.fromhex(terms.id)
        self._keys = [_agreed(sealing, member, session) for member in terms.members]
        self._tag_keys = [None if key is None else hkdf_expand(key, _TAGS) for key in self._keys]

    def lock(self, start: RoundStart, dealer: int, recipient: int, masks: bytes) -> Lock | None:
        """The key by which a dealer seals to a recipient, in the round of this mask key.

        None: one of the two has an invalid key in the terms, and neither can read the other.
        """
        key = self._keys[self._peer(dealer, recipient)]
        if key is None:
            return None
        info = bound("row", start, dealer, recipient, masks)
        return hkdf_expand(key, info), info

    def tag(self, start: RoundStart, sender: int, recipient: int, digest: str) -> bytes | None:
        """The tag that tells the recipient that the sender has confirmed the set of this name."""
        key = self._tag_keys[self._peer(sender, recipient)]
        if key is None:
            return None
        return tagged(key, bound("confirm", start, sender, recipient, bytes.fromhex(digest)))

    def tags(self, start: RoundStart, members: frozenset[int], digest: str) -> bytes:
        """The tags of this worker for all members of the set, numbers rising."""
        made = (self.tag(start, self._number, each, digest) for each in sorted(members))
        return b"".join(bytes(TAG) if tag is None else tag for tag in made)

    def _peer(self, one: int, other: int) -> int:
        """The position of the other end."""
        return (other if one == self._number else one) - 1


def _agreed(sealing: X25519PrivateKey, peer: Member, session: bytes) -> bytes | None:
    try:
        secret = sealing.exchange(X25519PublicKey.from_public_bytes(unb64(peer.sealing) or b""))
    except ValueError:  # always zero, for any private key: not a secret
        return None
    return hkdf_extract(secret, session)
