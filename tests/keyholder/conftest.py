"""Fixtures shared by the tests of a keyholder's side."""

from __future__ import annotations

from pathlib import Path

import pytest

from sottovoce.keyholder import key_file


@pytest.fixture
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passphrases that are stretched but little: most tests are not about that."""
    monkeypatch.setattr(key_file, "COST", {"n": 1 << 4, "r": 8, "p": 1})


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "keyholder"
