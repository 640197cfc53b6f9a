"""What a worker reads of a sealed campaign: what is sealed, for whom, and what gets opened."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sottovoce.http_client import plain

if TYPE_CHECKING:
    from sottovoce.mechanisms.sealed_sum import SealedSum
    from sottovoce.worker.offer import Offer

__all__ = ["what_is_sealed", "who_holds_keys"]


def what_is_sealed(offer: Offer, sealed: SealedSum) -> Iterator[str]:
    """What leaves, who can read it, and what becomes of it."""
    yield "WHAT LEAVES THIS MACHINE: your answers as they are, cut into pieces and sealed here."
    yield (
        f"Each of {sealed.seats} keyholders can open one piece, which says nothing. To read an "
        f"answer, {sealed.degree + 1} of them would have to break their word together."
    )
    yield (
        f"What they open, once, is the total of at least {sealed.minimum:,} workers' answers to "
        "each question, with noise of their own in it. Nothing else is ever opened."
    )
    if sealed.hidden:
        yield "A question you skip looks like any other: something is sealed in its place."
    else:
        yield "Which questions you answer is seen; a question you skip is left out."
    yield (
        "The server stores the sealed pieces, the day they arrive, and a name that was made up for "
        "you in this campaign only. You send once."
    )
    yield ""


def who_holds_keys(offer: Offer, sealed: SealedSum) -> Iterator[str]:
    """Whom a worker trusts: by name and fingerprint."""
    yield "WHOM YOU TRUST: this program on this machine, and that of these keyholders no more than"
    yield f"{sealed.degree} would betray you, to each other or to the server:"
    for number, each in enumerate(sealed.keyholders, 1):
        yield f"  {number}  {each.fingerprint}  {plain(each.name)}"
    yield "They publish these fingerprints where you can compare them: the names here are only"
    yield "what the requester says. The server and the requester can open nothing without"
    yield f"{sealed.degree + 1} of them. They do see that somebody takes part, and from which"
    yield "network address."
    yield f"Policy {offer.policy.hash}"
    yield "is pinned: if the campaign ever offers another, nothing is sent."
    yield ""
