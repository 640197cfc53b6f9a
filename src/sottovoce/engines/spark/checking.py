"""Rows of a table on a cluster that cannot be used: refused by their place, or counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sottovoce.engines.spark.cells import name_cells, name_fault, plain_cells
from sottovoce.engines.spark.failing import saying
from sottovoce.engines.spark.labelling import Answers
from sottovoce.engines.spark.sources import Source
from sottovoce.errors import DataError
from sottovoce.tables.faults import REASONS, Fault, complaint

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["Checked", "checked"]

_ROLES = ("worker", "task", "answer")


class Checked:
    """The sound rows as `worker`, `task`, `value` and `place`, and how many rows there were."""

    def __init__(self, frame: DataFrame, rows: int, dropped: dict[str, int]) -> None:
        self.frame, self.rows, self.dropped = frame, rows, dropped

    @property
    def sound(self) -> int:
        """How many rows are left."""
        return self.rows - sum(self.dropped.values())


def checked(source: Source, answers: Answers, *, drop: bool) -> Checked:
    """One pass over all rows; the first fault is raised, or with `drop` all are counted."""
    from pyspark.sql import functions as sql

    _check_whole(source)
    coded = answers.coded(source)
    faults = {role: name_fault(source, role) for role in ("worker", "task")}
    faults["answer"] = sql.col("fault")
    with saying():
        rows, counts, first = _counted(coded, faults)
        if not rows:
            raise DataError("the table has no rows", file=source.name)
        if counts and not drop:
            _raise_first(source, answers, coded, faults, first)
    if sum(counts.values()) == rows:
        raise DataError("no row is left after dropping the bad ones", file=source.name)
    faulty = faults["worker"] + faults["task"] + faults["answer"]
    sound = coded.where(~(faulty > 0)) if counts else coded
    names = {role: name_cells(source, role) for role in ("worker", "task")}
    frame = sound.withColumns(names).select("worker", "task", "value", "place")
    return Checked(frame, rows, counts)


def _counted(coded: DataFrame, faults: dict[str, Column]) -> tuple[int, dict[str, int], int | None]:
    """How many rows, how many with each fault (a row counts once), and the first place of one."""
    from pyspark.sql import functions as sql

    reason = sql.lit(None).cast("int")
    for number, role in reversed(list(enumerate(_ROLES))):
        reason = sql.when(faults[role] > 0, faults[role] + number * len(Fault)).otherwise(reason)
    by_reason = coded.groupBy(reason.alias("reason")).agg(
        sql.count("*").alias("rows"), sql.min("place").alias("first")
    )
    rows, counts, firsts = 0, {}, []
    for row in sorted(by_reason.collect(), key=lambda row: row.reason or 0):
        rows += row.rows
        if row.reason is not None:
            role, fault = divmod(row.reason - 1, len(Fault))
            counts[REASONS[Fault(fault + 1)].format(_ROLES[role])] = int(row.rows)
            firsts.append(int(row.first))
    return rows, counts, min(firsts, default=None)


def _raise_first(
    source: Source, answers: Answers, coded: DataFrame, faults: dict[str, Column], first: int | None
) -> None:
    from pyspark.sql import functions as sql

    here = coded.where(sql.col("place") == sql.lit(first))
    cells = [plain_cells(source, role).alias(f"{role}_cell") for role in _ROLES]
    kinds = [faults[role].alias(role) for role in _ROLES]
    row: Any = here.select(*cells, *kinds).first()
    role = next(role for role in _ROLES if row[role])
    file, number = source.place(first or 0)
    raise DataError(
        complaint(
            Fault(row[role]), role, row[f"{role}_cell"], answers.domain, private=source.private
        ),
        file=file,
        row=number,
        column=source.columns[role],
    )


def _check_whole(source: Source) -> None:
    """Refuse names that are numbers with fractions."""
    from pyspark.sql import functions as sql

    for role in ("worker", "task"):
        if not source.types[role].startswith(("float", "double", "decimal")):
            continue
        name = plain_cells(source, role)
        odd = ~sql.isnan(name) & ((name != sql.floor(name)) | (sql.abs(name) >= 9e15))
        with saying():
            found = source.frame.where(odd).limit(1).count()
        if found:
            raise DataError(
                f"{role} names are numbers with fractions: expected text or integers",
                file=source.name,
                column=source.columns[role],
            )
