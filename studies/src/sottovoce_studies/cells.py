"""Cells of a study: units of work that run in any order and process, and whose results are cached.

Results are cached on disk under a hash of the studies' modules that they depend on, or in memory
for the studies of one command, which share some cells.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from sottovoce.planning.trial_runner import Processes, Progress, key_of, plans_folder, stamp_of

__all__ = [
    "Cell",
    "Kept",
    "Recomputed",
    "Remembered",
    "Results",
    "results_file",
    "run_cells",
    "studies_folder",
    "study_stamp",
]


ROOT = Path(__file__).parent
PACKAGE = "sottovoce_studies"


@dataclass(frozen=True, slots=True)
class Cell:
    """A module-level function with the arguments (lists, strings, numbers) that fix its result.

    >>> Cell(max, (1, 2)).run()
    2
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]

    def run(self) -> Any:
        """The result, in a form that JSON can represent."""
        return self.function(*self.arguments)

    @property
    def key(self) -> str:
        """A hash of the function, its arguments, and the software that runs it."""
        function = self.function
        stamps = [
            study_stamp(module) for module in sorted({function.__module__, *_homes(self.arguments)})
        ]
        return key_of([stamps, function.__module__, function.__qualname__, repr(self.arguments)])


def _homes(value: Any) -> Iterator[str]:
    """The studies' modules that define the classes of an argument or of its parts."""
    if isinstance(value, tuple | list):
        for part in value:
            yield from _homes(part)
    elif is_dataclass(value) and not isinstance(value, type):
        if type(value).__module__.startswith(PACKAGE):
            yield type(value).__module__
        for field in fields(value):
            yield from _homes(getattr(value, field.name))


def run_cells(
    cells: Sequence[Cell],
    *,
    jobs: int = 1,
    progress: Progress | None = None,
    kept: Results | None = None,
) -> list[Any]:
    """The results of cells in order; each is cached as soon as it is computed."""
    found = {} if kept is None else {i: kept.get(cell) for i, cell in enumerate(cells)}
    found = {place: result for place, result in found.items() if result is not None}
    missing = [place for place in range(len(cells)) if place not in found]
    if progress is not None:
        progress(len(found), len(cells))
    with Processes(Cell.run, jobs=jobs) as processes:
        # One at a time: a cell takes a while, and finished cells should be cached.
        for number, result in processes.results([cells[place] for place in missing], size=1):
            found[missing[number]] = result
            if kept is not None:
                kept.add(cells[missing[number]], result)
            if progress is not None:
                progress(len(found), len(cells))
    return [found[place] for place in range(len(cells))]


class Results(Protocol):
    """A cache of results."""

    def get(self, cell: Cell) -> Any | None:
        """The cached result of a cell, or None."""
        ...

    def add(self, cell: Cell, result: Any) -> None:
        """Store a result."""
        ...


class Kept:
    """A cache in a file of JSON lines, one per cell.

    A line is written when its cell is done, so an interrupted run resumes. Truncated or invalid
    lines are ignored.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known = dict(_lines(path))

    def get(self, cell: Cell) -> Any | None:
        """The cached result of a cell, or None."""
        return self._known.get(cell.key)

    def add(self, cell: Cell, result: Any) -> None:
        """Store a result; it is on disk before this returns."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps({"key": cell.key, "result": result}, separators=(",", ":"))
        with self._path.open("ab") as file:
            # Start a new line after a truncated one.
            start = b"" if file.tell() == 0 or self._ends_well() else b"\n"
            file.write(start + line.encode("ascii") + b"\n")
        self._known[cell.key] = result

    def _ends_well(self) -> bool:
        with self._path.open("rb") as file:
            file.seek(-1, 2)
            return file.read(1) == b"\n"


class Recomputed(Kept):
    """A cache that ignores results of earlier runs but stores those of this one."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._own: set[str] = set()

    def get(self, cell: Cell) -> Any | None:
        """The result of a cell that this command computed, or None."""
        return super().get(cell) if cell.key in self._own else None

    def add(self, cell: Cell, result: Any) -> None:
        """Store a result; it replaces an earlier one."""
        super().add(cell, result)
        self._own.add(cell.key)


class Remembered:
    """A cache in memory, so that the studies of a quick run compute shared cells once."""

    def __init__(self) -> None:
        self._results: dict[str, Any] = {}

    def get(self, cell: Cell) -> Any | None:
        """The cached result of a cell, or None."""
        return self._results.get(cell.key)

    def add(self, cell: Cell, result: Any) -> None:
        """Store a result."""
        self._results[cell.key] = result


def _lines(path: Path) -> Iterator[tuple[str, Any]]:
    if not path.exists():
        return
    for line in path.read_bytes().splitlines():
        try:
            record = json.loads(line)
            yield str(record["key"]), record["result"]
        except (ValueError, TypeError, KeyError):
            continue


def studies_folder() -> Path:
    """The folder of cached full runs, next to the plans in the user's cache."""
    return plans_folder().parent / "studies"


def results_file() -> Path:
    """The file with the results of full runs of all studies; shared cells are stored once."""
    return studies_folder() / "results.jsonl"


@cache
def study_stamp(module: str) -> str:
    """A hash of a module's file and of the studies' modules that it imports, directly or not.

    Modules outside the studies are covered by the hash of the software. So a result is recomputed
    when the code that computes it changes, and not when the rule of another study does.
    """
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:  # built-in modules belong to the interpreter
        return module
    path = Path(file)
    if not module.startswith(f"{PACKAGE}."):
        return stamp_of([path], path.parent)
    return stamp_of(sorted(_reached(module, set())), ROOT)


def _reached(module: str, seen: set[Path]) -> set[Path]:
    path = _file_of(module)
    if path is None or path in seen:
        return seen
    seen.add(path)
    for imported in _imported(path):
        _reached(imported, seen)
    return seen


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE):
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _file_of(module: str) -> Path | None:
    """The file of a studies' module; a package's `__init__` does not affect results."""
    if not module.startswith(f"{PACKAGE}."):
        return None
    path = ROOT.joinpath(*module.split(".")[1:]).with_suffix(".py")
    return path if path.is_file() else None
