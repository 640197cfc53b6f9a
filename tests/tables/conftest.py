"""Where tables for the tests come from."""

from __future__ import annotations

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
