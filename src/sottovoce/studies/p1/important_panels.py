"""More and more important workers: the panels of the study, and where the change falls."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sottovoce.model import WORDS, Domain
from sottovoce.planning.theorems.weighted_vote import DeltaLaw
from sottovoce.planning.trials import Spread
from sottovoce.studies.p1.important_crowd import ImportantCrowd
from sottovoce.studies.p1.layers import two_layer

__all__ = ["BINARY", "TASKS", "WORKERS", "Panel", "Seen", "expected_change", "falls", "rises"]

WORKERS, TASKS = 50, 200
ERRORS = 3.0
"""So many standard errors are a rise, or a fall."""
BINARY = Domain.categorical((0, 1))

Seen: TypeAlias = Mapping[int, Sequence[Mapping[str, float]]]
"""Trials by the number of important workers, with `change two-layer` in each."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One kind of crowd at one nominal epsilon, with more and more important workers."""

    epsilon: float
    turned: float
    numbers: tuple[int, ...]

    @property
    def name(self) -> str:
        """As tables and charts call it."""
        return f"nominal epsilon {self.epsilon:g}" + (", a quarter turned" if self.turned else "")

    def crowd(self, number: int) -> ImportantCrowd:
        """The crowd with so many important workers."""
        return ImportantCrowd(WORKERS, TASKS, number, self.turned)


def falls(seen: Seen, numbers: Sequence[int]) -> bool:
    """Whether the change is lower at the last number than at the first, and rises at no step."""
    if len(numbers) < 2:
        return False
    whole = _step(seen, numbers[0], numbers[-1])
    return whole.mean < -ERRORS * whole.standard_error and not rises(seen, numbers)


def rises(seen: Seen, numbers: Sequence[int]) -> list[int]:
    """The numbers from which on to the next the change rises by more than three errors."""
    steps = itertools.pairwise(numbers)
    found = [(number, _step(seen, number, after)) for number, after in steps]
    return [number for number, step in found if step.mean > ERRORS * step.standard_error]


def expected_change(epsilon: float, number: int) -> float:
    """P1's mean Δ, (b / 2)ⁿ, which is the same for one layer (P1 §6.2.3 and §6.3)."""
    high = 2 * float(two_layer(BINARY, epsilon).hyper.mean / WORDS)  # a = 0
    return DeltaLaw(high, number).mean if number else 1.0


def _step(seen: Seen, first: int, after: int) -> Spread:
    # Trials share their tasks, the other workers and the noise words, so differences vary less.
    pairs = zip(seen[first], seen[after], strict=True)
    return Spread.of([b["change two-layer"] - a["change two-layer"] for a, b in pairs])
