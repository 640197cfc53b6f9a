"""The server's side of a session's suite, from what is stored of the session."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sottovoce.errors import SealedRefused
from sottovoce.model.canonical_json import canonical
from sottovoce.securesum.envelope import unb64
from sottovoce.securesum.hpke import X25519PrivateKey
from sottovoce.securesum.masked.server import MaskedServer
from sottovoce.securesum.star.suite import ServerSuite
from sottovoce.securesum.star.terms import StarTerms, Suite

__all__ = ["check_deal", "check_suite", "deal_document", "server_suite"]

THE_DEALER = "the dealer"


def server_suite(terms: StarTerms, deal: bytes | None, secret: bytes | None) -> ServerSuite:
    """The suite of the terms; that of a dealt key opens the server's share of it."""
    if terms.suite is Suite.MASKED:
        return MaskedServer()
    assert deal is not None and secret is not None  # noqa: S101, PT018 - a session runs once dealt
    return _threshold_server(terms, deal, secret)


def deal_document(public: str, shares: Sequence[str]) -> bytes:
    """A deal as it is stored: the dealer's document, and each holder's sealed share."""
    return canonical({"public": public, "shares": list(shares)}).encode("ascii")


def check_deal(terms: StarTerms, deal: bytes, secret: bytes) -> None:
    """Refuse a key that the session cannot use, or whose share for the server is not right.

    Workers check their own shares themselves.
    """
    shares = json.loads(deal)["shares"]
    if len(shares) != terms.size + 1 or any(unb64(each) is None for each in shares):
        raise SealedRefused(
            THE_DEALER, f"there is not one share for each of {terms.size} workers and the server"
        )
    _threshold_server(terms, deal, secret)


def check_suite(suite: Suite) -> None:
    """Refuse a suite that this server has no library for."""
    if suite is Suite.DAMGARD_JURIK:
        # Here and below, since its arithmetic needs a library that other sessions do not.
        from sottovoce.securesum.damgard_jurik.server import ThresholdServer  # noqa: F401


def _threshold_server(terms: StarTerms, deal: bytes, secret: bytes) -> ServerSuite:
    from sottovoce.securesum.damgard_jurik.dealer import open_share, read_public
    from sottovoce.securesum.damgard_jurik.server import ThresholdServer

    document, holder = json.loads(deal), terms.size + 1
    public = read_public(terms, document["public"].encode("utf-8"))
    sealing = X25519PrivateKey.from_private_bytes(secret)
    sealed = unb64(document["shares"][-1]) or b""
    return ThresholdServer(public, open_share(terms, public, holder, sealing, sealed))
