"""Dealing a key: each holder gets its share, sealed to it; everybody gets the public document.

The dealer could decrypt everything: for a while it has the whole secret. It must be somebody who
is neither the requester nor a worker, and who forgets what it made. If the requester deals, there
is no privacy from the requester at all. What forgetting means in Python, `generating` says.

Holders 1 … J are the workers, holder J + 1 is the server (P2, protocol 2): a set of θ - 1 workers
and the server opens.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sottovoce.errors import SealedRefused, UsageError
from sottovoce.securesum.envelope import CONTEXT, Ed25519PrivateKey, canonical, public_text, unb64
from sottovoce.securesum.hpke import X25519PrivateKey, seal, unseal
from sottovoce.securesum.star.damgard_jurik.decrypting import holds_share
from sottovoce.securesum.star.damgard_jurik.documents import (
    FORMAT,
    THE_DEALER,
    key_terms,
    public_document,
)
from sottovoce.securesum.star.damgard_jurik.generating import generate
from sottovoce.securesum.star.damgard_jurik.integers import bytes_of, integer_of
from sottovoce.securesum.star.damgard_jurik.keys import KeyShare, PublicKey
from sottovoce.securesum.star.terms import StarTerms

__all__ = ["Deal", "deal", "open_share"]


@dataclass(frozen=True, slots=True)
class Deal:
    """What leaves the dealer: the signed document, and the sealed share of each holder."""

    public: bytes
    shares: Mapping[int, bytes]


def deal(terms: StarTerms, signing: Ed25519PrivateKey, server: str) -> Deal:
    """A fresh key for a session. `server` is the X25519 key, base64, of the server's share."""
    key = key_terms(terms)
    if public_text(signing) != key.dealer.signing:
        raise UsageError("the terms of this session have another dealer: use the dealer's own key")
    sealing = _sealing_keys(terms, server)
    public, shares = generate(key.bits, key.s, terms.threshold, terms.size + 1)
    sealed = {
        share.number: seal(
            sealing[share.number],
            bytes_of(share.value, public.length),
            _info(terms, public, share.number),
        )
        for share in shares
    }
    return Deal(public_document(terms, public, signing), sealed)


def open_share(
    terms: StarTerms, public: PublicKey, number: int, sealing: X25519PrivateKey, sealed: bytes
) -> KeyShare:
    """A holder's own share, if it is the one that the public document has the verifier of."""
    content = unseal(sealing, sealed, _info(terms, public, number))
    if content is None:
        raise SealedRefused(THE_DEALER, "the share was not sealed to this holder for this key")
    if len(content) != public.length:
        raise SealedRefused(THE_DEALER, f"the share is not {public.length} bytes long")
    share = KeyShare(number, integer_of(content))
    if not holds_share(public, share):
        raise SealedRefused(THE_DEALER, "the share is not the one that its document speaks of")
    return share


def _sealing_keys(terms: StarTerms, server: str) -> dict[int, bytes]:
    """To which key each holder's share is sealed."""
    texts = [*(member.sealing for member in terms.members), server]
    keys = {number: unb64(text) or b"" for number, text in enumerate(texts, 1)}
    if len(keys[len(texts)]) != 32:
        raise UsageError("the server's sealing key is not 32 bytes in base64")
    return keys


def _info(terms: StarTerms, public: PublicKey, number: int) -> bytes:
    """What a sealed share is for: one holder of one key of one session."""
    purpose = {"format": FORMAT, "holder": number, "key": public.id, "session": terms.id}
    return CONTEXT + canonical(purpose).encode("ascii")
