"""Every notebook runs, and prints what is stored in it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.docs.notebooks import NOTEBOOKS, executed, printed, read

pytestmark = pytest.mark.filterwarnings("default")  # warnings of Jupyter's own libraries


def needs(path: Path) -> Any:
    marks = []
    if "spark" in path.stem:  # its engine has tests of its own, which start one cluster
        no_java = shutil.which("java") is None
        marks = [pytest.mark.slow, pytest.mark.skipif(no_java, reason="Spark needs Java 17")]
    return pytest.param(path, id=path.stem, marks=marks)


@pytest.mark.parametrize("path", [needs(path) for path in NOTEBOOKS])
def test_it_prints_what_is_stored(path: Path, tmp_path: Path) -> None:
    stored = read(path)
    assert printed(executed(path, tmp_path)) == printed(stored)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_has_a_title_a_purpose_and_short_cells(path: Path) -> None:
    cells = read(path).cells
    assert cells[0].cell_type == "markdown"
    assert cells[0].source.startswith("# ")
    code = [cell for cell in cells if cell.cell_type == "code"]
    assert len(cells) <= 30
    assert all(len(cell.source.splitlines()) <= 20 for cell in code)
    assert all(cell.outputs or cell.execution_count for cell in code), "run tests.docs.notebooks"


def test_there_are_at_least_eight() -> None:
    assert len(NOTEBOOKS) >= 8
