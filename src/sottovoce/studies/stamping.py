"""Which code of the studies a result rests on, so that it is kept for that code only."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from sottovoce.planning.trial_runner import stamp_of

__all__ = ["PACKAGE", "study_stamp"]

ROOT = Path(__file__).parents[1]
PACKAGE = "sottovoce.studies"


@cache
def study_stamp(module: str) -> str:
    """A stamp of a module's file, and of the studies' modules that it imports, directly or not.

    What lies below the studies is in the stamp of the software. So a result is computed anew when
    the code that computes it changes, and not when the judgement of another study does.
    """
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:  # built in: it comes with the interpreter
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
    """The file of a module of the studies; a package's own file says nothing about results."""
    if not module.startswith(f"{PACKAGE}."):
        return None
    path = ROOT.joinpath(*module.split(".")[1:]).with_suffix(".py")
    return path if path.is_file() else None
