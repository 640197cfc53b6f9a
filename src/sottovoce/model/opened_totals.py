"""Opened totals of sealed answers: one row per task, with noise of a known law."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.model.arrays import FloatArray, Names
from sottovoce.model.display import SHOWN, Display, Displayed
from sottovoce.model.domain import Domain

LAYOUTS: Mapping[str, str] = MappingProxyType(
    {
        "votes": "a count for each label",
        "sum": "the sum of all numbers",
        "histogram": "a count for each part of the range",
    }
)
"""The meaning of a task's totals, by the layout's name."""


@dataclass(frozen=True, slots=True, eq=False)
class NoiseLaw:
    """The law of the noise in one slot: pmf[reach + z] is the chance of z, from -reach to reach.

    >>> NoiseLaw(np.array([0.25, 0.5, 0.25]), 1).variance
    0.5
    """

    pmf: FloatArray
    reach: int

    def __post_init__(self) -> None:
        if self.reach < 1 or self.pmf.shape != (2 * self.reach + 1,):
            raise UsageError("a noise law has a chance for every integer from -reach to reach")
        if not (self.pmf >= 0).all() or not 0.999 < self.pmf.sum() < 1.001:
            raise UsageError("the chances of a noise law are not negative and add up to 1")

    @property
    def variance(self) -> float:
        """The variance of the noise."""
        return float(self.pmf @ np.square(np.arange(-self.reach, self.reach + 1, dtype=np.float64)))

    def chances(self, noise: npt.NDArray[np.int64]) -> FloatArray:
        """The probability of each value; beyond the reach the tail keeps its rate of decay."""
        beyond = np.maximum(np.abs(noise) - self.reach, 0)
        found = self.pmf[np.clip(noise, -self.reach, self.reach) + self.reach]
        if beyond.any():
            found = found * (self.pmf[-1] / self.pmf[-2]) ** beyond
        return np.asarray(found, np.float64)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Opened(Displayed):
    """The totals of a sealed campaign, as its keyholders opened them, and the law of their noise.

    `totals[task, slot]` are integers with noise of `laws[slot]`. Slots by layout, for s = `size`:

    - votes, two labels: how many chose the second label; hidden: those less those who chose the
      first, and how many answered;
    - votes, more labels, and histogram: how many chose each label, or each of s equal parts of
      the range;
    - sum: the sum of codes 0 … s over the range; hidden: the sum of codes less s/2, and how many
      answered.

    `answered` is how many workers answered each task; None where that is `hidden`. `workers` is how
    many contributions there are in all. `simulated` noise protects nobody.
    """

    tasks: Names
    domain: Domain
    layout: str
    size: int
    hidden: bool
    totals: npt.NDArray[np.int64]
    answered: npt.NDArray[np.int64] | None
    workers: int
    laws: tuple[NoiseLaw, ...]
    simulated: bool = False

    def __post_init__(self) -> None:
        if self.layout not in LAYOUTS:
            raise UsageError(f"a layout is one of {', '.join(LAYOUTS)}, not {self.layout!r}")
        shape = (len(self.tasks), self.slots)
        if len(self.tasks) == 0:
            raise UsageError("opened totals need at least one task")
        if self.totals.dtype != np.int64 or self.totals.shape != shape:
            raise UsageError(
                f"{self.layout} opens to {shape[0]:,} by {shape[1]} integers, not to "
                f"{' by '.join(map(str, self.totals.shape))} of {self.totals.dtype}"
            )
        if len(self.laws) != self.slots:
            raise UsageError(f"{self.slots} slots need as many noise laws, not {len(self.laws)}")
        self._check_counts()

    def _display(self) -> Display:
        noise = ", ".join(f"{math.sqrt(each):.3g}" for each in self.variances[:SHOWN])
        facts = (
            ("domain", str(self.domain)),
            ("totals", f"{LAYOUTS[self.layout]}, {self.slots:,} per task"),
            ("standard deviation of noise", noise),
            ("participation", "hidden" if self.hidden else "public"),
        )
        simulated = "; SIMULATED" if self.simulated else ""
        title = f"Opened totals: {len(self.tasks):,} tasks, {self.workers:,} workers{simulated}"
        return Display(title, facts)

    @property
    def slots(self) -> int:
        """How many totals a task has."""
        if self.layout == "sum" or (self.layout == "votes" and self.size == 2):
            return 2 if self.hidden else 1
        return self.size

    @property
    def variances(self) -> FloatArray:
        """The variance of each slot's noise."""
        return np.array([law.variance for law in self.laws])

    def _check_counts(self) -> None:
        if self.workers < 1:
            raise UsageError("opened totals need at least one worker")
        if self.hidden != (self.answered is None):
            raise UsageError("how many answered a task is given exactly where it is public")
        if self.answered is None:
            return
        if self.answered.shape != (len(self.tasks),) or self.answered.dtype != np.int64:
            raise UsageError("answered must be one 8-byte integer for each task")
        if self.answered.min() < 0 or self.answered.max() > self.workers:
            raise UsageError(f"a task is answered by 0 to {self.workers:,} workers")
