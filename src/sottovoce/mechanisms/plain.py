"""Reports as methods take them that know nothing of the noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.errors import DataError
from sottovoce.mechanisms.sampling import Sampled
from sottovoce.mechanisms.subset_selection import SubsetSelection, check_sets
from sottovoce.mechanisms.tables import report_cells
from sottovoce.mechanisms.threshold import Threshold
from sottovoce.model import Alphabet, Cells, Domain, FloatArray, Grid, Reading, Reports
from sottovoce.seams import Mechanism

__all__ = ["plain"]

_NOTHING = "the report is NULL"


def plain(reports: Reports, mechanism: Mechanism, domain: Domain) -> Reports:
    """A table of labels or numbers from a table of reports.

    Labels and points of the grid stay as they are. A set of labels is a vote for each of them. An
    end or a side of a threshold becomes the number whose mean over reports is the answer. NULL
    reports are left out, and counted.
    """
    if isinstance(mechanism, Sampled):
        return plain(reports, mechanism.mechanism, domain)
    alphabet = mechanism.alphabet
    cells = report_cells(reports, alphabet, domain)
    if alphabet is Alphabet.LABELS:
        return reports
    if alphabet is Alphabet.LABELS_OR_NULL:
        return _rows(reports, cells.code < domain.size, reports.value, domain)
    if isinstance(mechanism, SubsetSelection):
        return _votes(reports, cells, mechanism, domain)
    numbers: Any = cells.code
    if isinstance(mechanism, Threshold):
        numbers = mechanism.unbiased(cells.code, mechanism.thresholds(cells))
    elif hasattr(mechanism, "unbiased"):
        numbers = mechanism.unbiased(cells.code)
    kept = np.isfinite(numbers)
    return _rows(reports, kept, Grid.over(domain).values(numbers), Domain.numeric())


def _votes(reports: Reports, cells: Cells, mechanism: SubsetSelection, domain: Domain) -> Reports:
    """One row for each symbol in each set, without NULL."""
    symbols = mechanism.bins or mechanism.labels
    check_sets(cells, mechanism)
    bits = np.arange(symbols, dtype=np.uint64)
    rows, voted = np.nonzero(cells.code.astype(np.uint64)[:, None] >> bits & np.uint64(1))
    each = replace(
        reports,
        worker=reports.worker[rows],
        task=reports.task[rows],
        value=np.zeros(len(rows), np.int32),
        reading=_reading(reports, {_NOTHING: len(reports) - len(np.unique(rows))}),
    )
    if not domain.is_numeric:
        return replace(each, value=voted.astype(np.int32), domain=domain)
    return replace(each, value=_middles(mechanism, domain)[voted], domain=Domain.numeric())


def _middles(mechanism: SubsetSelection, domain: Domain) -> FloatArray:
    """The middle of each bin of the range."""
    grid = Grid.over(domain)
    points = np.arange(grid.steps + 1)
    bins = mechanism.symbols(points)
    return np.bincount(bins, grid.values(points)) / np.bincount(bins)


def _rows(
    reports: Reports, kept: npt.NDArray[np.bool_], value: npt.NDArray[Any], domain: Domain
) -> Reports:
    if not kept.any():
        raise DataError("every report is NULL: there is nothing to infer from")
    rows = slice(None) if kept.all() else kept
    return replace(
        reports,
        worker=reports.worker[rows],
        task=reports.task[rows],
        value=value[rows],
        domain=domain,
        reading=_reading(reports, {_NOTHING: int(np.count_nonzero(~kept))}),
    )


def _reading(reports: Reports, dropped: Mapping[str, int]) -> Reading | None:
    if reports.reading is None or not any(dropped.values()):
        return reports.reading
    return replace(reports.reading, dropped={**reports.reading.dropped, **dropped})
