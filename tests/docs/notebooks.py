"""Execution of the notebooks in docs/notebooks, which keep their outputs.

    python -m tests.docs.notebooks [NAME ...]

executes them and writes their outputs. Outputs of cells tagged `random` differ from run to run.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import nbformat
from nbclient import NotebookClient

__all__ = ["NOTEBOOKS", "executed", "printed", "read"]

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
PATIENCE = 300
"""Seconds for one cell."""


def read(path: Path) -> Any:
    """A notebook as it is stored."""
    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]


def executed(path: Path, folder: Path) -> Any:
    """A notebook after all its cells ran in an empty folder."""
    notebook = read(path)
    variables = {
        "SOTTOVOCE_HOME": str(folder / ".home"),
        "SOTTOVOCE_CACHE": str(folder / ".cache"),
        "SOTTOVOCE_DATA": str(folder / ".data"),
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }
    with patch.dict(os.environ, variables):
        client = NotebookClient(
            notebook,
            timeout=PATIENCE,
            record_timing=False,
            resources={"metadata": {"path": str(folder)}},
        )
        client.execute()
    return notebook


def printed(notebook: Any) -> list[tuple[int, str]]:
    """The output of the cells that print the same in every run, by the cell's place."""
    found = []
    for place, cell in enumerate(notebook.cells):
        if cell.cell_type != "code" or "random" in cell.metadata.get("tags", ()):
            continue
        for output in cell.outputs:
            data = output.get("data", {})
            text = output.get("text") or data.get("text/plain", "")
            if "image/png" not in data and output.get("name") != "stderr":
                found.append((place, text.strip()))
    return found


def _write(path: Path) -> None:
    with TemporaryDirectory() as folder:
        notebook = executed(path, Path(folder))
    for cell in notebook.cells:  # logs name the machine
        if cell.cell_type == "code":
            cell.outputs = [each for each in cell.outputs if each.get("name") != "stderr"]
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    nbformat.validate(notebook)
    nbformat.write(notebook, path)  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    for each in NOTEBOOKS:
        if not sys.argv[1:] or each.stem in sys.argv[1:]:
            _write(each)
