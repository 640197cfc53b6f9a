"""A packed table as rows again, for comparison with the input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.engines.chunked.packed_table import PackedTable, Sizes
from sottovoce.engines.chunked.table import open_table
from sottovoce.model import LabelPart, Reports

__all__ = ["BUCKETED", "COMPILED", "PLAIN", "packed", "rows_of_packed", "rows_of_reports"]

PLAIN = Sizes()
COMPILED = Sizes(compiled_from=0)
BUCKETED = Sizes(bucket=16, chunk=50, compiled_from=0)
"""A table of a few hundred rows in many buckets, each in several pieces."""


def packed(source: Any, work: Path, sizes: Sizes = PLAIN, **options: Any) -> PackedTable:
    """The table packed in a folder."""
    engine = open_table(source, work=work, sizes=sizes, **options).engine()
    return engine._table


def rows_of_packed(table: PackedTable) -> list[tuple[Any, Any, Any]]:
    """Every report as (task, worker, value), by task in no order, a task's own as they come."""
    workers, rows = table.workers(), list[tuple[Any, Any, Any]]()
    for block in range(len(table.sizes)):
        part, names = table.part(block), table.names(block)
        if isinstance(part, LabelPart):
            worker, code = np.divmod(part.report.astype(np.int64), part.labels)
            value = [table.manifest.domain.labels[each] for each in code]
        else:
            worker, value = part.reporters, part.values.tolist()
        rows += zip(names[part.task].tolist(), workers[worker].tolist(), value, strict=True)
    return sorted(rows, key=lambda row: str(row[0]))


def rows_of_reports(reports: Reports) -> list[tuple[Any, Any, Any]]:
    """The same of a table in memory."""
    numeric = reports.domain.is_numeric
    value = [v if numeric else reports.domain.labels[v] for v in reports.value.tolist()]
    task, worker = reports.tasks[reports.task], reports.workers[reports.worker]
    return sorted(
        zip(task.tolist(), worker.tolist(), value, strict=True), key=lambda row: str(row[0])
    )
