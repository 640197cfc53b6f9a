"""The side of a private EM that needs no answer: what is added up, and what the truths are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sottovoce.model import Domain, Result
from sottovoce.model.sum_rounds import OpenedSum, Planner
from sottovoce.securesum.em.noised_planning import NoisedPlanner
from sottovoce.securesum.em.planning import EMPlanner, EMState
from sottovoce.securesum.em.terms import EMTerms, Mode

__all__ = ["PrivatePlanner", "planner_of"]


class PrivatePlanner(Planner, Protocol):
    """A planner of a private EM, which also knows what the truths are."""

    terms: EMTerms

    def decode(self, opened: Sequence[OpenedSum]) -> EMState:
        """Where the EM stands after at least one opened round."""
        ...

    def result(self, opened: Sequence[OpenedSum], domain: Domain | None = None) -> Result:
        """The truths after at least one opened round; `domain` has the labels of the terms."""
        ...


def planner_of(terms: EMTerms) -> PrivatePlanner:
    """The planner for the mode of the terms."""
    return NoisedPlanner(terms) if terms.mode is Mode.NOISED else EMPlanner(terms)
