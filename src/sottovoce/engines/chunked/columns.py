"""The columns of a large table: the SQL that reads each, the type of its cells, and its rows.

Rows are read once from front to back, checked and coded; they are never all in memory.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.engines.chunked.arrow import ArrowColumn, Batch, batches
from sottovoce.engines.chunked.name_index import Keys, NameIndex, Texts, decoded, gathered
from sottovoce.engines.chunked.spool import Rows
from sottovoce.errors import DataError
from sottovoce.model import Codes, Domain, FloatArray, Kind, Names
from sottovoce.tables.answer_column import Labels, beyond, guessed_kind, labels_of
from sottovoce.tables.faults import LONGEST, Fault, Faults, counted, raise_first
from sottovoce.tables.relation import Relation
from sottovoce.tables.vocabulary import cells_of, fault_of, looked_up, name_cells, number_cells

MOST_LABELS = 1_000_000
"""More distinct labels than this are always refused, because they are held in memory."""

_DTYPES = {
    "BOOLEAN": "bool",
    "TINYINT": "int8",
    "SMALLINT": "int16",
    "INTEGER": "int32",
    "UTINYINT": "uint8",
    "USMALLINT": "uint16",
    "UINTEGER": "uint32",
    "UBIGINT": "uint64",
}
"""NumPy's types of DuckDB's integers; others become 8 bytes."""


@dataclass(frozen=True, slots=True)
class NameColumn:
    """Names of workers or tasks: `dtype` is the type of integer names, None for text."""

    sql: str
    sound: str
    dtype: str | None

    def keys(self, column: ArrowColumn, places: npt.NDArray[np.intp] | None) -> Keys:
        """A copy of the names at these places (None: all)."""
        if isinstance(column.cells, Texts):
            if places is not None:
                return gathered(column.cells, places)
            return Texts(column.cells.ends, column.cells.data.copy())
        cells = column.cells.view(np.int64)
        return cells.copy() if places is None else cells[places]

    def faults(self, column: ArrowColumn) -> Faults | None:
        """The fault of each name; None if all names are valid."""
        cells, faults = column.cells, None
        if column.present is not None:
            faults = np.where(column.present, 0, Fault.EMPTY).astype(np.int8)
        if not isinstance(cells, Texts):
            return faults
        lengths = np.diff(cells.ends)
        if lengths.min(initial=1) > 0 and lengths.max(initial=0) <= LONGEST:
            return faults
        faults = np.zeros(len(lengths), np.int8) if faults is None else faults
        faults[lengths == 0] = Fault.EMPTY
        for place in np.flatnonzero(lengths > LONGEST).tolist():  # bytes, which may be fewer texts
            cell = cells.data[cells.ends[place] : cells.ends[place + 1]].tobytes()
            if len(cell.decode()) > LONGEST:
                faults[place] = Fault.LONG
        return faults


def name_column(table: Relation, role: str) -> NameColumn:
    """How the names of a role are read; numbers with fractions are refused."""
    cells = name_cells(table, role)
    if cells.is_text:
        sound = f"{cells.sql} <> '' AND length({cells.sql}) <= {LONGEST}"
        return NameColumn(cells.sql, sound, None)
    dtype = _DTYPES.get(table.types[role], "int64")
    kind = "UBIGINT" if dtype == "uint64" else "BIGINT"
    return NameColumn(f"CAST({cells.sql} AS {kind})", f"{cells.sql} IS NOT NULL", dtype)


def named(keys: Keys, dtype: str | None) -> Names:
    """Stored names as they appear in results."""
    return decoded(keys) if isinstance(keys, Texts) else keys.astype(dtype or "int64")


@dataclass(frozen=True, slots=True)
class LabelColumn:
    """Answers that are labels: a row is looked up by the hash of its cell."""

    labels: Labels

    @property
    def domain(self) -> Domain:
        return self.labels.domain

    @property
    def sql(self) -> tuple[str, ...]:
        return (self.labels.vocabulary.hashing,)

    def values(self, columns: list[ArrowColumn]) -> tuple[npt.NDArray[Any], Faults | None]:
        """Each row's code, and the fault of each row that has none."""
        hashes: Any = columns[0].cells
        codes: Codes = looked_up(hashes, self.labels.vocabulary.hashes, self.labels.codes)
        return codes.astype(np.min_scalar_type(max(self.domain.size - 1, 0))), fault_of(codes)

    def among_sound(self, table: Relation, sound: str) -> LabelColumn:
        """Without the labels that occur only in unusable rows."""
        vocabulary, codes = self.labels.vocabulary, self.labels.codes
        found = table.fetch(
            f"SELECT DISTINCT {vocabulary.hashing} AS hashed FROM {table.relation} WHERE {sound}"
        )["hashed"]
        kept = np.isin(vocabulary.hashes, np.ma.getdata(found)) & (codes >= 0)
        used = np.zeros(self.domain.size, np.bool_)
        used[codes[kept]] = True
        if used.all() or not used.any():
            return self
        labels = tuple(np.array(self.domain.labels, dtype=object)[used].tolist())
        places = np.where(used, np.cumsum(used) - 1, -Fault.UNKNOWN).astype(np.int32)
        codes = np.where(codes >= 0, places[codes.clip(min=0)], codes)
        domain = Domain(self.domain.kind, labels)
        return LabelColumn(replace(self.labels, codes=codes, domain=domain))


@dataclass(frozen=True, slots=True)
class NumberColumn:
    """Answers that are numbers."""

    sql: tuple[str, ...]
    domain: Domain

    def values(self, columns: list[ArrowColumn]) -> tuple[npt.NDArray[Any], Faults | None]:
        """Each row's number, and the fault of each row that has none."""
        numbers: Any = columns[0].cells
        found: Any = columns[1].cells
        values: FloatArray = numbers.copy()
        outside = beyond(values, self.domain) & (found == 0)
        if not outside.any() and not found.any():
            return values, None
        return values, np.where(outside, np.int8(Fault.OUTSIDE), found)

    def among_sound(self, table: Relation, sound: str) -> NumberColumn:
        """Itself: a range has no labels to drop."""
        return self


def answer_column(table: Relation, wanted: Domain | Kind | None) -> LabelColumn | NumberColumn:
    """How answers are read, under the given domain or the inferred one."""
    kind = wanted.kind if isinstance(wanted, Domain) else wanted
    guessed = kind is None
    if kind is None:
        kind = guessed_kind(table, "answer")
    if kind is Kind.NUMERIC:
        domain = wanted if isinstance(wanted, Domain) else Domain.numeric()
        return NumberColumn(number_cells(table, "answer"), domain)
    _check_labels(table)
    wanted = wanted if isinstance(wanted, Domain) else kind
    return LabelColumn(labels_of(table, wanted, "answer", guessed=guessed))


def _check_labels(table: Relation) -> None:
    sql = cells_of(table, "answer").sql
    (count,) = table.one(f"SELECT approx_count_distinct({sql}) FROM {table.relation}")
    if count > 2 * MOST_LABELS:  # then the estimate is certain enough
        raise DataError(
            f'about {count:,} distinct labels: if they are numbers, pass domain="numeric"; if '
            "they are ids, choose another column with columns=",
            file=table.name,
            column=table.columns["answer"],
        )


@dataclass(frozen=True, slots=True)
class Located:
    """A table of several files, and the number of rows of each."""

    table: Relation
    files: Mapping[str, int]
    """The files' names in order, with their numbers of rows."""
    relations: tuple[str, ...]
    """The same columns of each file separately."""

    @property
    def rows(self) -> int:
        """The number of rows in all files."""
        return sum(self.files.values())

    def place(self, row: int) -> tuple[str, int]:
        """The file that has a row, counted from 0 over all files, and its number there from 1."""
        file, before = self._file(row)
        return list(self.files)[file], row - before + 1

    def from_row(self, row: int) -> Relation:
        """The rest of the file that has this row, starting with it."""
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
    """Reads a table; afterwards `workers` has every worker of a valid row."""

    source: Located
    worker: NameColumn
    task: NameColumn
    answer: LabelColumn | NumberColumn
    workers: NameIndex
    drop: bool
    numbered: bool
    """Whether the place of a row may be asked for later."""
    rows: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    def __iter__(self) -> Iterator[Rows]:
        table = self.source.table
        columns = ", ".join([self.worker.sql, self.task.sql, *self.answer.sql])
        with (
            table.connection.cursor() as cursor
        ):  # the connection may be used for something else meanwhile
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
