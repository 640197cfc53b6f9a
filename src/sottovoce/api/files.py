"""Results and packed tables into files."""

from __future__ import annotations

import os
from typing import Any

from sottovoce.api.sources import read
from sottovoce.model import Reports, Result
from sottovoce.model.result import TableName
from sottovoce.tables import check_path, write_columns
from sottovoce.tables.packed_table import save_packed

__all__ = ["pack", "write"]


def write(
    result: Result,
    path: str | os.PathLike[str],
    table: TableName = "truths",
    *,
    force: bool = False,
) -> None:
    """One of a result's tables as CSV, TSV, JSONL or Parquet, by the path's ending.

    The file appears whole or not at all, and replaces another only with `force`.
    """
    write_columns(result.table(table), path, force=force)


def pack(
    source: Any, path: str | os.PathLike[str], *, force: bool = False, **reading: Any
) -> Reports:
    """Write a coded Parquet copy of a table, which reads several times faster; returns the table.

    The copy holds the same answers: protect it like the original. Other keywords say how to read
    `source` (see `read`).
    """
    check_path(path, force=force)
    reports = read(source, **reading)
    save_packed(reports, path, force=force)
    return reports
