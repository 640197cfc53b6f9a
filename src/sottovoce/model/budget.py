"""Budget: the most epsilon and delta that a worker allows for all campaigns together."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from sottovoce.errors import UsageError
from sottovoce.model.guarantee import Guarantee, Unit, UnitName


class Amount(NamedTuple):
    """A pair (ε, δ) that is spent, or left."""

    epsilon: float
    delta: float


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that all campaigns together may spend, for each unit; None for no limit.

    Per worker: the privacy loss about everything the worker answered. Per answer: the privacy loss
    about one fact, even if every campaign asks about it once. Both add up by basic
    composition, Σᵢ εᵢ and Σᵢ δᵢ over campaigns i (Dwork & Roth 2014, Thm. 3.16). A delta is 0
    unless given.

    >>> Budget(worker_epsilon=8).limit(Unit.WORKER)
    Amount(epsilon=8, delta=0.0)
    """

    worker_epsilon: float | None = None
    worker_delta: float = 0.0
    answer_epsilon: float | None = None
    answer_delta: float = 0.0

    def __post_init__(self) -> None:
        if self.worker_epsilon is None and self.answer_epsilon is None:
            raise UsageError("a budget needs a limit: worker_epsilon, answer_epsilon or both")
        _check("worker", self.worker_epsilon, self.worker_delta)
        _check("answer", self.answer_epsilon, self.answer_delta)

    def limit(self, unit: UnitName) -> Amount:
        """The limit in this unit; infinite if there is none."""
        epsilon, delta = (
            (self.worker_epsilon, self.worker_delta)
            if Unit(unit) is Unit.WORKER
            else (self.answer_epsilon, self.answer_delta)
        )
        return Amount(math.inf, math.inf) if epsilon is None else Amount(epsilon, delta)

    def allows(self, guarantee: Guarantee) -> bool:
        """Whether reports with this guarantee, and no others, are within the limit of its unit."""
        return guarantee.is_finite and guarantee.within(*self.limit(guarantee.unit))

    def covers(self, other: Budget) -> bool:
        """Whether every limit is at least the other's."""
        return all(
            mine >= theirs
            for unit in Unit
            for mine, theirs in zip(self.limit(unit), other.limit(unit), strict=True)
        )

    def as_json(self) -> dict[str, Any]:
        """The budget in a ledger."""
        return asdict(self)


def _check(unit: str, epsilon: Any, delta: Any) -> None:
    if epsilon is not None and not (_is_number(epsilon) and 0 < epsilon < math.inf):
        raise UsageError(f"{unit}_epsilon must be a number above 0, or None for no limit")
    if not (_is_number(delta) and 0 <= delta < 1):
        raise UsageError(f"{unit}_delta must be a number from 0 and below 1")
    if delta and epsilon is None:
        raise UsageError(f"{unit}_delta needs {unit}_epsilon")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


DEFAULT_BUDGET = Budget(worker_epsilon=50)
"""The budget of a device, unless its worker chooses another; the worker's page has the same."""
