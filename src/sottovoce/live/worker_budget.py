"""What noised sums betray of a worker at most: before it joins, and held against the terms.

What a live session spends of a worker's budget: booked before anything of the answers leaves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from sottovoce.errors import SealedRefused
from sottovoce.live.offer import LiveOffer
from sottovoce.model import Guarantee, Unit
from sottovoce.model.canonical_json import canonical
from sottovoce.model.sum_rounds import Contributor, Integers, OpenedSum
from sottovoce.securesum.em.noise_calibration import calibrated, default_honest, guarantee
from sottovoce.securesum.em.terms import EMTerms, Law
from sottovoce.securesum.envelope import sha256_hex
from sottovoce.securesum.star.messages import THE_SERVER
from sottovoce.worker.ledger import Ledger, Spending

__all__ = ["Booked", "Promise", "check_promise", "promise_of", "promised", "spending_of"]


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


MECHANISM = "noised-sums"
NEGLIGIBLE = 1e-20
"""A delta below this is shown and not booked: a device fails to do what it is told more often."""


class Booked:
    """A contributor whose first values are spent before they leave; refused, none does."""

    def __init__(self, contributor: Contributor, ledger: Ledger, spending: Spending) -> None:
        self._contributor, self._ledger, self._spending = contributor, ledger, spending

    def values(self, opened: Sequence[OpenedSum]) -> Integers:
        """What the worker adds; in the first round, once the spending is on the disk."""
        if not opened:
            self._ledger.spend(self._spending)
        return self._contributor.values(opened)


def spending_of(offer: LiveOffer, tasks: Integers, promise: Promise) -> Spending:
    """What taking part with answers to these tasks spends. A worker takes part in a session once.

    Tasks are by their place in the offer, each once.
    """
    named = tuple(offer.tasks[task] for task in tasks)

    def guarantee(answers: int, unit: Unit) -> Guarantee:
        held = promise[unit]
        return replace(held, delta=0.0) if held.delta < NEGLIGIBLE else held

    return Spending("you", offer.requester, _named(offer), MECHANISM, named, guarantee, whole=True)


def _named(offer: LiveOffer) -> str:
    """The hash of what was offered, which stands in the ledger as the policy's."""
    body = {"format": MECHANISM, "labels": list(offer.labels), "noise": repr(offer.noise),
            "tasks": list(offer.tasks)}  # fmt: skip
    return sha256_hex(canonical(body))
