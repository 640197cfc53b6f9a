"""A packed table on a disk: blocks of whole tasks in raw files, and a manifest.

`reports` has worker · labels + label of every report, or the worker if answers are numbers, which
are then in `numbers`; `starts` gives the first report of each task in its block. Task names are in
the same order in `tasks`, worker names in `workers`: 8-byte integers, or the concatenated bytes of
all names with their lengths in another file. The rows of a table are packed one bucket of tasks at
a time: repeated pairs are resolved, rows sorted and written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from sottovoce.engines.chunked.columns import RowReader, named
from sottovoce.engines.chunked.name_index import Keys, Texts, gathered_plain, name_index
from sottovoce.engines.chunked.spool import BUCKET, CHUNK, Rows, Spool, bucket_count
from sottovoce.engines.large_table import Recoding
from sottovoce.engines.local import arrange
from sottovoce.errors import DataError
from sottovoce.inference.steps.arithmetic import COMPILED_FROM
from sottovoce.model import (
    Domain,
    Kind,
    LabelPart,
    Names,
    NumberPart,
    Part,
    Reading,
    Repeats,
    Reports,
)
from sottovoce.tables.duplicates import Repeated, repeated_pairs, repeated_words

VERSION = 1
MANIFEST = "manifest.json"
_LENGTHS = {"tasks": "task-lengths", "workers": "worker-lengths"}
CONTENTS = (MANIFEST, "reports", "numbers", "starts", "tasks", "workers", *_LENGTHS.values())
"""All files that a packed table may contain."""


class PackedBlock(NamedTuple):
    """The numbers of tasks, reports and bytes of task names of a block."""

    tasks: int
    reports: int
    names: int


@dataclass(frozen=True, slots=True)
class TableManifest:
    """A description of the packed table.

    `identity` covers the source and how it was read, `recoding` the meaning of its labels.
    `answers` is the domain of the table itself, `domain` that of the blocks. Names have these
    dtypes, None for text.
    """

    identity: str
    recoding: str
    answers: Domain
    domain: Domain
    simulated: bool
    worker: str | None
    task: str | None
    workers: PackedBlock
    wide: bool
    blocks: tuple[PackedBlock, ...]
    reading: Reading

    def text(self) -> str:
        """The manifest as it is written."""
        return json.dumps({"version": VERSION, **asdict(self)})

    @classmethod
    def parse(cls, text: bytes) -> Self | None:
        """The manifest that was written; None for anything else."""
        with suppress(ValueError, TypeError, KeyError):
            found = json.loads(text)
            if found.pop("version") == VERSION:
                return cls(**{**found, **_parsed(found)})
        return None


def _parsed(found: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **{name: _domain(found[name]) for name in ("answers", "domain")},
        "workers": PackedBlock(*found["workers"]),
        "blocks": tuple(PackedBlock(*block) for block in found["blocks"]),
        "reading": Reading(**found["reading"]),
    }


def _domain(found: Mapping[str, Any]) -> Domain:
    return Domain(**{**found, "kind": Kind(found["kind"]), "labels": tuple(found["labels"])})


class PackedWriter:
    """Writes a packed table into an empty folder; the manifest comes last."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, BinaryIO] = {}
        self.blocks: list[PackedBlock] = []
        self.wide = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            file.close()

    def add(self, part: Part, names: Keys) -> None:
        """Add a block, whose starts count from 0."""
        self._write("starts", part.starts)
        if isinstance(part, NumberPart):
            self._write("reports", part.worker)
            self._write("numbers", part.value)
        else:
            self._write("reports", part.coded)
            self.wide = part.coded.dtype.itemsize > 4
        size = self._write_names("tasks", names)
        self.blocks.append(PackedBlock(part.tasks, int(part.starts[-1]), size))

    def add_workers(self, count: int, names: Keys) -> PackedBlock:
        """The names of all workers, by code."""
        return PackedBlock(count, 0, self._write_names("workers", names))

    def finish(self, manifest: TableManifest) -> None:
        """Write the manifest, which completes the table."""
        for file in self._files.values():
            file.flush()
        (self._folder / MANIFEST).write_text(manifest.text(), encoding="utf-8")

    def _write_names(self, name: str, names: Keys) -> int:
        if not isinstance(names, Texts):
            return self._write(name, names)
        self._write(_LENGTHS[name], np.diff(names.ends).astype(np.uint16))
        return self._write(name, names.data[: names.ends[-1]])

    def _write(self, name: str, array: npt.NDArray[Any]) -> int:
        if name not in self._files:
            self._files[name] = (self._folder / name).open("xb")
        return self._files[name].write(np.ascontiguousarray(array).data.cast("B"))


class Room:
    """Memory that is reused for part after part: new memory costs as much as filling it."""

    def __init__(self) -> None:
        self._arrays: dict[str, npt.NDArray[Any]] = {}

    def array(self, name: str, kind: np.dtype[Any], count: int) -> npt.NDArray[Any]:
        """An array of that length with arbitrary content."""
        if name not in self._arrays or len(self._arrays[name]) < count:
            self._arrays[name] = np.empty(count + count // 8, kind)
        return self._arrays[name][:count]


class PackedTable:
    """A packed table, read block by block."""

    def __init__(self, folder: Path, manifest: TableManifest) -> None:
        self._folder, self.manifest = folder, manifest
        self._blocks = np.array(manifest.blocks, np.int64).reshape(-1, 3)
        self._before = np.cumsum(self._blocks, axis=0) - self._blocks
        self._reports = np.dtype(np.int64 if manifest.wide else np.uint32)
        if manifest.domain.is_numeric:
            self._reports = np.dtype(np.int32)

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """The number of reports of each block."""
        return self._blocks[:, 1]

    @property
    def task_count(self) -> int:
        return int(self._blocks[:, 0].sum())

    @property
    def answers(self) -> int:
        return int(self._blocks[:, 1].sum())

    def part(self, block: int, room: Room | None = None) -> Part:
        """The reports of a block; the disk prefetches the next block meanwhile.

        With `room` the part is valid until the next one is read into it.
        """
        tasks, reports, _ = self._blocks[block].tolist()
        before, room = self._before[block].tolist(), room or Room()
        starts = room.array("starts", np.dtype(np.int64), tasks + 1)
        self._read("starts", starts, before[0] + block)
        coded: Any = room.array("reports", self._reports, reports)
        self._read("reports", coded, before[1], ahead=True)
        if not self.manifest.domain.is_numeric:
            return LabelPart(0, starts, coded, self.manifest.domain.size)
        numbers = room.array("numbers", np.dtype(np.float64), reports)
        self._read("numbers", numbers, before[1], ahead=True)
        return NumberPart(0, starts, coded, numbers)

    def names(self, block: int) -> Names:
        """The names of a block's tasks."""
        place, before = self._blocks[block], self._before[block]
        return self._names("tasks", PackedBlock(*place.tolist()), PackedBlock(*before.tolist()))

    def workers(self) -> Names:
        """The names of all workers, by code."""
        return self._names("workers", self.manifest.workers, PackedBlock(0, 0, 0))

    def _names(self, name: str, block: PackedBlock, before: PackedBlock) -> Names:
        kind = self.manifest.task if name == "tasks" else self.manifest.worker
        if kind is not None:
            return named(self._read(name, np.empty(block.tasks, np.int64), before.tasks), kind)
        lengths = self._read(_LENGTHS[name], np.empty(block.tasks, np.uint16), before.tasks)
        ends = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        data = self._read(name, np.empty(block.names, np.uint8), before.names)
        return named(Texts(ends, data), None)

    def _read(
        self, name: str, array: npt.NDArray[Any], first: int, *, ahead: bool = False
    ) -> npt.NDArray[Any]:
        """The array, filled from a file starting at element `first`."""
        path, size, begin = self._folder / name, array.nbytes, first * array.itemsize
        try:
            with path.open("rb", buffering=0) as file:
                if ahead and hasattr(os, "posix_fadvise"):
                    os.posix_fadvise(file.fileno(), begin + size, 2 * size, os.POSIX_FADV_WILLNEED)
                file.seek(begin)
                read = _fill(file, array.data.cast("B")) if size else 0
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror}", file=str(path)) from None
        if read != size:
            raise DataError("was cut short: remove its folder and start again", file=str(path))
        return array


def _fill(file: Any, view: memoryview) -> int:
    """The number of bytes that could be read into a view; a call reads at most 2 GiB."""
    done = 0
    while done < len(view) and (got := file.readinto(view[done:])):
        done += got
    return done


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of the pieces; the data alone decide their number."""

    bucket: int = BUCKET
    chunk: int = CHUNK
    compiled_from: int = COMPILED_FROM


class RepeatCounts(NamedTuple):
    """The number of rows that repeat a pair, and of pairs that contradict themselves."""

    repeated: int
    contradicting: int


class _Again(NamedTuple):
    """A row that repeats a pair: its place in the source, the worker and the task."""

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
) -> RepeatCounts:
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
    return RepeatCounts(packer.repeated, packer.contradicting)


class _Packer:
    """Makes a block of a bucket, and counts repeated pairs."""

    def __init__(
        self, reader: RowReader, repeats: Repeats, recoding: Recoding | None, *, use_kernels: bool
    ) -> None:
        self._reader, self._repeats, self._recoding = reader, repeats, recoding
        self._kernels = use_kernels
        # Placeholders, as many as there are names: sorting codes needs no name.
        self._workers: Names = np.broadcast_to(0, len(reader.workers))
        self.repeated, self.contradicting, self.again = 0, 0, list[_Again]()

    def packed(self, rows: Rows) -> tuple[Part, Keys]:
        """The block and the names of its tasks, in order."""
        tasks = name_index(text=isinstance(rows.task, Texts), use_kernels=self._kernels)
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
        return arrange(reports, use_kernels=self._kernels), tasks.keys()

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
