"""Tables and known truths from wherever they are; results and packed tables into files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from sottovoce import datasets
from sottovoce.errors import DataError, UsageError
from sottovoce.model import Domain, Gold, Reports, Result
from sottovoce.model.result import TableName
from sottovoce.tables import check_path, read_gold, read_reports, write_columns
from sottovoce.tables.packed_table import save_packed

_DATASET = "dataset:"


def read(source: Any, **options: Any) -> Reports:
    """A table of answers from a path, `-` (standard input), a frame or a mapping of columns.

    `dataset:NAME` is a dataset of the cache. Options are those of `sottovoce.tables.read_reports`:
    `columns`, `domain`, `repeats`, `bad_rows`, `format`, `private`, `reported`.
    """
    if isinstance(source, Reports):
        if options:
            raise UsageError("a table already read takes no reading options")
        return source
    if name := dataset_name(source):
        return _dataset(name, options)
    return read_reports(source, **options)


def gold(source: Any, domain: Domain, *, columns: Mapping[str, str] | None = None) -> Gold:
    """A table of known truths, or those of `dataset:NAME`; truths are read as the domain's."""
    if isinstance(source, Gold):
        return source
    if name := dataset_name(source):
        known = datasets.load(name)[1]
        if known is None:
            raise DataError(f"dataset {name!r} has no gold")
        return known
    return read_gold(source, domain=domain, columns=columns)


def dataset_name(source: Any) -> str | None:
    """The dataset of the cache that a source names, if it names one."""
    if isinstance(source, str) and source.startswith(_DATASET):
        return source.removeprefix(_DATASET)
    return None


def _dataset(name: str, options: Mapping[str, Any]) -> Reports:
    allowed = {key: value for key, value in options.items() if key == "repeats"}
    known = {*allowed, "private", "reported"}  # a dataset is public
    refused = sorted(key for key, value in options.items() if key not in known and value)
    if refused:
        option = f"--{refused[0].replace('_', '-')}"
        raise UsageError(f"a dataset of the cache says itself how to be read: drop {option}")
    # Repeats only occur in the rows as they were collected.
    return datasets.load(name, raw=bool(allowed), **allowed)[0]


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
