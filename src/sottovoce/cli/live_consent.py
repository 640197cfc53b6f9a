"""What people read before they take part in a live session: what is opened, and whom they trust."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from sottovoce.cli.consenting import quoted
from sottovoce.connection.live.offers import LiveOffer
from sottovoce.http_client import plain
from sottovoce.model import Guarantee, Unit

if TYPE_CHECKING:
    from sottovoce.securesum.star.terms import KeyTerms

__all__ = ["dealer_lines", "worker_lines"]


def worker_lines(
    offer: LiveOffer, answers: int, promise: Mapping[Unit, Guarantee] | None
) -> Iterator[str]:
    """The whole screen of a worker. Quoted words are the requester's, all else is computed here."""
    yield "WHO ASKS, in the requester's own words:"
    yield from quoted(offer.title)
    yield f"Live session {offer.session} at {offer.server}, for up to {offer.workers:,} workers."
    yield ""
    yield "WHAT LEAVES THIS MACHINE: numbers that are computed from your answers and sealed here."
    yield f"For each of {len(offer.tasks):,} tasks something is sent, whichever you answered."
    yield f"What is opened, round after round, are totals of {_fewest(offer)}."
    yield ""
    yield from _what_it_betrays(answers, promise)
    yield from _whom_to_trust(offer)
    yield "Stay online until the end: a worker that falls silent is left out, and cannot come back."
    yield ""


def dealer_lines(offer: LiveOffer, key: KeyTerms, seconds: int) -> Iterator[str]:
    """The whole screen of a dealer."""
    yield "WHO ASKS, in the requester's own words:"
    yield from quoted(offer.title)
    yield f"Live session {offer.session} at {offer.server} asks you to deal a key of {key.bits:,}"
    yield f"bits to up to {offer.workers:,} workers and the server."
    yield ""
    yield "WHAT YOU COULD DO: whoever has the primes of the key can decrypt every contribution of"
    yield "every worker. They trust you not to keep them, and not to be in league with the server"
    yield "or the requester. If you are the requester or a worker yourself, do not deal."
    yield "This program makes the key in memory once it is known who takes part, seals a share of"
    yield "it to each holder, sends that, keeps nothing and ends. Let nobody read its memory."
    yield f"Making the key takes seconds; it may take {seconds}."
    yield ""


def _fewest(offer: LiveOffer) -> str:
    _, minimum = offer.quorum(offer.workers)
    known = offer.minimum or offer.threshold
    return f"at least {minimum:,} workers" if known else "at least two thirds of all workers"


def _what_it_betrays(answers: int, promise: Mapping[Unit, Guarantee] | None) -> Iterator[str]:
    if promise is not None:
        yield "WHAT IT BETRAYS AT MOST, since noise is in every total:"
        yield f"  about one answer: {promise[Unit.ANSWER]}"
        yield f"  about all {answers:,} answers together: {promise[Unit.WORKER]}"
        for assumption in promise[Unit.ANSWER].assumptions:
            yield f"  if {assumption}"
        yield "It is booked in your ledger before the first contribution leaves."
    else:
        yield "WHAT IT BETRAYS: YOUR LABELS. THE SERVER CAN COMPUTE THEM from what is opened: see"
        yield "docs/recovery.md. Encryption hides your numbers, not what exact totals give away."
        yield "Nothing is promised, so nothing is booked in your ledger."
    yield ""


def _whom_to_trust(offer: LiveOffer) -> Iterator[str]:
    threshold, _ = offer.quorum(offer.workers)
    split = 2 * threshold - offer.workers
    yield "WHOM YOU TRUST: this program on this machine, and that few workers are in league with"
    yield f"the server: fewer than {split:,} if all {offer.workers:,} join."
    if offer.key is not None:
        yield f"Also the dealer of the key ({offer.key.bits:,} bits), who could read everything:"
        yield f"  {offer.key.dealer.fingerprint}  {plain(offer.key.dealer.name)}"
        yield "Compare the fingerprint with what the dealer published."
    else:
        yield "There is no third party: keys are made here, afresh in every round."
    yield ""
