"""Known truths as codes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from sottovoce.crowdkit.table import Table
from sottovoce.model import Codes

__all__ = ["known_codes", "with_gold_labels"]


def with_gold_labels(table: Table, gold: pd.Series[Any]) -> Table:
    """The table with room for truths that no worker gave: such labels come last."""
    named = pd.Index(gold.dropna().unique())
    new = named[table.labels.get_indexer(named) < 0]
    return table.with_labels(table.labels.append(new)) if len(new) else table


def known_codes(table: Table, gold: pd.Series[Any]) -> Codes:
    """The label of each task whose truth is known, else −1.

    Where a task is named more than once, the label that `gold` mentions last for the first time
    counts, as in crowd-kit, which goes through the labels one by one.
    """
    gold = gold.dropna()
    mention, named = pd.factorize(gold)
    place = table.labels.get_indexer(pd.Index(named))[mention]
    task = table.tasks.get_indexer(gold.index)
    order = np.argsort(mention, kind="stable")
    order = order[task[order] >= 0]
    known = np.full(len(table.tasks), -1, np.int32)
    known[task[order]] = place[order]
    return known
