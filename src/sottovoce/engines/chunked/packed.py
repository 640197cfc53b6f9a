"""A table on a disk as rounds read it: blocks of whole tasks in raw files, and a manifest.

`reports` has worker · labels + label of every report, or the worker where answers are numbers,
which are then in `numbers`; `starts` says where each task's begin in its block. Names of tasks lie
in the same order in `tasks`, of workers in `workers`: 8-byte integers, or the bytes of all names
with their lengths beside them.
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

from sottovoce.engines.chunked.columns import named
from sottovoce.engines.chunked.texts import Texts
from sottovoce.engines.chunked.vocabularies import Keys
from sottovoce.errors import DataError
from sottovoce.model import Domain, Kind, LabelPart, Names, NumberPart, Part, Reading

__all__ = ["CONTENTS", "MANIFEST", "Block", "Manifest", "PackedTable", "PackedWriter", "Room"]

VERSION = 1
MANIFEST = "manifest.json"
_LENGTHS = {"tasks": "task-lengths", "workers": "worker-lengths"}
CONTENTS = (MANIFEST, "reports", "numbers", "starts", "tasks", "workers", *_LENGTHS.values())
"""All that a packed table may hold."""


class Block(NamedTuple):
    """How many tasks, reports and bytes of tasks' names a block has."""

    tasks: int
    reports: int
    names: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is packed, and how.

    `identity` stands for the source and how it was read, `recoding` for what its labels stand for.
    `answers` is the domain of the table itself, `domain` that of the blocks. Names are of these
    dtypes, None for text.
    """

    identity: str
    recoding: str
    answers: Domain
    domain: Domain
    simulated: bool
    worker: str | None
    task: str | None
    workers: Block
    wide: bool
    blocks: tuple[Block, ...]
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
        "workers": Block(*found["workers"]),
        "blocks": tuple(Block(*block) for block in found["blocks"]),
        "reading": Reading(**found["reading"]),
    }


def _domain(found: Mapping[str, Any]) -> Domain:
    return Domain(**{**found, "kind": Kind(found["kind"]), "labels": tuple(found["labels"])})


class PackedWriter:
    """Writes a packed table into an empty folder; the manifest comes last."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, BinaryIO] = {}
        self.blocks: list[Block] = []
        self.wide = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            file.close()

    def add(self, part: Part, names: Keys) -> None:
        """One more block, whose starts count from 0."""
        self._write("starts", part.starts)
        if isinstance(part, NumberPart):
            self._write("reports", part.worker)
            self._write("numbers", part.value)
        else:
            self._write("reports", part.coded)
            self.wide = part.coded.dtype.itemsize > 4
        size = self._write_names("tasks", names)
        self.blocks.append(Block(part.tasks, int(part.starts[-1]), size))

    def add_workers(self, count: int, names: Keys) -> Block:
        """The names of all workers, by code."""
        return Block(count, 0, self._write_names("workers", names))

    def finish(self, manifest: Manifest) -> None:
        """Say what it is: from now on it is whole."""
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
    """Memory for one part after the other: new memory costs as much as filling it."""

    def __init__(self) -> None:
        self._arrays: dict[str, npt.NDArray[Any]] = {}

    def array(self, name: str, kind: np.dtype[Any], count: int) -> npt.NDArray[Any]:
        """An array of that length, with anything in it."""
        if name not in self._arrays or len(self._arrays[name]) < count:
            self._arrays[name] = np.empty(count + count // 8, kind)
        return self._arrays[name][:count]


class PackedTable:
    """A packed table, read block by block."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self._folder, self.manifest = folder, manifest
        self._blocks = np.array(manifest.blocks, np.int64).reshape(-1, 3)
        self._before = np.cumsum(self._blocks, axis=0) - self._blocks
        self._reports = np.dtype(np.int64 if manifest.wide else np.uint32)
        if manifest.domain.is_numeric:
            self._reports = np.dtype(np.int32)

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """How many reports each block has."""
        return self._blocks[:, 1]

    @property
    def task_count(self) -> int:
        return int(self._blocks[:, 0].sum())

    @property
    def answers(self) -> int:
        return int(self._blocks[:, 1].sum())

    def part(self, block: int, room: Room | None = None) -> Part:
        """The reports of a block; the block after it is asked for from the disk meanwhile.

        With `room` the part is gone when the next is put there.
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
        return self._names("tasks", Block(*place.tolist()), Block(*before.tolist()))

    def workers(self) -> Names:
        """The names of all workers, by code."""
        return self._names("workers", self.manifest.workers, Block(0, 0, 0))

    def _names(self, name: str, block: Block, before: Block) -> Names:
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
        """The array, filled with what lies in a file from element `first` on."""
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
    """How many bytes of a view could be filled; the system gives at most 2 GiB at once."""
    done = 0
    while done < len(view) and (got := file.readinto(view[done:])):
        done += got
    return done
