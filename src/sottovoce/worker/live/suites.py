"""How a worker seals what it adds: by the suite of the terms, and the key that was dealt for it."""

from __future__ import annotations

from typing import Any

from sottovoce.errors import SealedRefused
from sottovoce.securesum.envelope import unb64
from sottovoce.securesum.masked.worker import MaskedWorker
from sottovoce.securesum.star.messages import THE_SERVER
from sottovoce.securesum.star.suite import WorkerSuite
from sottovoce.securesum.star.terms import StarTerms, Suite
from sottovoce.worker.live.own_keys import OwnKeys

__all__ = ["suite_of"]


def suite_of(terms: StarTerms, number: int, keys: OwnKeys, deal: Any) -> WorkerSuite:
    """The worker's side of the suite. A key is verified: its document, and the worker's share."""
    if terms.suite is Suite.MASKED:
        return MaskedWorker(keys.sealing)
    # It needs gmpy2, which the other suite does not.
    from sottovoce.securesum.damgard_jurik.dealer import open_share, read_public
    from sottovoce.securesum.damgard_jurik.worker import ThresholdWorker

    document, sealed = _dealt(deal)
    public = read_public(terms, document)
    return ThresholdWorker(public, open_share(terms, public, number, keys.sealing, sealed))


def _dealt(deal: Any) -> tuple[bytes, bytes]:
    """The dealer's document and this worker's sealed share, as the server hands them on."""
    try:
        document, sealed = deal["public"].encode("ascii"), unb64(deal["share"])
    except (KeyError, TypeError, AttributeError, ValueError):
        document, sealed = b"", None
    if sealed is None:
        raise SealedRefused(THE_SERVER, "it hands on no key that was dealt")
    return document, sealed
