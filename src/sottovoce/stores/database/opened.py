"""The totals of sealed campaigns, once they are opened."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, insert, select

from sottovoce.stores.database.tables import opened

__all__ = ["OpenedTotals", "find_opened", "is_opened", "store_opened"]


@dataclass(frozen=True, slots=True, eq=False)
class OpenedTotals:
    """Noised totals, a row for each task, and how many contributions had each task.

    `answered` is None where participation is hidden. `state` names the set that was opened.
    """

    state: str
    workers: int
    totals: npt.NDArray[np.int64]
    answered: npt.NDArray[np.int64] | None = field(default=None)

    @classmethod
    def unpack(
        cls, state: str, workers: int, totals: bytes, answered: bytes | None, tasks: int
    ) -> Self:
        """From what is stored."""
        return cls(
            state,
            workers,
            np.frombuffer(totals, "<i8").astype(np.int64).reshape(tasks, -1),
            None if answered is None else np.frombuffer(answered, "<i8").astype(np.int64),
        )


def store_opened(connection: Connection, campaign: int, found: OpenedTotals) -> None:
    """Keep what was opened: there is one opening, and it is not replaced."""
    answered = None if found.answered is None else found.answered.astype("<i8").tobytes()
    row = {"state": found.state, "workers": found.workers, "answered": answered}
    totals = found.totals.astype("<i8").tobytes()
    connection.execute(insert(opened), {"campaign": campaign, "totals": totals, **row})


def find_opened(connection: Connection, campaign: int, tasks: int) -> OpenedTotals | None:
    """What was opened of a campaign with so many tasks."""
    row = connection.execute(select(opened).where(opened.c.campaign == campaign)).one_or_none()
    if row is None:
        return None
    return OpenedTotals.unpack(row.state, row.workers, row.totals, row.answered, tasks)


def is_opened(connection: Connection, campaign: int) -> bool:
    """Whether a campaign's totals are opened."""
    query = select(opened.c.workers).where(opened.c.campaign == campaign)
    return connection.execute(query).first() is not None
