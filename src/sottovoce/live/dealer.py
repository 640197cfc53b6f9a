"""The dealer of a live session's key: makes it once the roster is known, and seals its shares.

The key is not stored. A dealer has a keyholder's key file and is neither the requester nor a
worker: while it has the primes, it could decrypt every contribution.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sottovoce.errors import UsageError
from sottovoce.live.member_client import MemberClient, invalid_reply
from sottovoce.live.offer import LiveOffer, check_terms
from sottovoce.model import Keyholder
from sottovoce.securesum.committee.keyholder import KeyholderKeys
from sottovoce.securesum.damgard_jurik.dealer import DealtKey, deal_threshold_key
from sottovoce.securesum.envelope import b64
from sottovoce.securesum.star.terms import KeyTerms

ENDED = frozenset({"running", "done", "aborted"})
"""States of a session in which no key is needed any more."""

SECONDS = {1024: 5, 2048: 15, 3072: 60}
"""Seconds that two safe primes of half as many bits may take: several times the usual."""


def usual_seconds(key: KeyTerms) -> int:
    """How long it may take to make a key."""
    return SECONDS[key.bits]


def check_dealer(offer: LiveOffer, own: Keyholder) -> KeyTerms:
    """The key to deal, if the session pins this dealer."""
    if offer.key is None:
        raise UsageError(
            f"live session {offer.session} needs no dealer, because its suite has no key"
        )
    if offer.key.dealer != own:
        raise UsageError(
            f"live session {offer.session} names another dealer, "
            f"{offer.key.dealer.fingerprint}, but your keys are {own.fingerprint}; ask the "
            "requester which card they received"
        )
    if offer.state in ENDED:
        raise UsageError(f"live session {offer.session} needs no key: it is {offer.state}")
    return offer.key


def deal_key(
    client: MemberClient, offer: LiveOffer, keys: KeyholderKeys, tell: Callable[[str], None]
) -> None:
    """Wait until the members are known, make the key, and send all shares, sealed.

    Nothing is stored: the key is gone when the process ends.
    """
    tell("waiting for the workers to join")
    document = client.terms()
    try:
        found, server = document["terms"], document["sealing"]
    except (KeyError, TypeError):
        raise invalid_reply(client.link.server) from None
    terms, _ = check_terms(found, offer)
    tell(f"{terms.size} workers take part; making the key")
    client.post("/deal", _written(deal_threshold_key(terms, keys.signing, server)))
    tell("dealt: every share is sealed to its holder; nothing is stored here")


def _written(dealt: DealtKey) -> dict[str, Any]:
    shares = [b64(dealt.shares[number]) for number in sorted(dealt.shares)]
    return {"public": dealt.public.decode("ascii"), "shares": shares}
