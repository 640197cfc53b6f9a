"""Given skills, and what to do about workers that have none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from sottovoce.crowdkit.table import Table
from sottovoce.errors import DataError
from sottovoce.model import FloatArray

__all__ = ["weigh"]


def weigh(
    data: pd.DataFrame, skills: pd.Series[Any], on_missing: str, default: float | None
) -> tuple[Table, FloatArray]:
    """The answers that count, and the weight of each worker among them."""
    _check(on_missing, default)
    table = Table.of(data)
    weights = _weights(table, skills)
    missing = np.isnan(weights)[table.worker]
    if default is not None:
        return table, np.where(np.isnan(weights), default, weights)
    if not missing.any():
        return table, weights
    if on_missing == "error":
        raise ValueError(
            f"{missing.sum():,} answers come from workers without a skill: add their skills, or "
            'choose on_missing_skill="ignore" or "value"'
        )
    kept = Table.of(data[~missing])
    if lost := len(table.tasks) - len(kept.tasks):
        raise ValueError(
            f"{lost:,} tasks have no answer from a worker with a skill: add skills, or choose "
            'on_missing_skill="value"'
        )
    return kept, _weights(kept, skills)


def _weights(table: Table, skills: pd.Series[Any]) -> FloatArray:
    if not skills.index.is_unique:
        raise DataError("skills names a worker more than once; keep one skill each")
    return skills.reindex(table.workers).to_numpy(np.float64, na_value=np.nan)


def _check(on_missing: str, default: float | None) -> None:
    if on_missing not in ("error", "ignore", "value"):
        raise ValueError(f'on_missing_skill is "error", "ignore" or "value", not {on_missing!r}')
    if on_missing == "value" and default is None:
        raise ValueError('on_missing_skill="value" needs a default_skill')
    if on_missing != "value" and default is not None:
        raise ValueError('a default_skill needs on_missing_skill="value"')
