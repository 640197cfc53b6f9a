"""Known truths, and the score of inferred truths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from sottovoce.errors import DataError
from sottovoce.model.arrays import Names
from sottovoce.model.display import Display, Displayed, first_rows


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Gold(Displayed):
    """The right value of some tasks: for evaluation, or as known truths for inference.

    `tasks` are names, `truths` labels (compared as text) or floats (for numbers).
    """

    tasks: Names
    truths: npt.NDArray[Any]

    def __post_init__(self) -> None:
        if self.tasks.shape != self.truths.shape or self.tasks.ndim != 1:
            raise DataError("gold tasks and truths must be columns of one length")
        if len(self.tasks) == 0:
            raise DataError("the gold table has no rows")

    def __len__(self) -> int:
        return len(self.tasks)

    def _display(self) -> Display:
        rows = first_rows(self.tasks, self.truths)
        return Display(f"Gold: {len(self):,} tasks", (), ("task", "truth"), rows, len(self))


@dataclass(frozen=True, slots=True)
class Score:
    """The score of truths against gold, with a 95 % bootstrap interval over tasks.

    `low` and `high` bound the accuracy for labels, the mean absolute error for numbers.
    `tasks` gold tasks were scored. Left out are `unanswered` gold tasks without an answer, and
    `known` ones whose truth the method knew.
    """

    tasks: int
    unanswered: int
    low: float
    high: float
    accuracy: float | None = None
    mae: float | None = None
    rmse: float | None = None
    known: int = 0

    def __str__(self) -> str:
        name, value = next(iter(self.as_dict().items()))
        digits = ".3f" if name == "accuracy" else ".4g"
        interval = f"95 % interval {self.low:{digits}} to {self.high:{digits}}"
        return f"{name} {value:{digits}} ({interval}) on {self.tasks:,} gold tasks"

    def as_dict(self) -> dict[str, float | int]:
        """All defined values, ready for JSON."""
        names = ("accuracy", "mae", "rmse", "low", "high", "tasks", "unanswered")
        values = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return values | ({"known": self.known} if self.known else {})
