"""Cells of a study: pieces of work that can be done in any order, anywhere, and kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, Protocol

from sottovoce.planning.trial_runner import Processes, Progress, key_of, plans_folder
from sottovoce.studies.stamping import PACKAGE, study_stamp

__all__ = ["Cell", "Kept", "Results", "run_cells", "studies_folder"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A function of a module and its arguments, which decide the result: lists, texts, numbers.

    >>> Cell(max, (1, 2)).run()
    2
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]

    def run(self) -> Any:
        """The result, as JSON can hold it."""
        return self.function(*self.arguments)

    @property
    def key(self) -> str:
        """A name by content: the function, its arguments, and the software that runs it."""
        function = self.function
        stamps = [
            study_stamp(module) for module in sorted({function.__module__, *_homes(self.arguments)})
        ]
        return key_of([stamps, function.__module__, function.__qualname__, repr(self.arguments)])


def _homes(value: Any) -> Iterator[str]:
    """The modules of the studies that an argument's classes come from, or those of its parts."""
    if isinstance(value, tuple | list):
        for part in value:
            yield from _homes(part)
    elif is_dataclass(value) and not isinstance(value, type):
        if type(value).__module__.startswith(PACKAGE):
            yield type(value).__module__
        for field in fields(value):
            yield from _homes(getattr(value, field.name))


def studies_folder() -> Path:
    """Where results of full runs are kept: beside the plans in the user's cache."""
    return plans_folder().parent / "studies"


class Results(Protocol):
    """Where results are kept, if anywhere."""

    def get(self, cell: Cell) -> Any | None:
        """The result of a cell that was computed before, or None."""
        ...

    def add(self, cell: Cell, result: Any) -> None:
        """Keep a result."""
        ...


class Kept:
    """Results in a file of JSON lines, one for each cell: what is there is not computed again.

    A line is written when its cell is done, so that a run that was stopped goes on where it was.
    A line that was cut off, or makes no sense, counts as not there.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known = dict(_lines(path))

    def get(self, cell: Cell) -> Any | None:
        """The kept result of a cell, or None."""
        return self._known.get(cell.key)

    def add(self, cell: Cell, result: Any) -> None:
        """Keep a result, on the disk before this returns."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps({"key": cell.key, "result": result}, separators=(",", ":"))
        with self._path.open("ab") as file:
            # Behind a line that was cut off, a new one starts.
            start = b"" if file.tell() == 0 or self._ends_well() else b"\n"
            file.write(start + line.encode("ascii") + b"\n")
        self._known[cell.key] = result

    def _ends_well(self) -> bool:
        with self._path.open("rb") as file:
            file.seek(-1, 2)
            return file.read(1) == b"\n"


def run_cells(
    cells: Sequence[Cell],
    *,
    jobs: int = 1,
    progress: Progress | None = None,
    kept: Results | None = None,
) -> list[Any]:
    """The results of cells in their order; each is kept as soon as it is there."""
    found = {} if kept is None else {i: kept.get(cell) for i, cell in enumerate(cells)}
    found = {place: result for place, result in found.items() if result is not None}
    missing = [place for place in range(len(cells)) if place not in found]
    if progress is not None:
        progress(len(found), len(cells))
    with Processes(Cell.run, jobs=jobs) as processes:
        # One at a time: a cell takes a while, and what is done should be kept.
        for number, result in processes.results([cells[place] for place in missing], size=1):
            found[missing[number]] = result
            if kept is not None:
                kept.add(cells[missing[number]], result)
            if progress is not None:
                progress(len(found), len(cells))
    return [found[place] for place in range(len(cells))]


def _lines(path: Path) -> Iterator[tuple[str, Any]]:
    if not path.exists():
        return
    for line in path.read_bytes().splitlines():
        try:
            record = json.loads(line)
            yield str(record["key"]), record["result"]
        except (ValueError, TypeError, KeyError):
            continue
