"""Results in memory, unpacked: who asks again does not wait again."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from cachetools import LRUCache
from sqlalchemy import Connection

from sottovoce.server.database.campaigns import Stored, task_names
from sottovoce.server.database.results import Columns, Found, find_content

__all__ = ["Shelf", "Shelved"]

LIMIT = 256 << 20
"""Bytes of results that are kept."""


@dataclass(frozen=True, slots=True, eq=False)
class Shelved:
    """A result's columns and the names of the campaign's tasks, by place."""

    age: tuple[int, int]
    columns: Columns
    names: tuple[str, ...]
    least_sure: npt.NDArray[np.intp] = field(repr=False)
    """The rows of `columns` by how sure they are, the least sure first."""
    derived: dict[str, object] = field(default_factory=dict, repr=False)
    """What was computed from it and takes little memory: kept as long as it is."""

    @property
    def nbytes(self) -> int:
        """The memory it takes."""
        return self.columns.nbytes + self.least_sure.nbytes + 100 * len(self.names)


class Shelf:
    """The results that were asked for last."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._shelved: LRUCache[str, Shelved] = LRUCache(limit, lambda each: each.nbytes)
        self._lock = threading.Lock()

    def result(self, connection: Connection, stored: Stored, found: Found) -> Shelved:
        """The columns of a result that was found on this connection."""
        # By identifier: a number may be given again once its campaign is deleted.
        id, number = stored.campaign.id, stored.number
        with self._lock:
            shelved = self._shelved.get(id)
        if shelved is None or shelved.age != found.age:
            # Tasks do not change once there are reports on them.
            names = shelved.names if shelved else tuple(task_names(connection, number))
            shelved = _unpacked(connection, number, found, names)
        with self._lock:
            self._shelved.pop(id, None)
            with suppress(ValueError):  # more than fits into all of the memory
                self._shelved[id] = shelved
        return shelved

    def forget(self, id: str) -> None:
        """Drop a campaign's result: the campaign was deleted."""
        with self._lock:
            self._shelved.pop(id, None)


def _unpacked(connection: Connection, number: int, found: Found, names: tuple[str, ...]) -> Shelved:
    columns = find_content(connection, number) or Columns.none()
    # A standard error grows with doubt, a confidence falls with it.
    doubt = columns.certainty if columns.is_numeric else -columns.certainty
    return Shelved(found.age, columns, names, np.argsort(-doubt, kind="stable"))
