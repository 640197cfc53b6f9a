"""A table of raw answers or reports, from wherever it is, as codes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from sottovoce.errors import DataError, UsageError
from sottovoce.model import Codes, Domain, Kind, Names, Reading, Repeats, Reports
from sottovoce.stores.coding import fault_of, names_of
from sottovoce.stores.domains import Answers, answers_of
from sottovoce.stores.faults import counted, raise_first
from sottovoce.stores.naming import REPORTS
from sottovoce.stores.opening import Table, opened
from sottovoce.stores.repeats import repeated_pairs

__all__ = ["BadRows", "read_reports"]

BadRows = Literal["error", "drop"]


def read_reports(
    source: Any,
    *,
    columns: Mapping[str, str] | None = None,
    domain: Domain | Kind | None = None,
    repeats: Repeats = "first",
    bad_rows: BadRows = "error",
    format: str | None = None,
) -> Reports:
    """The table in `source`, coded and checked; `Reports.reading` says what happened to its rows.

    >>> table = read_reports({"worker": ["w1", "w2"], "task": ["t1", "t1"], "label": ["no", "yes"]})
    >>> table.workers.tolist(), table.domain.labels
    (['w1', 'w2'], ('no', 'yes'))
    """
    _check_options(repeats, bad_rows)
    with opened(source, REPORTS, columns, format, drop=bad_rows == "drop") as table:
        return _read(table, domain, repeats, bad_rows)


def _check_options(repeats: str, bad_rows: str) -> None:
    if repeats not in get_args(Repeats):
        raise UsageError(f"repeats is first, last, keep or error, not {repeats!r}")
    if bad_rows not in get_args(BadRows):
        raise UsageError(f"bad_rows is error or drop, not {bad_rows!r}")


def _read(
    table: Table, domain: Domain | Kind | None, repeats: Repeats, bad_rows: BadRows
) -> Reports:
    if table.one(f"SELECT 1 FROM {table.relation} LIMIT 1") == ():
        raise DataError("the table has a header but no rows", file=table.name)
    answers = answers_of(table, domain)
    worker, task = names_of(table, "worker"), names_of(table, "task")
    faults = {
        "worker": fault_of(worker.codes),
        "task": fault_of(task.codes),
        "answer": answers.faults,
    }
    rows = len(answers.values)
    dropped = dict(table.dropped)
    rejected = sum(dropped.values())
    kept: npt.NDArray[np.int64] | None = None
    if any(fault is not None for fault in faults.values()):
        if bad_rows == "error":
            raise_first(table, faults, answers.domain)
        sound, reasons = counted(faults, rows)
        dropped |= reasons
        kept = np.flatnonzero(sound)
        if not len(kept):
            raise DataError("no row is left after dropping the bad ones", file=table.name)
    reading = Reading(table.name, rows + rejected, repeats=repeats, dropped=dropped)
    reports = _assembled(worker.codes, task.codes, worker.names, task.names, answers, reading, kept, given=isinstance(domain, Domain))
    return _settled(reports, repeats, table, kept)
