"""From what was offered and who joined to the terms that everybody signs under."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace

from sottovoce.campaign.live.offering import LiveOffer, wrong
from sottovoce.campaign.live.suites import check_suite
from sottovoce.model.sum_rounds import SumSpec
from sottovoce.securesum.em.noise_calibration import calibrated, default_honest
from sottovoce.securesum.em.planner import codec_of, exact_terms
from sottovoce.securesum.em.sensitivity import Slots
from sottovoce.securesum.em.terms import EMTerms
from sottovoce.securesum.envelope import b64
from sottovoce.securesum.masked.masks import check_fits
from sottovoce.securesum.star.terms import KeyTerms, Member, StarTerms, default_threshold

__all__ = ["agreed_terms", "check_offer"]


def agreed_terms(
    offer: LiveOffer, id: str, coordinator: str, members: Sequence[Member]
) -> StarTerms:
    """The terms of a session of these members. May take seconds, where noise is calibrated.

    Where nobody said otherwise, ceil(2 (J + 1) / 3) workers must agree (P2, section 6.3), and as
    few may be opened.
    """
    threshold = offer.threshold or default_threshold(len(members))
    minimum = offer.minimum or threshold
    with wrong("workers"):
        shape = StarTerms(
            id, offer.suite, {}, threshold, minimum, coordinator, tuple(members), _key(offer)
        )
    return replace(shape, purpose=_purpose(offer, len(members)).as_json())


def check_offer(offer: LiveOffer, coordinator: str) -> None:
    """Refuse what could not begin even if everybody joined."""
    with wrong("suite"):
        check_suite(offer.suite)
    members = [
        Member(number, b64(secrets.token_bytes(32)), b64(secrets.token_bytes(32)))
        for number in range(1, offer.workers + 1)
    ]
    terms = agreed_terms(offer, "rehearsal", coordinator, members)
    # Whatever seals them, totals are kept and sent as 64-bit integers.
    with wrong("scale"):
        for spec in _specs(EMTerms.of_json(terms.purpose)):
            check_fits(spec, terms.size)


def _specs(purpose: EMTerms) -> list[SumSpec]:
    """What is added up in the rounds, with the largest values of a worker."""
    if purpose.noise is None:
        return [SumSpec(len(purpose.tasks), codec_of(purpose).greatest)]
    return [Slots(purpose).spec(number) for number in range(len(purpose.noise.rounds))]


def _key(offer: LiveOffer) -> KeyTerms | None:
    if offer.dealer is None or offer.bits is None or offer.s is None:
        return None
    return KeyTerms(offer.bits, offer.dealer, offer.s)


def _purpose(offer: LiveOffer, workers: int) -> EMTerms:
    if offer.epsilon is None or offer.scale is not None:
        with wrong("scale"):
            return exact_terms(
                offer.tasks, offer.labels, offer.mode, scale=offer.scale, rounds=offer.rounds
            )
    with wrong("epsilon"):
        return calibrated(
            offer.tasks, offer.labels, offer.epsilon, offer.delta or 0.0,
            honest=default_honest(workers), weighted_rounds=offer.weighted_rounds or 0,
        )  # fmt: skip
