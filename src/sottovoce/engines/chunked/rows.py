"""The rows of a large table, read once from front to back: checked, coded, never all at once."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from sottovoce.engines.chunked.arrow import Batch, batches
from sottovoce.engines.chunked.columns import LabelColumn, NameColumn, NumberColumn
from sottovoce.engines.chunked.spool import Rows
from sottovoce.engines.chunked.vocabularies import Vocabulary
from sottovoce.errors import DataError
from sottovoce.tables.faults import Faults, counted, raise_first
from sottovoce.tables.relation import Table

__all__ = ["Located", "RowReader"]


@dataclass(frozen=True, slots=True)
class Located:
    """A table of several files, and how many rows each has."""

    table: Table
    files: Mapping[str, int]
    """Names of files in order, with their rows."""
    relations: tuple[str, ...]
    """The same columns of each file alone."""

    @property
    def rows(self) -> int:
        """How many rows there are in all."""
        return sum(self.files.values())

    def place(self, row: int) -> tuple[str, int]:
        """The file that has a row, counted from 0 over all files, and its number there from 1."""
        file, before = self._file(row)
        return list(self.files)[file], row - before + 1

    def from_row(self, row: int) -> Table:
        """The rest of the file that has this row, which comes first."""
        file, before = self._file(row)
        relation = f"(SELECT * FROM {self.relations[file]} OFFSET {row - before})"
        name, number = self.place(row)
        return replace(
            self.table, name=name, relation=relation, row_of=lambda position: number + position
        )

    def _file(self, row: int) -> tuple[int, int]:
        ends = [0, *accumulate(self.files.values())]
        file = bisect_right(ends, row) - 1
        return file, ends[file]


@dataclass(slots=True)
class RowReader:
    """Reads a table; afterwards `workers` has everybody who occurs in a sound row."""

    source: Located
    worker: NameColumn
    task: NameColumn
    answer: LabelColumn | NumberColumn
    workers: Vocabulary
    drop: bool
    numbered: bool
    """Whether somebody may ask for the place of a row."""
    rows: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    def __iter__(self) -> Iterator[Rows]:
        table = self.source.table
        columns = ", ".join([self.worker.sql, self.task.sql, *self.answer.sql])
        with table.connection.cursor() as cursor:  # others may ask for something meanwhile
            relation = cursor.sql(f"SELECT {columns} FROM {table.relation}")
            for batch in batches(relation, table.name):
                yield self._coded(batch)
        if self.rows != self.source.rows:
            raise DataError("the table changed while it was read: read it again", file=table.name)
        if self.rows == sum(self.dropped.values()):
            raise DataError("no row is left after dropping the bad ones", file=table.name)

    def _coded(self, batch: Batch) -> Rows:
        worker, task, *answer = batch
        value, wrong = self.answer.values(answer)
        faults = {
            "worker": self.worker.faults(worker),
            "task": self.task.faults(task),
            "answer": wrong,
        }
        kept = self._sound(faults, len(value))
        first, self.rows = self.rows, self.rows + len(value)
        numbers = None
        if self.numbered:
            numbers = first + (np.arange(len(value)) if kept is None else kept)
        return Rows(
            self.task.keys(task, kept),
            self.workers.codes(self.worker.keys(worker, kept)),
            value if kept is None else value[kept],
            numbers,
        )

    def _sound(
        self, faults: Mapping[str, Faults | None], rows: int
    ) -> npt.NDArray[np.int64] | None:
        """The places of usable rows (None: all are); the others are refused, or counted."""
        if all(fault is None for fault in faults.values()):
            return None
        if not self.drop:
            self._refuse(faults)
        kept, reasons = counted(faults, rows)
        self.dropped.update(reasons)
        return kept

    def _refuse(self, faults: Mapping[str, Faults | None]) -> None:
        bad = [np.flatnonzero(fault) for fault in faults.values() if fault is not None]
        places = np.concatenate(bad)
        if not len(places):
            return
        first = int(places.min())
        rest = {role: None if fault is None else fault[first:] for role, fault in faults.items()}
        raise_first(self.source.from_row(self.rows + first), rest, self.answer.domain)
