"""Totals that were opened: what each of their slots counts, and the law of the noise in them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from sottovoce.api.infer_opened import opened_under
from sottovoce.mechanisms.codes import names_of
from sottovoce.mechanisms.sealed_sum import Layout, SealedSum
from sottovoce.model import Domain, Grid, Policy, label_text
from sottovoce.model.opened_totals import Opened
from sottovoce.server.database.sealed_campaigns import OpenedTotals

__all__ = ["opened_totals", "slot_names"]

ANSWERED = "answered"


def opened_totals(found: OpenedTotals, policy: Policy, names: Sequence[str]) -> Opened:
    """What was opened, as inference takes it."""
    return opened_under(policy, names_of(names), found.totals, found.answered, found.workers)


def slot_names(sealed: SealedSum, domain: Domain) -> list[str]:
    """What the totals of a task count, slot by slot.

    >>> from sottovoce.mechanisms.sealed_sum import SealedSum
    >>> domain = Domain.categorical(["no", "yes"])
    >>> slot_names(SealedSum.calibrated(domain, 1.0), domain)
    ['yes']
    >>> slot_names(SealedSum.calibrated(domain, 1.0, hidden=True), domain)
    ['yes less no', 'answered']
    """
    if sealed.layout is Layout.HISTOGRAM:
        return _bins(sealed.size, domain)
    if sealed.layout is Layout.SUM:
        return ["steps from the middle", ANSWERED] if sealed.hidden else ["steps above the least"]
    labels = [label_text(label) for label in domain.labels]
    if sealed.size > 2:
        return labels
    return [f"{labels[1]} less {labels[0]}", ANSWERED] if sealed.hidden else labels[1:]


def _bins(size: int, domain: Domain) -> list[str]:
    """Equal parts of the range, each by its ends."""
    grid = Grid.over(domain)
    low, width = Fraction(grid.low), (Fraction(grid.high) - Fraction(grid.low)) / size
    ends = [f"{float(low + place * width):g}" for place in range(size + 1)]
    return [f"{ends[place]} to {ends[place + 1]}" for place in range(size)]
