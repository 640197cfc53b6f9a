"""The policy for repeated pairs, applied to a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sottovoce.errors import DataError
from sottovoce.model import Reading, Repeats, Reports
from sottovoce.stores.faults import shown
from sottovoce.stores.repeats import repeated_pairs

__all__ = ["repeated_words", "settled"]


def settled(reports: Reports, repeats: Repeats, row_of: Callable[[int], int]) -> Reports:
    """The table after the policy for repeated pairs, with what was found in its reading."""
    found = repeated_pairs(reports.worker, reports.task, reports.value)
    reading = reports.reading or Reading("the table", len(reports))
    if not found.rows:
        return reports
    if repeats == "error":
        position = int(np.argmin(found.first))
        worker = reports.workers[reports.worker[position]]
        task = reports.tasks[reports.task[position]]
        words = repeated_words(worker, task, found.rows)
        raise DataError(words, file=reading.source, row=row_of(position))
    reading = replace(
        reading, repeated=found.rows, contradicting=found.contradicting, repeats=repeats
    )
    if repeats == "keep":
        return replace(reports, reading=reading)
    mask = found.first if repeats == "first" else found.last
    return replace(
        reports,
        worker=reports.worker[mask],
        task=reports.task[mask],
        value=reports.value[mask],
        reading=reading,
    )


def repeated_words(worker: object, task: object, rows: int) -> str:
    """Why a table with repeated pairs is refused; the names are those of the first."""
    return (
        f"worker {shown(worker)} answers task {shown(task)} again ({rows:,} rows repeat a pair): "
        "choose with --repeats first, last or keep"
    )
