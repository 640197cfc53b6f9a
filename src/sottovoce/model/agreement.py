"""Agreement: how far workers agree on the same tasks, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from sottovoce.model.arrays import FloatArray, Names
from sottovoce.model.display import SHOWN, Display, Displayed, first_rows

Metric: TypeAlias = Literal["nominal", "ordinal", "interval"]
"""The distance between two answers: equal or not, in ranks, or in numbers."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A statistic and its interval, or why it cannot be computed.

    >>> str(Estimate(0.7434, 0.51, 0.92)), str(Estimate(why="no task has two answers"))
    ('0.743 (0.510 to 0.920)', 'cannot be computed: no task has two answers')
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    why: str | None = None

    def __str__(self) -> str:
        if self.value is None:
            return f"cannot be computed: {self.why}"
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Cohen's kappa of two workers, on the tasks that both answered."""

    first: str
    second: str
    tasks: int
    kappa: Estimate


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Agreement(Displayed):
    """How far workers agree: 1 is complete agreement, 0 what chance gives.

    `observed` is the share of a task's other answers that equal an answer, in the mean over
    answers; for numbers it is alpha. `alpha` is Krippendorff's, with the distance `metric`.
    `fleiss` and `cohen` are kappas, for labels; `cohen` is the mean over `pairs` of workers,
    weighted by the tasks they share. `shares` is each worker's agreement with the others on
    `compared` of its answers, `low` and `high` its interval; nan if it shares no task. Intervals
    are bootstrap percentiles that hold with probability `confidence`.
    """

    metric: Metric
    confidence: float
    tasks: int
    observed: float | None
    alpha: Estimate
    fleiss: Estimate
    cohen: Estimate
    pairs: tuple[PairAgreement, ...]
    workers: Names
    shares: FloatArray
    low: FloatArray
    high: FloatArray
    compared: npt.NDArray[np.int64]

    def table(self) -> dict[str, npt.NDArray[Any]]:
        """The workers' agreement as columns: worker, agreement, low, high, compared."""
        columns = self.shares, self.low, self.high, self.compared
        names = "agreement", "low", "high", "compared"
        return {"worker": self.workers, **dict(zip(names, columns, strict=True))}

    def _display(self) -> Display:
        facts = (
            (f"Krippendorff's alpha, {self.metric}", str(self.alpha)),
            ("Fleiss' kappa", str(self.fleiss)),
            (f"Cohen's kappa, {len(self.pairs):,} pairs", str(self.cohen)),
        )
        title = (
            f"Agreement on {self.tasks:,} tasks with two or more answers; "
            f"{self.confidence:.0%} intervals"
        )
        table = self.table()
        rows = first_rows(*(column[:SHOWN] for column in table.values()))
        return Display(title, facts, tuple(table), rows, len(self.workers))
