"""Read tables and known truths; write results and packed tables."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Unpack

from sottovoce import datasets
from sottovoce.api.keywords import ReadingOptions, check_reading, spelled_out
from sottovoce.errors import DataError, UsageError
from sottovoce.model import Domain, Gold, Reports, Result
from sottovoce.model.result import TableName
from sottovoce.tables import check_path, read_gold, read_reports, write_columns
from sottovoce.tables.packed_table import save_packed

_DATASET = "dataset:"


@spelled_out(ReadingOptions)
def read(
    source: Any,
    *,
    private: bool = False,
    reported: bool = False,
    **reading: Unpack[ReadingOptions],
) -> Reports:
    """Read a table of answers from a path, `-` (standard input), a frame or a mapping of columns.

    `dataset:NAME` is a dataset of the cache. A table that was read before is returned as it is.

    - `columns` names the table's columns by role, such as `{"worker": "user_id"}`.
    - `domain` is the `Domain` of the answers, its `Kind` or the kind's name; found from the answers
      if not given.
    - `repeats` says what to do if a worker answers a task twice: "first", "last", "keep", "error".
    - `bad_rows` says what to do with unusable rows: "error", or "drop" them and count them.
    - `format` is the file format, if the path does not end in it.
    - `private` tables hold raw answers: no error quotes a cell, and reports are refused.
    - `reported` tables hold reports: raw answers are refused.
    """
    check_reading(reading)
    if isinstance(source, Reports):
        if private or reported or any(value is not None for value in reading.values()):
            raise UsageError("the table is already read: drop the reading options")
        return source
    if name := dataset_name(source):
        return _dataset(name, reading)
    return read_reports(source, private=private, reported=reported, **reading)


def gold(source: Any, domain: Domain, *, columns: Mapping[str, str] | None = None) -> Gold:
    """Read a table of known truths, or those of `dataset:NAME`, for answers of a domain."""
    if isinstance(source, Gold):
        return source
    if name := dataset_name(source):
        known = datasets.load(name)[1]
        if known is None:
            raise DataError(f"dataset {name!r} has no gold")
        return known
    return read_gold(source, domain=domain, columns=columns)


def dataset_name(source: Any) -> str | None:
    """The name of a cached dataset if the source is `dataset:NAME`, else None."""
    if isinstance(source, str) and source.startswith(_DATASET):
        return source.removeprefix(_DATASET)
    return None


def _dataset(name: str, reading: ReadingOptions) -> Reports:
    refused = sorted(key for key, value in reading.items() if key != "repeats" and value)
    if refused:
        raise UsageError(f"a cached dataset has its own reading options: drop {refused[0]}=")
    if "repeats" not in reading:
        return datasets.load(name)[0]
    # Repeats only occur in the rows as they were collected.
    return datasets.load(name, raw=True, repeats=reading["repeats"])[0]


def write(
    result: Result,
    path: str | os.PathLike[str],
    table: TableName = "truths",
    *,
    force: bool = False,
) -> None:
    """Write one of a result's tables as CSV, TSV, JSONL or Parquet, by the path's ending.

    The file appears whole or not at all, and replaces another only with `force`.
    """
    write_columns(result.table(table), path, force=force)


@spelled_out(ReadingOptions)
def pack(
    source: Any,
    path: str | os.PathLike[str],
    *,
    force: bool = False,
    **reading: Unpack[ReadingOptions],
) -> Reports:
    """Write a coded Parquet copy of a table, which reads several times faster; return the table.

    The copy holds the same answers: protect it like the original. Other keywords say how to read
    `source` (see `read`).
    """
    check_path(path, force=force)
    reports = read(source, **reading)
    save_packed(reports, path, force=force)
    return reports
