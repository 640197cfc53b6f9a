"""Caches to test with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that does not exist yet."""
    folder = tmp_path / "user cache" / "data"
    monkeypatch.setenv("SOTTOVOCE_DATA", str(folder))
    return folder


@pytest.fixture
def make_folder(tmp_path: Path) -> Callable[..., Path]:
    """Write a folder of one dataset."""

    def make(name: str, **tables: str) -> Path:
        folder = tmp_path / "mine" / name
        folder.mkdir(parents=True, exist_ok=True)
        for table, text in tables.items():
            (folder / f"{table}.csv").write_text(text)
        return folder

    return make
