"""What several folders of tests need."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real datasets; a test that needs it is skipped where there is none."""
    named = os.environ.get("SOTTOVOCE_DATA")
    folder = Path(named) if named else Path(__file__).parents[2] / "shared" / "data"
    if not (folder / "datasets.json").is_file():
        pytest.skip("needs real datasets: set SOTTOVOCE_DATA to a folder of them")
    return folder
