"""The specification of every suite: the same sums in the open, without any cryptography."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.mechanisms.sealed_sum import Layout
from sottovoce.model import NULL
from sottovoce.securesum.ballot import Ballot

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PlainSum:
    """Adds up the ballots of `tasks` tasks, slot by slot.

    It only knows the slots of an answer, not bits, fields or shares: a suite that gives other
    integers is wrong.

    >>> plain = PlainSum(Ballot(Layout.VOTES, 3, hidden=False), tasks=2)
    >>> plain.total(np.array([0, 1, 1]), np.array([2, 0, 0])).tolist()
    [[0, 0, 1], [2, 0, 0]]
    """

    ballot: Ballot
    tasks: int

    def __post_init__(self) -> None:
        if self.tasks < 1:
            raise UsageError(f"a sum needs at least one task, not {self.tasks}")

    def slot_values(self, codes: npt.NDArray[np.integer]) -> Integers:
        """Each answer's contribution to the slots of its task: (answers, slots)."""
        self.ballot.check(codes)
        layout, size, given = self.ballot.layout, self.ballot.size, codes != NULL
        if self.ballot.is_one_hot:
            chosen: npt.NDArray[np.bool_] = codes[:, None] == np.arange(size)
            return chosen.astype(np.int64)
        if not self.ballot.hidden:
            return codes[:, None].astype(np.int64)
        signed = 2 * codes - 1 if layout is Layout.VOTES else codes - size // 2
        return np.stack([np.where(given, signed, 0), given], axis=1).astype(np.int64)

    def total(
        self,
        task: npt.NDArray[np.integer],
        codes: npt.NDArray[np.integer],
        noise: Integers | None = None,
    ) -> Integers:
        """The sums (tasks, slots) of answers, one row each, and of noise if there is some."""
        if task.shape != codes.shape or ((task < 0) | (task >= self.tasks)).any():
            raise UsageError(f"every answer must be to one of {self.tasks:,} tasks")
        sums = np.zeros((self.tasks, self.ballot.slots), np.int64)
        np.add.at(sums, task, self.slot_values(codes))
        return sums if noise is None else sums + noise
