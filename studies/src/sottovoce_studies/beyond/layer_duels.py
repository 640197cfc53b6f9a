"""Comparisons of one and two layers in paired trials, and the rule of their studies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sottovoce.figures import Chart, Level
from sottovoce.planning.trials import Spread
from sottovoce_studies.beyond.layer_trials import (
    ALIKE,
    EXPERTS,
    FEW_ALIKE,
    FEW_MIXED,
    MIXED,
    READERS,
    errors_of,
    kept_by,
    layers_at,
    published,
)
from sottovoce_studies.cells import Cell
from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.crowds import Source
from sottovoce_studies.paper_tables import BAND, curve, spread_by
from sottovoce_studies.rulings import Ruling
from sottovoce_studies.study import Row, Size, Value

__all__ = [
    "ANSWERS",
    "RULE",
    "Case",
    "Duel",
    "Seen",
    "cases",
    "counted",
    "duel_rows",
    "duels_of",
    "paired",
    "published_charts",
    "ruling",
]

Seen = tuple["Case", Sequence[Any]]
"""A case with its trials."""

CROWDS: Mapping[Size, tuple[tuple[str, Source], ...]] = {
    "quick": (MIXED,),
    "full": (ALIKE, MIXED, FEW_ALIKE, FEW_MIXED, EXPERTS),
}
ANSWERS = {MIXED[0]: 100, ALIKE[0]: 100, FEW_ALIKE[0]: 20, FEW_MIXED[0]: 20, EXPERTS[0]: 100}
EPSILONS: Mapping[Size, tuple[float, ...]] = {"quick": (0.5, 1.0), "full": (0.1, 0.5, 1.0)}
TRIALS: Mapping[Size, int] = {"quick": 2, "full": 20}

ERRORS = 3.0
"""The number of standard errors by which one larger error refutes a claim."""

RULE = (
    "the error of two layers must be smaller in most cases (2 standard errors) and larger in none "
    "(3)"
)


@dataclass(frozen=True, slots=True)
class Case:
    """Trials of two layers as published at a nominal epsilon on one crowd, and of one layer."""

    name: str
    source: Source
    trials: int
    epsilon: float

    @property
    def answers(self) -> int:
        """The number of answers per worker."""
        return ANSWERS[self.name]

    def cells(self, seed: int) -> list[Cell]:
        """One cell per trial."""
        chosen = tuple(layers_at(self.epsilon, self.answers).items())
        return [Cell(errors_of, (self.source, chosen, trial, seed)) for trial in range(self.trials)]

    def held(self, kind: str) -> dict[str, Value]:
        """The guarantee of a kind that both have, for a row."""
        if kind == "nominal":
            return {"equal": "nominal only", "epsilon": self.epsilon, "delta": None}
        held = kept_by(published(self.epsilon), kind, self.epsilon, self.answers)
        unit = "worker, sampled" if kind == "sampled" else str(held.unit)
        return {"equal": unit, "epsilon": held.epsilon, "delta": held.delta}


def cases(size: Size) -> list[Case]:
    """Every crowd at every nominal epsilon."""
    return [
        Case(name, source, TRIALS[size], epsilon)
        for name, source in CROWDS[size]
        for epsilon in EPSILONS[size]
    ]


@dataclass(frozen=True, slots=True)
class Duel:
    """Two layers against one layer with the same guarantee of a kind, in paired trials."""

    kind: str
    reader: str
    two: Spread
    one: Spread
    apart: Spread

    @property
    def two_better(self) -> bool:
        """Whether the error of two layers is smaller, by two standard errors."""
        return self.apart.mean < -BAND * self.apart.standard_error

    @property
    def one_better(self) -> bool:
        """Whether the error of one layer is smaller, by two standard errors."""
        return self.apart.mean > BAND * self.apart.standard_error

    @property
    def refutes(self) -> bool:
        """Whether the error of one layer is smaller, by three standard errors."""
        return self.apart.mean > ERRORS * self.apart.standard_error

    @property
    def lower(self) -> str:
        """The side with the smaller error."""
        return "two" if self.two_better else "one" if self.one_better else "neither"


def paired(kind: str, reader: str, seen: Sequence[Mapping[str, float]], two: str, one: str) -> Duel:
    """The duel of two named mechanisms with one method.

    Trials share answers and noise words, so differences vary less than errors.
    """
    first, second = ([trial[f"{name} {reader}"] for trial in seen] for name in (two, one))
    apart = [a - b for a, b in zip(first, second, strict=True)]
    return Duel(kind, reader, Spread.of(first), Spread.of(second), Spread.of(apart))


def duels_of(pairs: Sequence[Seen], kind: str, reader: str = "TD") -> list[Duel]:
    """Two layers as published against one layer, in every case."""
    return [paired(kind, reader, seen, "two-layer", kind) for _, seen in pairs]


def ruling(duels: Sequence[Duel]) -> Ruling:
    """The ruling on the claim that two layers have the smaller error.

    It holds if they do in most cases and one layer in none; in part if they do in most, but not in
    all others.
    """
    two, one = sum(duel.two_better for duel in duels), sum(duel.one_better for duel in duels)
    words = f"the error of two layers is smaller in {two}, larger in {one} of {len(duels)} cases"
    if 2 * two <= len(duels):
        return Ruling("fails", words)
    return Ruling("partly" if any(duel.refutes for duel in duels) else "holds", words)


def counted(duels: Sequence[Duel]) -> str:
    """How often each side has the smaller error, and the ratio of all errors."""
    two, one = sum(duel.two_better for duel in duels), sum(duel.one_better for duel in duels)
    ratio = sum(duel.two.mean for duel in duels) / sum(duel.one.mean for duel in duels)
    return (
        f"smaller in {two} and larger in {one} of {len(duels)} cases, {ratio:.2f} times that of "
        "one layer in all"
    )


def duel_rows(pair: Seen, kinds: Sequence[str]) -> Iterator[Row]:
    """One row per kind of equal guarantee."""
    case, seen = pair
    for kind in kinds:
        td, aware = (paired(kind, reader, seen, "two-layer", kind) for reader in READERS)
        yield {
            "part": f"Error rate, two layers as published, {case.name}",
            "nominal": case.epsilon,
            **case.held(kind),
            "two TD": td.two.mean,
            "one TD": td.one.mean,
            "s.e.": td.apart.standard_error,
            "lower": td.lower,
            "two aware": aware.two.mean,
            "one aware": aware.one.mean,
            CONSTANT: spread_by(seen)[CONSTANT].mean,
            "trials": case.trials,
        }


def published_charts(pairs: Sequence[Seen], names: Mapping[str, str], unit: str) -> Iterator[Chart]:
    """One chart per crowd: errors of TD by nominal epsilon; `names` has the curves by kind."""
    for name in dict.fromkeys(case.name for case, _ in pairs):
        own = sorted(
            ((case.epsilon, spread_by(seen)) for case, seen in pairs if case.name == name),
            key=lambda pair: pair[0],
        )
        series = tuple(
            curve(
                label,
                [epsilon for epsilon, _ in own],
                [spread[f"{kind} TD"] for _, spread in own],
                "theirs" if kind in ("two-layer", "nominal") else "ours",
            )
            for kind, label in names.items()
        )
        yield Chart(
            f"One layer with the true guarantee per {unit} of two as published: {name}",
            "epsilon per answer, nominal",
            "error rate of TD",
            series,
            (Level(CONSTANT, own[0][1][CONSTANT].mean),),
            note="P1 §1: with the same privacy guarantee two layers deliver better utility. Here "
            f"one layer has the true guarantee per {unit} of two layers.",
            better="lower",
        )
