"""The event by which two laws are best told apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sottovoce.privacy.audit.bounding import bounds, log_ratios
from sottovoce.privacy.audit.samples import Encoding
from sottovoce.privacy.audit.views import Scored, View

__all__ = ["Event", "chosen"]

Counts = npt.NDArray[np.int64]

CUTS = 128
"""Events tried in each order of a view's cells."""
PLAINER = 1.01
"""What an event must gain to be preferred to a plainer one."""


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """A set of cells of a view that is likelier under one of the two inputs."""

    view: View
    cells: npt.NDArray[np.intp]
    first_likelier: bool

    def count(self, reports: Scored) -> int:
        """How many of the reports are in it."""
        inside = np.zeros(len(self.view), np.bool_)
        inside[self.cells] = True
        return int(np.count_nonzero(inside[self.view(reports)]))

    def words(self, encoding: Encoding) -> str:
        """The event as people say it."""
        return self.view.event(self.cells, encoding)


def chosen(
    candidates: Sequence[View],
    fitted: tuple[Scored, Scored],
    others: tuple[Scored, Scored],
    *,
    delta: float,
    doubt: float,
) -> Event:
    """The event with the best bound on samples that did not shape it; of equals the plainest.

    So many events are tried that one of the rare ones would win by luck: each is doubted the more.
    """
    best, found = -1.0, None
    doubt /= CUTS * len(candidates)
    for view in candidates:
        shaping = [_counts(view, reports) for reports in fitted]
        counts = [_counts(view, reports) for reports in others]
        for one, other in ((0, 1), (1, 0)):
            for order in _orders(shaping[one], shaping[other], view.ordered):
                cuts = np.unique(np.geomspace(1, len(order), CUTS).astype(np.intp))
                likely, rare = (np.cumsum(counts[i][order])[cuts - 1] for i in (one, other))
                epsilon = bounds(
                    likely, len(others[one]), rare, len(others[other]), delta=delta, doubt=doubt
                ).epsilon
                top = int(np.argmax(epsilon))
                if epsilon[top] > best * PLAINER:
                    best, found = float(epsilon[top]), Event(view, order[: cuts[top]], one == 0)
    if found is None:
        raise ValueError("there is no view to choose from")
    return found


def _orders(likely: Counts, rare: Counts, ordered: bool) -> list[npt.NDArray[np.intp]]:
    """Cells in the order in which events take them in.

    From either end where there is one, and by P / Q: these are the level sets {P / Q ≥ t}. The
    estimated ratio is taken less its standard error, so that a rare cell is not first by luck.
    """
    ratio, error = log_ratios(likely, rare)
    ends = [np.arange(len(likely)), np.arange(len(likely))[::-1]] if ordered else []
    return [*ends, np.argsort(error - ratio, kind="stable")]


def _counts(view: View, reports: Scored) -> Counts:
    return np.bincount(view(reports), minlength=len(view))
