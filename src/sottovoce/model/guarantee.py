"""What is promised: a bound on what reports may betray, with its unit and its assumptions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from sottovoce.errors import UsageError

__all__ = ["Claim", "Guarantee", "Unit"]


class Unit(StrEnum):
    """What two neighbouring submissions may differ in: one answer, or all answers of a worker.

    Either way the whole submission is observed, all its reports together.
    """

    ANSWER = "answer"
    WORKER = "worker"


@dataclass(frozen=True, slots=True)
class Guarantee:
    """(ε, δ) for all reports of a worker who gave `answers` answers, observed together.

    For all neighbouring answers a, a' and all sets S of submissions
    P(S | a) ≤ exp(ε) P(S | a') + δ. `epsilon` is infinite where no finite one holds. `exact` says
    that no smaller ε would do; otherwise it is a proven upper bound.
    """

    unit: Unit
    answers: int
    epsilon: float
    delta: float = 0.0
    exact: bool = True
    assumptions: tuple[str, ...] = ()
    source: str = ""

    def __post_init__(self) -> None:
        if self.answers < 1:
            raise UsageError(f"answers must be at least 1, not {self.answers}")
        if not self.epsilon >= 0:
            raise UsageError(f"epsilon must be at least 0, not {self.epsilon:g}")
        if not 0 <= self.delta <= 1:
            raise UsageError(f"delta must be from 0 to 1, not {self.delta:g}")

    @property
    def is_finite(self) -> bool:
        """Whether anything is promised at all."""
        return math.isfinite(self.epsilon) and self.delta < 1

    def within(self, epsilon: float, delta: float = 0.0) -> bool:
        """Whether this is at least as strong as (epsilon, delta)."""
        return self.epsilon <= epsilon and self.delta <= delta

    def __str__(self) -> str:
        delta = f", delta {self.delta:g}" if self.delta else ""
        return f"epsilon {self.epsilon:.4g}{delta} per {self.unit}"


@dataclass(frozen=True, slots=True)
class Claim:
    """What a paper says of the same parameters: shown beside the guarantee, never instead of it."""

    epsilon: float
    delta: float
    source: str
    verdict: str
