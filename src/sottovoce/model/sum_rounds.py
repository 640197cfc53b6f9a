"""Rounds of sums: what is to be added up next, and what came out."""

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
    """One sum: so many values, each an integer from 0 to `greatest` from every worker."""

    values: int
    greatest: int

    def __post_init__(self) -> None:
        if self.values < 1 or self.greatest < 1:
            raise UsageError("a sum has at least one value, and room for at least 0 and 1")

    def check(self, values: Integers) -> Integers:
        """One worker's values, refused where they are not what this sum is of."""
        if values.shape != (self.values,) or values.dtype != np.int64:
            raise UsageError(f"a contribution has {self.values:,} integers, not {values.shape}")
        if ((values < 0) | (values > self.greatest)).any():
            raise UsageError(f"a value is not from 0 to {self.greatest:,}: nothing is sent")
        return values


@dataclass(frozen=True, slots=True)
class OpenedSum:
    """What was opened in one round: the totals, and how many workers are in them."""

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
        """What everybody learns of the round."""
        return OpenedSum(self.totals, len(self.contributors))


class Planner(Protocol):
    """What is added up in the rounds of a session: a pure function of what was opened so far.

    Everybody works it out alone: no worker believes what the server says that is to be summed.
    """

    def next(self, opened: Sequence[OpenedSum]) -> SumSpec | None:
        """The sum of the next round; None when nothing more is to be added up."""
        ...


class Contributor(Protocol):
    """One worker's side of the rounds: its answers stay in here."""

    def values(self, opened: Sequence[OpenedSum]) -> Integers:
        """What the worker adds to the sum of the next round. Asked once a round."""
        ...
