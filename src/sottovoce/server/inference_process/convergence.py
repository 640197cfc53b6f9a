"""When a campaign has settled: further reports hardly change its truths."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sottovoce.model import Domain, Grid
from sottovoce.server.database.results import Columns, Summary

__all__ = ["with_stability"]

FEWER = 0.9
"""A checkpoint counts once it has at most so large a share of the reports there are."""

CHANGED = 0.01
"""Truths may change by so much, on average over all tasks, between the two."""


FEWEST = 5
"""Reports that every task must have: with fewer, truths stand still by chance."""

KEPT = ("with_stability", "checkpoint", "changed", "changed_since")
"""What a result says that is no checkpoint: the same as the one before."""


def with_stability(
    summary: Summary, columns: Columns, tasks: int, domain: Domain, before: Summary | None
) -> tuple[Summary, Columns]:
    """The result with what it says about the campaign, and with the checkpoint for later ones.

    A result is compared with a checkpoint of at least 10 % fewer reports, and becomes the next
    checkpoint. The campaign has settled once every task has 5 reports and truths have changed by at
    most 1 % in between: for labels the share that changed, for numbers how far they moved on
    average, in parts of the range. It stays settled, since this is told once. How much changed
    between the last two checkpoints stays with the result until the next.
    """
    checkpoint = before.checkpoint if before else 0
    if before is not None and checkpoint > FEWER * summary.reports:
        kept = {name: getattr(before, name) for name in KEPT}
        return replace(summary, **kept), columns
    enough = len(columns.place) == tasks and int(columns.answers.min()) >= FEWEST
    change = _change(columns, tasks, domain)
    now = replace(columns, before_place=columns.place, before_truth=columns.truth)
    summary = replace(
        summary,
        settled=(before is not None and before.settled) or (enough and change <= CHANGED),
        checkpoint=summary.reports,
        changed=change if checkpoint else None,
        changed_since=checkpoint,
    )
    return summary, now


def _change(columns: Columns, tasks: int, domain: Domain) -> float:
    """By how much truths changed since the checkpoint, over all tasks that have one now.

    What was not there changed altogether.
    """
    if columns.before_truth.dtype.kind != columns.truth.dtype.kind:
        return 1.0
    moved = np.ones(tasks)
    before = _spread(columns.before_place, columns.before_truth, tasks)
    now = _spread(columns.place, columns.truth, tasks)
    known = ~(np.isnan(before) | np.isnan(now))
    distance = np.abs(now - before)[known]
    if columns.is_numeric:
        grid = Grid.over(domain)
        moved[known] = distance / float(grid.high - grid.low)
    else:
        moved[known] = distance > 0
    return float(moved[~np.isnan(now)].mean())


def _spread(
    place: npt.NDArray[np.int32], truth: npt.NDArray[np.generic], tasks: int
) -> npt.NDArray[np.float64]:
    spread = np.full(tasks, np.nan)
    spread[place] = truth
    return spread
