"""Where tables for the tests come from."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    """Writes a file into the test's folder: written(content, name)."""

    def write(content: bytes | str, name: str = "answers.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real datasets; the test is skipped where there is none."""
    named = os.environ.get("SOTTOVOCE_DATA")
    folder = Path(named) if named else Path(__file__).parents[2] / ".." / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no real datasets in {folder}: set SOTTOVOCE_DATA to their folder")
    return folder
