"""One worker's answers in a live session, as codes. They are in no repr, log or error."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.model.sum_rounds import Integers

__all__ = ["LiveAnswers"]


@dataclass(frozen=True, slots=True, eq=False)
class LiveAnswers:
    """Which of the session's tasks were answered, and with which of its labels, row by row.

    >>> LiveAnswers(np.array([0, 2]), np.array([1, 1]))
    LiveAnswers()
    """

    task: Integers = field(repr=False)
    label: Integers = field(repr=False)

    def __post_init__(self) -> None:
        if self.task.shape != self.label.shape or self.task.ndim != 1:
            raise UsageError("answers have one task and one label each")

    def __len__(self) -> int:
        return len(self.task)

    @property
    def tasks(self) -> Integers:
        """The tasks that were answered, each once."""
        return np.unique(self.task)
