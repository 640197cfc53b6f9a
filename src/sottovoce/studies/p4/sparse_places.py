"""Places in P4's synthetic experiments: a size and a sparsity of the answers, and an epsilon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sottovoce.studies.cells import Cell
from sottovoce.studies.p4.sparse_answers import PAPERS, Truths, crowd, maes, ours
from sottovoce.studies.p4.sparse_tables import Curves, Trials
from sottovoce.studies.study import Size

__all__ = ["VALUES", "Found", "Place", "along_epsilon", "along_sparsity", "gathered"]

VALUES = 10
"""|Γ|: answers are 0, …, 9 (P4 §VI-A)."""
QUICK_FROM = 3.0
"""Below this epsilon ours takes as long as all others together: quick runs leave it out."""


@dataclass(frozen=True, slots=True)
class Place:
    """Answers of a size and a sparsity, with truths P4's or others, and an epsilon."""

    workers: int
    tasks: int
    sparsity: float
    epsilon: float
    truths: Truths = "N(0, 1)"

    def cells(self, trials: int, seed: int, *, with_ours: int) -> list[Cell]:
        """One for each trial: P4's mechanisms, and in the first so many ours, which is slower."""
        source = crowd(self.workers, self.tasks, self.sparsity, self.truths)
        both = (*PAPERS, ours(beyond=self.truths == "N(0, 1)"))
        return [
            Cell(maes, (source, VALUES, self.epsilon, both if trial < with_ours else PAPERS,
                        trial, seed))
            for trial in range(trials)
        ]  # fmt: skip

    def trials_of_ours(self, size: Size, full: int) -> int:
        """In how many trials ours is read: so many in a full run, one in quick ones, or none."""
        return full if size == "full" else int(self.epsilon >= QUICK_FROM)


Found: TypeAlias = Mapping[Place, Trials]


def gathered(places: Sequence[Place], results: Sequence[Mapping[str, float]]) -> Found:
    """The trials of each place, of which all have as many."""
    trials = len(results) // len(places)
    return {
        place: results[number * trials : (number + 1) * trials]
        for number, place in enumerate(places)
    }


def along_epsilon(found: Found, sparsity: float) -> Curves:
    """The trials by epsilon, at one sparsity."""
    return {place.epsilon: seen for place, seen in found.items() if place.sparsity == sparsity}


def along_sparsity(found: Found, epsilon: float, truths: Truths = "N(0, 1)") -> Curves:
    """The trials by sparsity, at one epsilon."""
    return {
        place.sparsity: seen
        for place, seen in found.items()
        if (place.epsilon, place.truths) == (epsilon, truths)
    }
