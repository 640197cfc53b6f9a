"""Refused reports, counted in memory until somebody writes the counts down."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping

from sottovoce.errors import Reason

__all__ = ["Rejections"]

MOST = 10_000
"""Pairs of a campaign and a reason that are counted between two writes; others are not."""


class Rejections:
    """How many reports were refused since the last write, by campaign and reason.

    Counting costs no transaction: whoever floods the server with bad reports does not flood its
    database. Nothing else of a refused report is kept.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most, self._lock = most, threading.Lock()
        self._counts: Counter[tuple[int, Reason]] = Counter()

    def count(self, campaign: int, reason: Reason) -> None:
        """One more."""
        self._add({(campaign, reason): 1})

    def taken(self) -> Mapping[tuple[int, Reason], int]:
        """What was counted, which begins anew."""
        with self._lock:
            taken, self._counts = self._counts, Counter()
        return taken

    def give_back(self, counts: Mapping[tuple[int, Reason], int]) -> None:
        """Count again what could not be written."""
        self._add(counts)

    def _add(self, counts: Mapping[tuple[int, Reason], int]) -> None:
        with self._lock:
            for key, count in counts.items():
                if key in self._counts or len(self._counts) < self._most:
                    self._counts[key] += count
