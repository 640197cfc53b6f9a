"""Rounds of sums: the next sum, and the opened totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError

Integers: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SumSpec:
    """One sum of `values` integers, each from 0 to `greatest` for every worker."""

    values: int
    greatest: int

    def __post_init__(self) -> None:
        if self.values < 1 or self.greatest < 1:
            raise UsageError("a sum has at least one value, and room for at least 0 and 1")

    def check(self, values: Integers) -> Integers:
        """One worker's values; refused if they do not fit this sum."""
        if values.shape != (self.values,) or values.dtype != np.int64:
            raise UsageError(f"a contribution has {self.values:,} integers, not {values.shape}")
        if ((values < 0) | (values > self.greatest)).any():
            raise UsageError(f"a value is not from 0 to {self.greatest:,}: nothing is sent")
        return values


@dataclass(frozen=True, slots=True)
class OpenedSum:
    """The opened totals of one round, and the number of workers in them."""

    totals: Integers = field(repr=False)
    workers: int


@dataclass(frozen=True, slots=True)
class RoundRecord:
    """One round that was opened: its totals, who is in them, and who was excluded in it, and why.

    Who was excluded late in a round may still be in its totals.
    """

    totals: Integers = field(repr=False)
    contributors: tuple[int, ...]
    excluded: Mapping[int, str]

    @property
    def opened(self) -> OpenedSum:
        """The part of the round that all parties learn."""
        return OpenedSum(self.totals, len(self.contributors))


class Planner(Protocol):
    """The sums of a session's rounds: a pure function of what was opened so far.

    Each party computes it itself: workers do not trust the server for what is summed.
    """

    def next(self, opened: Sequence[OpenedSum]) -> SumSpec | None:
        """The sum of the next round; None at the end."""
        ...


class Contributor(Protocol):
    """One worker's side of the rounds: its answers stay in this object."""

    def values(self, opened: Sequence[OpenedSum]) -> Integers:
        """The worker's values for the sum of the next round. Asked once a round."""
        ...
