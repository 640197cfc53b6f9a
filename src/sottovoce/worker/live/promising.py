"""What noised sums betray of a worker at most: before it joins, and held against the terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias

from sottovoce.connection.live.offers import LiveOffer
from sottovoce.errors import SealedRefused
from sottovoce.model import Guarantee, Unit
from sottovoce.securesum.em.noise_calibration import calibrated, default_honest, guarantee
from sottovoce.securesum.em.terms import EMTerms, Law
from sottovoce.securesum.star.messages import THE_SERVER

__all__ = ["Promise", "check_promise", "promise_of", "promised"]

Promise: TypeAlias = Mapping[Unit, Guarantee]
"""A guarantee for one answer, and for all answers of a worker together."""

WHOLE = 1 + 1 / 64
"""A Gaussian share has a whole variance of 64 or more: among fewer workers there may be so much
less noise, which is still enough for what was offered of one answer."""


def promise_of(offer: LiveOffer, answers: int) -> Promise | None:
    """What so many answers would betray at most, whoever joins; None where nothing is promised."""
    if offer.noise is None:
        return None
    noise = offer.noise
    terms = calibrated(
        offer.tasks, offer.labels, noise.epsilon, noise.delta,
        honest=default_honest(offer.workers), weighted_rounds=noise.weighted_rounds,
    )  # fmt: skip
    found = promised(terms, answers)
    one, together = found[Unit.ANSWER], found[Unit.WORKER]
    return {
        Unit.ANSWER: replace(one, epsilon=noise.epsilon),
        Unit.WORKER: replace(together, epsilon=together.epsilon * _margin(terms)),
    }


def promised(terms: EMTerms, answers: int) -> Promise:
    """What the noise of these terms keeps of a worker with so many answers."""
    return {unit: guarantee(terms, answers, unit) for unit in Unit}


def check_promise(purpose: EMTerms, workers: int, promise: Promise, answers: int) -> Promise:
    """What the terms promise, if it is no less than was promised before this worker joined.

    Nor may it count on more workers than the rule says: what is not their noise is no noise.
    """
    noise = purpose.noise
    if noise is None:
        raise SealedRefused(THE_SERVER, "there is to be noise in all totals, and there is none")
    if noise.honest > default_honest(workers):
        raise SealedRefused(
            THE_SERVER, f"the noise counts on {noise.honest} of {workers} workers being honest"
        )
    held = promised(purpose, answers)
    weaker = [
        unit for unit in Unit if not held[unit].within(promise[unit].epsilon, promise[unit].delta)
    ]
    if weaker:
        raise SealedRefused(THE_SERVER, "the terms have less noise than was offered")
    return held


def _margin(terms: EMTerms) -> float:
    rounds = () if terms.noise is None else terms.noise.rounds
    return WHOLE if any(each.law is Law.GAUSSIAN for each in rounds) else 1.0
