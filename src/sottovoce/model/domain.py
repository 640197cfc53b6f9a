"""Domain: the possible answers, which are labels, ordered or not, or numbers in a range."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self, TypeAlias

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.model.arrays import FloatArray

Label: TypeAlias = str | int | float | bool


def label_text(label: Label) -> str:
    """A label as text in files: true and false as in JSON, 2.0 as 2.

    >>> [label_text(label) for label in ("yes", True, 2.0, 0.5)]
    ['yes', 'true', '2', '0.5']
    """
    if isinstance(label, bool):
        return str(label).lower()
    if isinstance(label, float) and label.is_integer():
        return str(int(label))
    return str(label)


def are_numbers(labels: Iterable[Label]) -> bool:
    """Whether every label is a finite number, so that the labels have a known order."""
    try:
        return all(math.isfinite(float(label)) for label in labels)
    except ValueError:
        return False


class Kind(StrEnum):
    """Categorical labels, ordinal labels (their order means something), or numbers."""

    CATEGORICAL = "categorical"
    ORDINAL = "ordinal"
    NUMERIC = "numeric"


@dataclass(frozen=True, slots=True)
class Domain:
    """The public set an answer comes from.

    >>> Domain.categorical(["no", "yes"]).size
    2
    >>> Domain.numeric(0, 10).high
    10.0
    """

    kind: Kind
    labels: tuple[Label, ...] = ()
    low: float = -math.inf
    high: float = math.inf
    step: float | None = None

    def __post_init__(self) -> None:
        if self.kind is Kind.NUMERIC:
            if self.labels:
                raise UsageError("a numeric domain has a range, not labels")
            if self.step is not None and not 0 < self.step < math.inf:
                raise UsageError(f"step must be above 0, not {self.step:g}")
            if not self.low < self.high:
                raise UsageError(
                    f"a numeric range needs low < high, not {self.low:g}..{self.high:g}"
                )
        elif not self.labels:
            raise UsageError(f"a {self.kind} domain needs at least one label")
        elif any(len(set(map(text, self.labels))) != self.size for text in (str, label_text)):
            raise UsageError(f"the labels of a {self.kind} domain must differ from each other")

    @classmethod
    def categorical(cls, labels: Iterable[Label]) -> Self:
        """Labels without an order."""
        return cls(Kind.CATEGORICAL, tuple(labels))

    @classmethod
    def ordinal(cls, labels: Iterable[Label]) -> Self:
        """Labels from least to most."""
        return cls(Kind.ORDINAL, tuple(labels))

    @classmethod
    def numeric(
        cls, low: float = -math.inf, high: float = math.inf, step: float | None = None
    ) -> Self:
        """Numbers from low to high, unbounded where not given, in steps where one is given."""
        return cls(Kind.NUMERIC, (), float(low), float(high), None if step is None else float(step))

    @property
    def size(self) -> int:
        """How many labels there are; 0 for numbers."""
        return len(self.labels)

    @property
    def is_numeric(self) -> bool:
        """Whether answers are numbers rather than labels."""
        return self.kind is Kind.NUMERIC

    @property
    def scale(self) -> FloatArray:
        """The number each label stands for: itself where every label is a number, else its rank."""
        if are_numbers(self.labels):
            return np.array([float(label) for label in self.labels])
        return np.arange(self.size, dtype=np.float64)

    def as_json(self) -> dict[str, Any]:
        """The domain in requests and replies of the service, with numbers as numbers."""
        if not self.is_numeric:
            return {"kind": str(self.kind), "labels": list(self.labels)}
        step = {} if self.step is None else {"step": self.step}
        return {"kind": str(self.kind), "low": self.low, "high": self.high, **step}

    def __str__(self) -> str:
        if self.is_numeric:
            return f"numeric {self.low:g}..{self.high:g}"
        shown = ", ".join(str(label) for label in self.labels[:6])
        return f"{self.kind} {{{shown}{', …' if self.size > 6 else ''}}}"
