"""What a worker reads before it agrees: who asks, what leaves, what that betrays, whom to trust."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sottovoce.cli import screen
from sottovoce.cli.sealed_consent import what_is_sealed, who_holds_keys
from sottovoce.http_client import plain
from sottovoce.model import Unit

if TYPE_CHECKING:
    from sottovoce.worker.budget import Amount
    from sottovoce.worker.offer import Offer
    from sottovoce.worker.preview import Preview

__all__ = ["amount_words", "consent_lines", "quoted", "summary_lines"]


def consent_lines(offer: Offer, preview: Preview) -> Iterator[str]:
    """The whole screen, line by line. Numbers are this program's; quoted words the requester's."""
    yield from _who_asks(offer)
    if offer.sealed is None:
        yield from _what_leaves(offer)
        yield from _what_it_betrays(offer, preview)
        yield from _whom_to_trust(offer)
    else:
        yield from what_is_sealed(offer, offer.sealed)
        yield from _what_it_betrays(offer, preview)
        yield from who_holds_keys(offer, offer.sealed)


def summary_lines(preview: Preview) -> Iterator[str]:
    """What is about to happen, said once more before it cannot be undone."""
    per_answer, per_worker = (preview.guarantee[unit] for unit in (Unit.ANSWER, Unit.WORKER))
    yield f"WHAT STAYS HERE: your {preview.answers:,} answers. They are written nowhere."
    if preview.sealed:
        yield (
            f"WHAT LEAVES: {preview.reports:,} sealed answers in {preview.most_bytes:,} bytes. "
            f"What is opened of all workers' together betrays at most {per_answer} and "
            f"{per_worker}."
        )
        return
    yield (
        f"WHAT LEAVES: {preview.reports:,} randomised reports in at most {preview.most_bytes:,} "
        f"bytes. All your reports to this campaign then betray at most {per_answer} and "
        f"{per_worker}."
    )


def quoted(text: str) -> list[str]:
    """Somebody else's words, marked as such, with nothing in them that could act on a terminal."""
    return [f"  │ {line}" for line in plain(text, lines=True).split("\n")]


def amount_words(amount: Amount) -> str:
    """How much is left."""
    delta = f" and delta {amount.delta:g}" if amount.delta else ""
    return f"epsilon {amount.epsilon:g}{delta}"


def _who_asks(offer: Offer) -> Iterator[str]:
    yield "WHO ASKS, in the requester's own words:"
    for words in dict.fromkeys((offer.title, offer.question)):  # they may be the same
        yield from quoted(words)
    yield f"Campaign {offer.campaign} at {offer.server}."
    yield ""


def _what_leaves(offer: Offer) -> Iterator[str]:
    yield "WHAT LEAVES THIS MACHINE: reports, drawn at random from your answers here."
    if offer.odds is not None:
        yield offer.odds.sentence
        yield from screen.hundred(offer.odds.of_100).split("\n")
    given = len(offer.tasks)
    if offer.sends < given:
        yield (
            f"Of your answers to {given:,} questions, {offer.sends:,} are chosen at random and "
            "sent; the others stay here."
        )
    if offer.hides_participation:
        yield "A question you skip looks like any other: something is sent in its place."
    else:
        yield "Which questions you answer is seen; a question you skip is left out."
    yield (
        "The server stores the reports, the day they arrive, and a name that was made up for you "
        "in this campaign only."
    )
    yield ""


def _what_it_betrays(offer: Offer, preview: Preview) -> Iterator[str]:
    count = len(offer.tasks)
    yield "WHAT IT BETRAYS AT MOST, computed here from the policy:"
    yield f"  about one answer: {offer.per_answer}"
    yield f"  about all {count:,} answers together: {offer.per_worker}"
    yield from (f"  {warning}" for warning in offer.warnings)
    left = preview.left[Unit.WORKER]
    if left.epsilon < float("inf"):
        yield f"  left of your budget for all campaigns: {amount_words(left)} per worker"
    left = preview.left[Unit.ANSWER]
    if left.epsilon < float("inf"):
        yield f"  and {amount_words(left)} per answer"
    yield ""


def _whom_to_trust(offer: Offer) -> Iterator[str]:
    yield "WHOM YOU TRUST: this program on this machine, which draws the noise. Nobody else:"
    yield "whatever the server or the requester do, they have no more than what is sent. They do"
    yield "see that somebody takes part, and from which network address. A link that was made for"
    yield "you alone tells them who; the noise still hides what you answered."
    yield f"Policy {offer.policy.hash}"
    yield "is pinned: if the campaign ever offers another, nothing is sent."
    yield ""
