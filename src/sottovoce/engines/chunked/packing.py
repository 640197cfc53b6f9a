"""From the rows of a table to a packed one: bucketed by task, settled, sorted, written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sottovoce.engines.chunked.columns import named
from sottovoce.engines.chunked.packed import PackedWriter
from sottovoce.engines.chunked.rows import RowReader
from sottovoce.engines.chunked.spool import BUCKET, CHUNK, Rows, Spool, bucket_count
from sottovoce.engines.chunked.texts import Texts, gathered_plain
from sottovoce.engines.chunked.vocabularies import Keys, vocabulary
from sottovoce.engines.large import Recoding
from sottovoce.engines.layout import arrange
from sottovoce.errors import DataError
from sottovoce.inference.steps.arithmetic import COMPILED_FROM
from sottovoce.model import Names, Part, Repeats, Reports
from sottovoce.tables.duplicates import Repeated, repeated_pairs, repeated_words

__all__ = ["Found", "Sizes", "pack_rows"]


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large pieces are; the data alone says how many there are."""

    bucket: int = BUCKET
    chunk: int = CHUNK
    compiled_from: int = COMPILED_FROM


class Found(NamedTuple):
    """How many rows repeat a pair, and how many pairs contradict themselves."""

    repeated: int
    contradicting: int


class _Again(NamedTuple):
    """A row that repeats a pair: its place in the source, and who answers what again."""

    row: int
    worker: int
    task: Any


def pack_rows(
    reader: RowReader,
    writer: PackedWriter,
    spool: Path,
    repeats: Repeats,
    recoding: Recoding | None,
    sizes: Sizes,
) -> Found:
    """Write every block; `reader` has the workers then."""
    rows = reader.source.rows
    with Spool(spool, bucket_count(rows, sizes.bucket), chunk=sizes.chunk) as kept:
        for some in reader:
            kept.add(some)
        packer = _Packer(reader, repeats, recoding, use_kernels=rows >= sizes.compiled_from)
        for bucket in kept.buckets():
            writer.add(*packer.packed(bucket))
    if repeats == "error" and packer.again:
        _refuse(reader, packer.repeated, min(packer.again))
    return Found(packer.repeated, packer.contradicting)


class _Packer:
    """Makes a block of a bucket, and counts repeated pairs."""

    def __init__(
        self, reader: RowReader, repeats: Repeats, recoding: Recoding | None, *, use_kernels: bool
    ) -> None:
        self._reader, self._repeats, self._recoding = reader, repeats, recoding
        self._kernels = use_kernels
        # As many as there are, and none of them: no name is needed to sort codes.
        self._workers: Names = np.broadcast_to(0, len(reader.workers))
        self.repeated, self.contradicting, self.again = 0, 0, list[_Again]()

    def packed(self, rows: Rows) -> tuple[Part, Keys]:
        """The block and the names of its tasks, as they come."""
        tasks = vocabulary(text=isinstance(rows.task, Texts), use_kernels=self._kernels)
        task = tasks.codes(rows.task)
        value = rows.value if rows.value.dtype.kind == "f" else rows.value.astype(np.int32)
        found = repeated_pairs(rows.worker, task, value)
        self._count(found, rows)
        worker = rows.worker
        if found.rows and self._repeats in ("first", "last"):
            mask = found.first if self._repeats == "first" else found.last
            worker, task, value = worker[mask], task[mask], value[mask]
        domain = self._reader.answer.domain
        if self._recoding is not None:
            value, domain = self._recoding.codes[value], self._recoding.domain
        names: Names = np.broadcast_to(0, len(tasks))
        reports = Reports(worker, task, value, self._workers, names, domain)
        layout = arrange(reports, use_kernels=self._kernels)
        return layout.part(0, len(tasks)), tasks.keys()

    def _count(self, found: Repeated, rows: Rows) -> None:
        self.repeated += found.rows
        self.contradicting += found.contradicting
        if found.rows and rows.row is not None:
            place = int(np.argmin(found.first))
            task = _name(rows.task, place, self._reader.task.dtype)
            self.again.append(_Again(int(rows.row[place]), int(rows.worker[place]), task))


def _refuse(reader: RowReader, repeated: int, again: _Again) -> None:
    worker = _name(reader.workers.keys(), again.worker, reader.worker.dtype)
    file, row = reader.source.place(again.row)
    raise DataError(repeated_words(worker, again.task, repeated), file=file, row=row)


def _name(keys: Keys, place: int, dtype: str | None) -> Any:
    one = np.array([place])
    some = gathered_plain(keys, one) if isinstance(keys, Texts) else keys[one]
    return named(some, dtype)[0]
