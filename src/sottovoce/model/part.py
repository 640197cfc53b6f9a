"""LabelPart and NumberPart: all reports of a range of tasks, the input of a step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.model.arrays import CodedArray, Codes, FloatArray, StartsArray


@dataclass(frozen=True, slots=True)
class LabelPart:
    """The labels given to the tasks first, first + 1, …; those of task first + i are
    coded[starts[i] : starts[i + 1]], each coded as worker · labels + label.
    """  # noqa: D205 - one sentence

    first: int
    starts: StartsArray
    coded: CodedArray
    labels: int

    @property
    def tasks(self) -> int:
        """How many tasks the part holds."""
        return len(self.starts) - 1

    @property
    def task(self) -> Codes:
        """The task of each report, counted from the part's first."""
        return _task(self.starts)

    def between(self, first: int, last: int) -> LabelPart:
        """The part of the tasks first … last − 1, counted from this part's first."""
        return LabelPart(self.first + first, self.starts[first : last + 1], self.coded, self.labels)

    @property
    def report(self) -> CodedArray:
        """worker · labels + label of each report, without what lies outside the part."""
        return self.coded[self.starts[0] : self.starts[-1]]


@dataclass(frozen=True, slots=True)
class NumberPart:
    """The numbers given to the tasks first, first + 1, …, with who gave them."""

    first: int
    starts: StartsArray
    worker: Codes
    value: FloatArray

    @property
    def tasks(self) -> int:
        """How many tasks the part holds."""
        return len(self.starts) - 1

    @property
    def task(self) -> Codes:
        """The task of each report, counted from the part's first."""
        return _task(self.starts)

    def between(self, first: int, last: int) -> NumberPart:
        """The part of the tasks first … last − 1, counted from this part's first."""
        return NumberPart(
            self.first + first, self.starts[first : last + 1], self.worker, self.value
        )

    @property
    def reporters(self) -> Codes:
        """The worker of each report, without what lies outside the part."""
        return self.worker[self.starts[0] : self.starts[-1]]

    @property
    def values(self) -> FloatArray:
        """The value of each report, without what lies outside the part."""
        return self.value[self.starts[0] : self.starts[-1]]


Part: TypeAlias = LabelPart | NumberPart


def labels_of(part: Part) -> LabelPart:
    """The part itself, if it holds labels."""
    if not isinstance(part, LabelPart):
        raise UsageError("this step needs labels, and the reports are numbers")
    return part


def numbers_of(part: Part) -> NumberPart:
    """The part itself, if it holds numbers."""
    if not isinstance(part, NumberPart):
        raise UsageError("this step needs numbers, and the reports are labels")
    return part


def _task(starts: StartsArray) -> Codes:
    return np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))
