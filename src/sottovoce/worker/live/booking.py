"""What a live session spends of a worker's budget: booked before anything of the answers leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sottovoce.connection.live.offers import LiveOffer
from sottovoce.model import Guarantee, Unit
from sottovoce.model.canonical_json import canonical
from sottovoce.model.sum_rounds import Contributor, Integers, OpenedSum
from sottovoce.securesum.envelope import sha256_hex
from sottovoce.worker.ledger import Ledger, Spending
from sottovoce.worker.live.promising import Promise

__all__ = ["Booked", "spending_of"]

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
