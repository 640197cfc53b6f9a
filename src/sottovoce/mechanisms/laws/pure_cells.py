"""Guarantees of mechanisms that give every answer fresh noise with a pure ε of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import nextafter
from typing import Protocol, TypeVar

from sottovoce.model import Guarantee, Unit
from sottovoce.model.policy import check_target
from sottovoce.privacy.calibration import smallest_number
from sottovoce.privacy.composition import pure_delta, pure_guarantee

__all__ = ["PureCell", "calibrated_cell", "cells_delta", "cells_guarantee"]

TOLERANCE = 1e-7
"""How far below a target calibration aims, and how finely it searches."""

LARGEST = 45.0
"""Above ln 2⁶⁴ no integer law has an ε; a search need not go there."""


class PureCell(Protocol):
    """The law of one report: its exact ε, and δ at a smaller one."""

    @property
    def cell_epsilon(self) -> float:
        """max ln P(report | answer) / P(report | another answer): attained."""
        ...

    def cell_delta(self, epsilon: float) -> float:
        """At least max Σ [P(report | answer) - exp(ε) P(report | another answer)]₊."""
        ...


Cell = TypeVar("Cell", bound=PureCell)


def cells_guarantee(
    cell: PureCell, answers: int, unit: Unit, delta: float, *, exact: bool
) -> Guarantee:
    """The guarantee of `answers` independent reports; `exact` is that of the cell's curve.

    At delta 0 it is exact: a worker's loss is the sum of its reports', and each can reach ε₀.
    Per worker with a delta it is the bound of `pure_delta`.
    """
    pure = pure_guarantee(cell.cell_epsilon, answers, unit, delta)
    if delta == 0:
        return replace(pure, exact=True, source="exact: the losses of independent reports add up")
    if not _single(answers, unit):
        return pure
    epsilon = smallest_number(lambda e: cell.cell_delta(e) <= delta, 0.0, cell.cell_epsilon)
    return replace(
        pure, epsilon=epsilon, exact=exact, source="the hockey-stick divergence of one report"
    )


def cells_delta(cell: PureCell, epsilon: float, answers: int, unit: Unit) -> float:
    """The other way along the same curve."""
    bound = pure_delta(epsilon, cell.cell_epsilon, answers, unit)
    return min(cell.cell_delta(epsilon), bound) if _single(answers, unit) else bound


def calibrated_cell(
    make: Callable[[float, float], Cell], epsilon: float, *, unit: Unit, delta: float, answers: int
) -> Cell:
    """The least noise within the target.

    `make(ε₀, tolerance)` is the law whose cell ε is at most ε₀, and less than that by no more than
    the tolerance where integers allow.
    """
    check_target(epsilon, delta, answers)
    rounds = answers if unit is Unit.WORKER else 1
    fine = TOLERANCE / rounds
    if delta == 0:
        # One step down, so that `rounds` times it does not round to more than the target.
        return make(epsilon if rounds == 1 else nextafter(epsilon / rounds, 0.0), fine)
    aim = epsilon * (1 - min(TOLERANCE, TOLERANCE / epsilon))

    def holds(cell_epsilon: float) -> bool:
        if rounds == 1:
            return make(cell_epsilon, fine).cell_delta(aim) <= delta
        return pure_delta(aim, cell_epsilon, answers, unit) <= delta

    return make(_largest(holds, aim / rounds, fine), fine)


def _single(answers: int, unit: Unit) -> bool:
    return unit is Unit.ANSWER or answers == 1


def _largest(holds: Callable[[float], bool], low: float, fine: float) -> float:
    """The largest number that holds, if `low` does and all between them."""
    if holds(LARGEST):
        return LARGEST
    high = low
    while holds(high):
        low, high = high, min(2 * high, LARGEST)
    while high - low > fine:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
