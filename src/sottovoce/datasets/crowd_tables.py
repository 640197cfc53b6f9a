"""A crowd's answers as tables in memory, or of any size as Parquet files in bounded memory."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sottovoce.datasets.crowds import ANSWERS_PER_BLOCK, Crowd
from sottovoce.errors import DataError, UsageError
from sottovoce.files.atomic_output import new_file
from sottovoce.model import Codes, Gold, Names, Reports

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def generate(crowd: Crowd) -> tuple[Reports, Gold]:
    """Draw the crowd's answers and truths as tables in memory.

    Names are numbers: worker 12 and task 345, which `stream_to_parquet` writes as w12 and t345.
    Workers without an answer and tasks without one are in no vocabulary; gold has every task.
    """
    worker, task, value, truth = _Column(), _Column(), _Column(), _Column()
    for block in crowd.blocks():
        worker.add(block.worker)
        task.add(block.task)
        value.add(block.value)
        truth.add(block.truth)
    worker_codes, workers = _named(worker.whole(), crowd.workers)
    task_codes, tasks = _named(task.whole(), crowd.tasks)
    reports = Reports(worker_codes, task_codes, value.whole(), workers, tasks, crowd.domain)
    return reports, Gold(np.arange(crowd.tasks), truth.whole())


class _Column:
    """An array that grows in place: blocks in a list would be in memory twice when joined."""

    def __init__(self) -> None:
        self.values: npt.NDArray[Any] | None = None
        self.size = 0

    def add(self, part: npt.NDArray[Any]) -> None:
        end = self.size + len(part)
        if self.values is None:
            self.values = np.empty(end, part.dtype)
        elif end > len(self.values):
            self.values.resize(max(end, len(self.values) * 5 // 4), refcheck=False)
        self.values[self.size : end] = part
        self.size = end

    def whole(self) -> npt.NDArray[Any]:
        if self.values is None:
            raise ValueError("a column of no blocks")
        self.values.resize(self.size, refcheck=False)
        return self.values


def _named(numbers: Codes, size: int) -> tuple[Codes, Names]:
    """Turn numbers below `size` into codes over those that occur, in place, a piece at a time."""
    pieces = [
        numbers[first : first + ANSWERS_PER_BLOCK]
        for first in range(0, len(numbers), ANSWERS_PER_BLOCK)
    ]
    occurs = np.zeros(size, dtype=bool)
    for piece in pieces:
        occurs[piece] = True
    names = np.flatnonzero(occurs)
    if len(names) < size:
        code = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
        for piece in pieces:
            piece[:] = code[piece]
    return numbers, names


def stream_to_parquet(
    crowd: Crowd,
    path: str | os.PathLike[str],
    *,
    gold: str | os.PathLike[str] | None = None,
    names: bool = True,
    force: bool = False,
) -> int:
    """Write the crowd's answers to a Parquet file of worker, task and answer; return their number.

    The rows are those of `generate(crowd)`, in the same order. Workers and tasks are called w0, w1
    … and t0, t1 …, or are plain numbers without `names`. With `gold`, the truth of every task goes
    to a second file of task and truth. Files appear whole or not at all.

    Each block becomes a small Parquet file of numbers next to the target. One COPY at the end adds
    the names and joins the blocks: memory stays bounded, and the disk temporarily holds the answers
    twice.
    """
    if gold is not None and Path(path).absolute() == Path(gold).absolute():
        raise UsageError(f"answers and gold cannot both be written to {path}")
    with ExitStack() as stack:
        answers_file = stack.enter_context(new_file(path, force=force))
        gold_file = stack.enter_context(new_file(gold, force=force)) if gold is not None else None
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=answers_file.parent)))
        connection = stack.enter_context(_connection(scratch))
        answers = _Parts(connection, scratch / "answers")
        truths = _Parts(connection, scratch / "truths")
        for block in crowd.blocks():
            if len(block.worker):
                answers.add({"worker": block.worker, "task": block.task, "answer": block.value})
            task = np.arange(block.first, block.first + len(block.truth))
            truths.add({"task": task, "truth": block.truth})
        if not answers.rows:
            raise DataError(
                "this crowd gave no answers: choose more workers, more tasks or a higher density"
            )
        answers.join(answers_file, {"worker": "w", "task": "t"} if names else {})
        if gold_file is not None:
            truths.join(gold_file, {"task": "t"} if names else {})
        return answers.rows


class _Parts:
    """Blocks of columns, each a Parquet file in one folder, to be joined into one file."""

    def __init__(self, connection: DuckDBPyConnection, folder: Path) -> None:
        folder.mkdir()
        self.connection, self.folder = connection, folder
        self.rows, self.files, self.columns = 0, list[str](), list[str]()

    def add(self, columns: Mapping[str, npt.NDArray[Any]]) -> None:
        file = str(self.folder / f"{len(self.files)}.parquet")
        self.connection.register("block", dict(columns))
        self.connection.execute(f"COPY (FROM block) TO {_quoted(file)} (FORMAT parquet)")
        self.connection.unregister("block")
        self.files.append(file)
        self.columns = list(columns)
        self.rows += len(columns[self.columns[0]])

    def join(self, target: Path, prefixes: Mapping[str, str]) -> None:
        """All rows in order, with a prefix before the numbers of some columns."""
        columns = ", ".join(
            f"'{prefixes[name]}' || {name} AS {name}" if name in prefixes else name
            for name in self.columns
        )
        files = ", ".join(_quoted(file) for file in self.files)
        self.connection.execute(
            f"COPY (SELECT {columns} FROM read_parquet([{files}])) "
            f"TO {_quoted(str(target))} (FORMAT parquet)"
        )


def _connection(scratch: Path) -> DuckDBPyConnection:
    """Open a database in memory that keeps to 1 GB and its rows in order."""
    import duckdb

    return duckdb.connect(
        config={
            "memory_limit": "1GB",
            "threads": min(8, os.cpu_count() or 1),
            "temp_directory": str(scratch / "spill"),
            "preserve_insertion_order": True,
        }
    )


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
