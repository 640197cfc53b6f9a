"""Tables as codes, from wherever they are: raw answers or reports, and known truths."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from sottovoce.errors import DataError, UsageError
from sottovoce.model import Domain, Gold, Kind, Reading, Repeats, Reports
from sottovoce.tables.answer_column import Answers, DomainName, answers_of, stated_domain
from sottovoce.tables.column_roles import ANSWERS, GOLD, MADE, REPORTS, is_report, is_stamp
from sottovoce.tables.duplicates import resolved
from sottovoce.tables.faults import counted, raise_first
from sottovoce.tables.input_file import Source, local_file
from sottovoce.tables.packed_table import manifest_of, read_packed
from sottovoce.tables.relation import Relation, is_path, open_relation
from sottovoce.tables.vocabulary import Coded, fault_of, in_order, names_of


def read_gold(
    source: Source,
    *,
    domain: Domain,
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
) -> Gold:
    """The truths in `source`: columns `task` and `truth` (or crowd-kit's `label`, `true_label`).

    `domain` is that of the answers: truths of numbers are floats, others text. A truth may lie
    outside the answers' range or labels; a task may have one truth only.

    >>> gold = read_gold({"task": ["t1"], "truth": [1]}, domain=Domain.categorical("01"))
    >>> gold.truths.tolist()
    ['1']
    """
    with ExitStack() as stack:
        place = stack.enter_context(local_file(source, format)) if is_path(source) else source
        table = stack.enter_context(open_relation(place, GOLD, columns))
        if table.one(f"SELECT 1 FROM {table.relation} LIMIT 1") == ():
            raise DataError("the table has a header but no rows", file=table.name)
        kind = Kind.NUMERIC if domain.is_numeric else Kind.CATEGORICAL
        truth = answers_of(table, kind, "truth")
        task = names_of(table, "task")
        raise_first(table, {"task": fault_of(task.codes), "truth": truth.faults}, truth.domain)
        codes, values = task.codes, truth.values
        _, first = np.unique(codes, return_index=True)
        if (values != values[first][codes]).any():
            position = int(np.argmax(values != values[first][codes]))
            raise DataError(
                f"task {task.names[codes[position]]!r} has a second, different truth: keep one",
                file=table.name,
                row=table.row_of(position),
            )
        values = values[first]
    if domain.is_numeric:
        return Gold(task.names, values)
    labels = np.array([str(label) for label in truth.domain.labels], dtype=object)
    return Gold(task.names, labels[values])


BadRows: TypeAlias = Literal["error", "drop"]
"""The treatment of unusable rows: refuse the table, or leave them out and count them."""
Kept: TypeAlias = npt.NDArray[np.int64] | None
"""The positions of the rows that are kept; None when all are."""


def read_reports(
    source: Source,
    *,
    columns: Mapping[str, str] | None = None,
    domain: Domain | Kind | DomainName | None = None,
    repeats: Repeats = "first",
    bad_rows: BadRows = "error",
    format: str | None = None,
    private: bool = False,
    reported: bool = False,
) -> Reports:
    """The table in `source`, coded and checked; `Reports.reading` says what happened to its rows.

    A `private` table holds answers that must not be seen: no error quotes a cell of it, and a
    table of reports is refused. A `reported` one holds reports, and a table of answers is refused.

    >>> table = read_reports({"worker": ["w1", "w2"], "task": ["t1", "t1"], "label": ["no", "yes"]})
    >>> table.workers.tolist(), table.domain.labels
    (['w1', 'w2'], ('no', 'yes'))
    """
    check_options(repeats, bad_rows)
    wanted = stated_domain(domain)
    drop = bad_rows == "drop"
    roles = ANSWERS if private else MADE if reported else REPORTS
    if not is_path(source):
        with open_relation(source, roles, columns, drop=drop) as table:
            return _read(table, wanted, repeats, bad_rows)
    with local_file(source, format) as file:
        manifest = manifest_of(file)
        if manifest is not None:
            return read_packed(file, manifest, columns, wanted, repeats, private=private)
        with open_relation(file, roles, columns, drop=drop) as table:
            return _read(table, wanted, repeats, bad_rows)


def check_options(repeats: str, bad_rows: str) -> None:
    """Refuse what is no way to treat repeated pairs or bad rows."""
    if repeats not in get_args(Repeats):
        raise UsageError(f"repeats= must be first, last, keep or error, not {repeats!r}")
    if bad_rows not in get_args(BadRows):
        raise UsageError(f"bad_rows= must be error or drop, not {bad_rows!r}")


def _read(
    table: Relation, domain: Domain | Kind | None, repeats: Repeats, bad_rows: BadRows
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
    if bad_rows == "error":
        raise_first(table, faults, answers.domain)
    kept, dropped = counted(faults, len(answers.values))
    dropped = {**table.dropped, **dropped}
    reports = _sound(worker, task, answers, kept, table.name)
    if kept is not None and not isinstance(domain, Domain):
        reports = _without_unused_labels(reports)
    rows = len(answers.values) + sum(table.dropped.values())
    reading = Reading(table.name, rows, repeats=repeats, dropped=dropped)
    place = (lambda i: table.row_of(int(kept[i]))) if kept is not None else table.row_of
    column = table.columns["answer"]
    reports = replace(
        reports, reading=reading, simulated=is_stamp(column), reported=is_report(column)
    )
    return resolved(reports, repeats, place)


def _sound(worker: Coded, task: Coded, answers: Answers, kept: Kept, name: str) -> Reports:
    """The table of the rows that are kept, with the names that occur in them, as they occur."""
    if kept is not None and not len(kept):
        raise DataError("no row is left after dropping the bad ones", file=name)
    rows = slice(None) if kept is None else kept
    worker_codes, workers = in_order(worker.codes[rows], worker.names)
    task_codes, tasks = in_order(task.codes[rows], task.names)
    return Reports(worker_codes, task_codes, answers.values[rows], workers, tasks, answers.domain)


def _without_unused_labels(reports: Reports) -> Reports:
    if reports.domain.is_numeric:
        return reports
    used = np.bincount(reports.value, minlength=reports.labels) > 0
    codes = (np.cumsum(used, dtype=np.int32) - 1)[reports.value].astype(np.int32)
    labels = tuple(reports.domain.labels[i] for i in np.flatnonzero(used))
    return replace(reports, value=codes, domain=Domain(reports.domain.kind, labels))
