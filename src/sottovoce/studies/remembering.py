"""Results that the studies of one command share, whatever was kept before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sottovoce.studies.cells import Cell, Kept, studies_folder

__all__ = ["Anew", "Remembered", "results_file"]


def results_file() -> Path:
    """Where all studies keep the results of full runs: cells that two of them share are one."""
    return studies_folder() / "results.jsonl"


class Remembered:
    """Results in memory: studies of a quick run that share cells compute them once."""

    def __init__(self) -> None:
        self._results: dict[str, Any] = {}

    def get(self, cell: Cell) -> Any | None:
        """The result of a cell that was computed before, or None."""
        return self._results.get(cell.key)

    def add(self, cell: Cell, result: Any) -> None:
        """Remember a result."""
        self._results[cell.key] = result


class Anew(Kept):
    """Results that are kept for later runs, without a look at those of earlier ones."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._own: set[str] = set()

    def get(self, cell: Cell) -> Any | None:
        """The result of a cell that was computed by this command, or None."""
        return super().get(cell) if cell.key in self._own else None

    def add(self, cell: Cell, result: Any) -> None:
        """Keep a result; it takes the place of an earlier one."""
        super().add(cell, result)
        self._own.add(cell.key)
