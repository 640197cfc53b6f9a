"""A cache of unpacked results."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from cachetools import LRUCache
from sqlalchemy import Connection

from sottovoce.server.database.campaigns import Stored, known_truths, task_names
from sottovoce.server.database.results import Columns, StoredResult, find_content

LIMIT = 256 << 20
"""The most bytes of cached results."""


@dataclass(frozen=True, slots=True, eq=False)
class CachedResult:
    """A result's columns, the names of the campaign's tasks by place, and the known ones."""

    age: tuple[int, int]
    columns: Columns
    names: tuple[str, ...]
    known: frozenset[int]
    least_sure: npt.NDArray[np.intp] = field(repr=False)
    """The rows of `columns` by certainty, the least certain first."""
    derived: dict[str, object] = field(default_factory=dict, repr=False)
    """Small values computed from the result, cached with it."""

    @property
    def nbytes(self) -> int:
        """The memory it takes."""
        return self.columns.nbytes + self.least_sure.nbytes + 100 * len(self.names)


class ResultCache:
    """The most recently used results."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._cached: LRUCache[str, CachedResult] = LRUCache(limit, lambda each: each.nbytes)
        self._lock = threading.Lock()

    def result(self, connection: Connection, stored: Stored, found: StoredResult) -> CachedResult:
        """The columns of a result read on this connection."""
        # By identifier: a number may be reused after its campaign is deleted.
        id, number = stored.campaign.id, stored.number
        with self._lock:
            cached = self._cached.get(id)
        if cached is None or cached.age != found.age:
            # Tasks do not change once there are reports on them.
            names = cached.names if cached else tuple(task_names(connection, number))
            cached = _unpacked(connection, number, found, names)
        with self._lock:
            self._cached.pop(id, None)
            with suppress(ValueError):  # too large for the cache
                self._cached[id] = cached
        return cached

    def forget(self, id: str) -> None:
        """Drop the result of a deleted campaign."""
        with self._lock:
            self._cached.pop(id, None)


def _unpacked(
    connection: Connection, number: int, found: StoredResult, names: tuple[str, ...]
) -> CachedResult:
    columns = find_content(connection, number) or Columns.none()
    # A standard error grows with uncertainty, a confidence falls.
    doubt = columns.certainty if columns.is_numeric else -columns.certainty
    known = frozenset(known_truths(connection, number))
    return CachedResult(found.age, columns, names, known, np.argsort(-doubt, kind="stable"))
