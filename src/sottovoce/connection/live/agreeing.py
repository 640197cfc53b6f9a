"""The terms against the offer: a member takes part in what it agreed to, and in nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sottovoce.connection.live.offers import LiveOffer
from sottovoce.errors import SealedRefused, UsageError
from sottovoce.securesum.em.terms import EMTerms
from sottovoce.securesum.star.messages import THE_SERVER
from sottovoce.securesum.star.terms import FEWEST_MEMBERS, Member, StarTerms

__all__ = ["agreed_terms"]


def agreed_terms(
    document: Any, offer: LiveOffer, own: Member | None = None
) -> tuple[StarTerms, EMTerms]:
    """The terms that the server fixed, and what they are about, if that was offered.

    Everything that could betray more than was agreed to is compared: what is opened and at which
    scale, how many must agree, who deals the key, who signs for the server; and for a worker,
    whether its `own` keys are in its place. What noise keeps, each worker works out for itself.
    """
    try:
        terms = StarTerms.of_json(document)
        purpose = EMTerms.of_json(terms.purpose)
    except UsageError as error:
        raise SealedRefused(THE_SERVER, str(error)) from None
    differs = [*_differences(terms, offer), *_other_purposes(purpose, offer)]
    if own is not None and own not in terms.members:
        differs.append("this worker's own keys are not in its place")
    if differs:
        raise SealedRefused(THE_SERVER, f"the terms are not what was offered: {differs[0]}")
    return terms, purpose


def _differences(terms: StarTerms, offer: LiveOffer) -> Iterator[str]:
    """What is another than it was offered, in words."""
    if terms.name != offer.session:
        yield "they are another session's"
    if terms.coordinator != offer.coordinator:
        yield "another key signs for the server"
    if terms.suite is not offer.suite:
        yield "sums are sealed in another way"
    if terms.key != offer.key:
        yield "another key is to be dealt, or somebody else deals it"
    if not FEWEST_MEMBERS <= terms.size <= offer.workers:
        yield f"there are {terms.size:,} workers, and {offer.workers:,} were to be invited"
    if (terms.threshold, terms.minimum) != offer.quorum(terms.size):
        yield "another number of workers must agree"


def _other_purposes(purpose: EMTerms, offer: LiveOffer) -> Iterator[str]:
    if purpose.mode is not offer.mode:
        yield "something else is opened"
    if (purpose.tasks, purpose.labels) != (offer.tasks, offer.labels):
        yield "they are about other tasks or labels"
    if purpose.repeats != 1:
        yield "a task may be answered more than once"
    if offer.noise is None and (purpose.scale, purpose.rounds) != (offer.scale, offer.rounds):
        yield "they have another scale, or more rounds"
