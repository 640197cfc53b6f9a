"""What a worker has in common with each other worker for a whole session.

Everybody's sealing key is in the terms, so both ends of a channel are known before anything is
said, and nobody can stand between them. What two workers have agreed on is computed once. From
it a key is derived for each row that one seals to the other, bound to the session, the round, who
sends it to whom, and the mask key it comes with; and one key for tags, each of which is over the
session, the round, its sender and its reader.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sottovoce.errors import UsageError, absent
from sottovoce.securesum.envelope import b64, unb64
from sottovoce.securesum.star.masked.ciphers import TAG, expanded, extracted, tagged
from sottovoce.securesum.star.masked.keys import bound
from sottovoce.securesum.star.rounds import RoundStart
from sottovoce.securesum.star.terms import Member, StarTerms

try:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
except ImportError:
    if not TYPE_CHECKING:
        X25519PrivateKey = X25519PublicKey = absent(
            "cryptography", purpose="masking sums", extra="secure"
        )

__all__ = ["Channels", "Lock"]

Lock = tuple[bytes, bytes]
"""The key of one message, and what it is bound to."""

_TAGS = b"sottovoce-star/1 masked tags"


class Channels:
    """The channels of worker `number` to everybody, itself too."""

    def __init__(self, terms: StarTerms, number: int, sealing: X25519PrivateKey) -> None:
        if b64(sealing.public_key().public_bytes_raw()) != terms.members[number - 1].sealing:
            raise UsageError(f"the terms have another sealing key for worker {number}")
        self._number, session = number, bytes.fromhex(terms.id)
        self._keys = [_agreed(sealing, member, session) for member in terms.members]
        self._tag_keys = [None if key is None else expanded(key, _TAGS) for key in self._keys]

    def lock(self, start: RoundStart, dealer: int, recipient: int, masks: bytes) -> Lock | None:
        """How a dealer seals to a recipient, in the round in which its mask key is this one.

        None: what one of the two has in the terms is no key, and neither can read the other.
        """
        key = self._keys[self._peer(dealer, recipient)]
        if key is None:
            return None
        info = bound("row", start, dealer, recipient, masks)
        return expanded(key, info), info

    def tag(self, start: RoundStart, sender: int, recipient: int, digest: str) -> bytes | None:
        """What tells the recipient that the sender has confirmed the set of this name."""
        key = self._tag_keys[self._peer(sender, recipient)]
        if key is None:
            return None
        return tagged(key, bound("confirm", start, sender, recipient, bytes.fromhex(digest)))

    def tags(self, start: RoundStart, members: frozenset[int], digest: str) -> bytes:
        """The tags of this worker for everybody in the set, numbers rising."""
        made = (self.tag(start, self._number, each, digest) for each in sorted(members))
        return b"".join(bytes(TAG) if tag is None else tag for tag in made)

    def _peer(self, one: int, other: int) -> int:
        """The place of the other end."""
        return (other if one == self._number else one) - 1


def _agreed(sealing: X25519PrivateKey, peer: Member, session: bytes) -> bytes | None:
    try:
        secret = sealing.exchange(X25519PublicKey.from_public_bytes(unb64(peer.sealing) or b""))
    except ValueError:  # zero, whatever the private key is: no secret
        return None
    return extracted(secret, session)
