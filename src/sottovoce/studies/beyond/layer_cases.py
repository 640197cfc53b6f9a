"""The crowds on which one and two layers meet, and the guarantees that both keep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sottovoce.model import Unit
from sottovoce.studies.beyond.equal_layers import (
    ALIKE,
    EXPERTS,
    FEW_ALIKE,
    FEW_MIXED,
    MIXED,
    Guaranteed,
    Layer,
    errors_of,
    layers_at,
    one_layer,
    two_layer,
)
from sottovoce.studies.cells import Cell
from sottovoce.studies.sources import Source
from sottovoce.studies.study import Size

__all__ = ["Case", "cases"]

CROWDS: Mapping[Size, tuple[tuple[str, Source], ...]] = {
    "quick": (MIXED,),
    "full": (ALIKE, MIXED, FEW_ALIKE, FEW_MIXED, EXPERTS),
}
ANSWERS = {MIXED[0]: 100, ALIKE[0]: 100, FEW_ALIKE[0]: 20, FEW_MIXED[0]: 20, EXPERTS[0]: 100}
EPSILONS: Mapping[Size, tuple[float, ...]] = {"quick": (0.5, 1.0), "full": (0.1, 0.5, 1.0)}
TRIALS: Mapping[Size, int] = {"quick": 2, "full": 20}

HELD: Mapping[int, Mapping[str, Guaranteed]] = {
    100: {
        "epsilon 1 per answer": Guaranteed(Unit.ANSWER, 1.0, 0.0, 100),
        "(1, 0.1) per answer": Guaranteed(Unit.ANSWER, 1.0, 0.1, 100),
        "epsilon 50 per worker": Guaranteed(Unit.WORKER, 50.0, 0.0, 100),
    },
    20: {
        "epsilon 1 per answer": Guaranteed(Unit.ANSWER, 1.0, 0.0, 20),
        "(1, 0.1) per answer": Guaranteed(Unit.ANSWER, 1.0, 0.1, 20),
        "epsilon 10 per worker": Guaranteed(Unit.WORKER, 10.0, 0.0, 20),
    },
}
"""What two layers of any width are calibrated to, by the answers of a worker."""
WIDTHS: Mapping[Size, tuple[float, ...]] = {
    "quick": (0.2, 0.4),
    "full": (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6),
}
WIDE_CROWDS: Mapping[Size, tuple[tuple[str, Source], ...]] = {
    "quick": (MIXED,),
    "full": (ALIKE, MIXED, FEW_MIXED),
}
WIDE_TRIALS: Mapping[Size, int] = {"quick": 2, "full": 20}


@dataclass(frozen=True, slots=True)
class Case:
    """Trials of some mechanisms on one crowd: as published at an epsilon, or of several widths."""

    name: str
    source: Source
    trials: int
    epsilon: float | None = None
    held: str | None = None
    widths: tuple[float, ...] = ()

    @property
    def answers(self) -> int:
        """How many answers a worker gives."""
        return ANSWERS[self.name]

    def mechanisms(self) -> dict[str, Layer]:
        """What is compared, by name; widths that cannot keep the guarantee are left out."""
        if self.held is None:
            return layers_at(self.epsilon or 0.0, self.answers)
        held = HELD[self.answers][self.held]
        wide = {f"{width:g}": two_layer(held, width) for width in self.widths}
        return {"0": one_layer(held), **{name: each for name, each in wide.items() if each}}

    def cells(self, seed: int) -> list[Cell]:
        """One cell for each trial."""
        chosen = tuple(self.mechanisms().items())
        return [Cell(errors_of, (self.source, chosen, trial, seed)) for trial in range(self.trials)]


def cases(size: Size) -> list[Case]:
    """As published on every crowd at every epsilon, then every width at the same guarantee."""
    published = [
        Case(name, source, TRIALS[size], epsilon=epsilon)
        for name, source in CROWDS[size] for epsilon in EPSILONS[size]
    ]  # fmt: skip
    wide = [
        Case(name, source, WIDE_TRIALS[size], held=held, widths=WIDTHS[size])
        for name, source in WIDE_CROWDS[size] for held, each in HELD[ANSWERS[name]].items()
        if size == "full" or each.delta == 0
    ]  # fmt: skip
    return [*published, *wide]
