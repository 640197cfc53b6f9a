"""Guarantee: (epsilon, delta) per answer or per worker; Claim: a paper's statement."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from enum import StrEnum
from numbers import Integral, Real
from typing import Literal, NoReturn, TypeAlias

from sottovoce.errors import UsageError
from sottovoce.model.display import Display, Displayed


class Unit(StrEnum):
    """The difference of two neighbouring submissions: one answer, or all answers of a worker.

    In both cases the whole submission is observed, all its reports together.
    """

    ANSWER = "answer"
    WORKER = "worker"

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        """Refuse any other name: taken for the wrong unit, it would understate the privacy loss."""
        raise UsageError(f"the unit must be 'answer' or 'worker', not {value!r}")


UnitName: TypeAlias = Unit | Literal["answer", "worker"]
"""A unit, or its name."""


def rounded_up(number: float, digits: int) -> str:
    """A bound with few digits, rounded up so that it stays a bound; rounding errors are ignored.

    >>> rounded_up(4.60512, 4), rounded_up(20.000000000000004, 4), rounded_up(123456.5, 4)
    ('4.606', '20', '123,457')
    """
    if 10**digits <= number < math.inf:
        return f"{math.ceil(number * (1 - 1e-12)):,}"
    text = f"{number:.{digits}g}"
    if math.isfinite(number) and number > float(text) * (1 + 1e-9):
        up = Context(prec=digits, rounding=ROUND_CEILING).create_decimal(Decimal(number))
        return f"{float(up):.{digits}g}"
    return text


def rounded_down(number: float, digits: int) -> str:
    """The largest number with few digits that is not above this one.

    >>> rounded_down(0.1666666, 3), rounded_down(0.5, 3)
    ('0.166', '0.5')
    """
    down = Context(prec=digits, rounding=ROUND_FLOOR).create_decimal(Decimal(number))
    return f"{float(down):.{digits}g}"


def check_number(field: str, value: object) -> None:
    """Refuse anything but a number; texts and booleans are refused too."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise UsageError(f"{field} must be a number, not {value!r}")


def check_count(field: str, value: object) -> None:
    """Refuse anything but an integer."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise UsageError(f"{field} must be an integer, not {value!r}")


def check_answer_count(answers: int) -> None:
    """Refuse fewer than one answer."""
    if answers < 1:
        raise UsageError(f"answers must be at least 1, not {answers}")


def check_epsilon(epsilon: float) -> None:
    """Refuse a negative epsilon, and NaN."""
    if not epsilon >= 0:
        raise UsageError(f"epsilon must be at least 0, not {epsilon:g}")


def check_delta(delta: float) -> None:
    """Refuse a delta below 0, or of 1 and above."""
    if not 0 <= delta < 1:
        raise UsageError(f"delta must be at least 0 and below 1, not {delta:g}")


@dataclass(frozen=True, slots=True)
class Guarantee(Displayed):
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
        object.__setattr__(self, "unit", Unit(self.unit))
        check_count("answers", self.answers)
        check_answer_count(self.answers)
        check_epsilon(self.epsilon)
        if not 0 <= self.delta <= 1:
            raise UsageError(f"delta must be from 0 to 1, not {self.delta:g}")

    @property
    def is_finite(self) -> bool:
        """Whether epsilon is finite and delta below 1."""
        return math.isfinite(self.epsilon) and self.delta < 1

    @property
    def guesses_right(self) -> float:
        """A bound on how often someone who sees all reports guesses which of two answers is true.

        The two are neighbouring answers, each as likely before: (exp(ε) + δ) / (1 + exp(ε)), since
        the two errors of a test add up to at least 2 (1 - δ) / (1 + exp(ε)).

        >>> round(Guarantee(Unit.ANSWER, 1, math.log(3)).guesses_right, 12)
        0.75
        """
        least = math.exp(-self.epsilon) / (1 + math.exp(-self.epsilon))
        return 1 - (1 - self.delta) * least

    def _display(self) -> Display:
        facts = [
            ("answers", f"{self.answers:,}"),
            ("bound", "exact" if self.exact else "proven upper bound"),
            *(("assumes", each) for each in self.assumptions),
            *([("source", self.source)] if self.source else []),
        ]
        right = math.ceil(100 * self.guesses_right - 1e-9)
        changed = "one answer" if self.unit is Unit.ANSWER else "all answers of a worker"
        odds = (
            f"Someone who sees all reports and must choose between two possibilities for {changed} "
            f"is right at most {right} times of 100. Without reports it is 50."
        )
        return Display(f"Guarantee: {self}", tuple(facts), odds=(right, odds))

    def within(self, epsilon: float, delta: float = 0.0) -> bool:
        """Whether this is at least as strong as (epsilon, delta)."""
        return self.epsilon <= epsilon and self.delta <= delta

    def __str__(self) -> str:
        delta = f", delta {self.delta:g}" if self.delta else ""
        epsilon = (
            f"epsilon {rounded_up(self.epsilon, 4)}" if self.is_finite else "no finite epsilon"
        )
        return f"{epsilon}{delta} per {self.unit}"


@dataclass(frozen=True, slots=True)
class Claim:
    """A paper's claim for the same parameters: shown next to the guarantee, never instead of it."""

    epsilon: float
    delta: float
    source: str
    verdict: str
