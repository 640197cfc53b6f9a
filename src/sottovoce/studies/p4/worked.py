"""The settings of P4's worked examples: the bounds it prints, and crowds to try them on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from sottovoce.planning.pipelines import Pair
from sottovoce.planning.theorems.sparse_numbers import (
    SparseSetting,
    published_factorization_error,
    published_laplace_error,
    published_null_response_error,
)
from sottovoce.planning.trials import Spread
from sottovoce.studies.contests import Contest
from sottovoce.studies.p4.alike import AlikeCrowd
from sottovoce.studies.printed import printed
from sottovoce.studies.study import Size

__all__ = [
    "DIMENSIONS", "EPSILON", "ERRORS", "GAMMA", "LP", "MF", "OURS", "RR", "TASKS", "THEOREMS",
    "WORKED", "Case", "Seen", "agrees", "cases", "formulas", "is_above", "printed_bound",
]  # fmt: skip

LP = Pair("LP", "laplace", "mean", published=True)
RR = Pair("RR", "null-randomized-response", "mean")
MF = Pair(
    "MF", "matrix-factorization", "mean", {"dimension": 100, "ridge": 1e-9}, published=True
)  # fmt: skip
OURS = Pair("threshold + aware", "threshold")
THEOREMS: Mapping[str, str] = {"LP": "Theorem 2", "RR": "Theorem 3", "MF": "Theorem 5"}

GAMMA, EPSILON, TASKS, DIMENSIONS = 10, 1.0, 1_000, 100
"""Of the examples: Γ = 0 … 9, ε = 1; n and d of the third."""
WORKED = 0.9
"""The sparsity of the first two examples; the third says that it does not matter."""
ERRORS = 3.0
"""A bound fails where the simulated error is so many standard errors above it."""

SPARSITIES: Mapping[Size, tuple[float, ...]] = {
    "quick": (0.0, WORKED), "full": (0.0, 0.25, 0.5, 0.75, WORKED),
}  # fmt: skip
MF_SPARSITIES: Mapping[Size, tuple[float, ...]] = {
    "quick": (0.0, WORKED), "full": (0.0, 0.5, WORKED),
}  # fmt: skip
CROWD: Mapping[Size, tuple[int, int]] = {"quick": (300, 30), "full": (500, 100)}
MF_WORKERS: Mapping[Size, int] = {"quick": 10, "full": 300}
TRIALS: Mapping[Size, int] = {"quick": 2, "full": 20}
MF_TRIALS: Mapping[Size, int] = {"quick": 2, "full": 5}

Seen: TypeAlias = Mapping[str, Spread]
"""The simulated errors of a case, by pair."""


@dataclass(frozen=True, slots=True)
class Case:
    """A crowd of the examples, the pairs that are tried on it, and how often."""

    crowd: AlikeCrowd
    pairs: tuple[Pair, ...]
    trials: int

    @property
    def contest(self) -> Contest:
        """What is contested: participation is hidden, as P4 has it."""
        return Contest(self.crowd, EPSILON, self.pairs, hide_participation=True)


def cases(size: Size) -> list[Case]:
    """Truths of 0 under LP and RR, truths of 0 and of 7 under MF, at several sparsities."""
    first = [
        Case(AlikeCrowd(*CROWD[size], 0, sparsity), (LP, RR, OURS), TRIALS[size])
        for sparsity in SPARSITIES[size]
    ]
    pairs = (MF,) if size == "quick" else (MF, OURS)
    return first + [
        Case(AlikeCrowd(MF_WORKERS[size], TASKS, truth, sparsity), pairs, MF_TRIALS[size])
        for truth in (0, 7)
        for sparsity in MF_SPARSITIES[size]
    ]


def formulas(sparsity: float = WORKED) -> dict[str, float]:
    """The bounds of Theorems 2, 3 and 5 in the examples' settings, as their formulas give them.

    >>> {name: round(bound, 5) for name, bound in formulas().items()}
    {'LP': 14.12979, 'RR': 3.4368, 'MF': 1.79788}
    """
    setting = SparseSetting(
        values=tuple(range(GAMMA)), truth=0, answered=1 - sparsity, epsilon=EPSILON
    )
    return {
        "LP": published_laplace_error(setting).value,
        "RR": published_null_response_error(setting).value,
        "MF": published_factorization_error(TASKS, DIMENSIONS, GAMMA, EPSILON).value,
    }


def printed_bound(name: str) -> float:
    """The bound that P4 prints for a mechanism."""
    return printed("P4 examples").number("bound", THEOREMS[name])


def is_above(error: Spread, bound: float) -> bool:
    """Whether a simulated error is above a bound beyond chance."""
    return error.mean - ERRORS * error.standard_error > bound


def agrees(paper: float, value: float) -> bool:
    """Whether a number is the printed one, rounded to as many places as it has."""
    places = len(str(paper).partition(".")[2])
    return round(value, places) == paper
