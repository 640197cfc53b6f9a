"""The choice of campaign tests that the quick run tries on PostgreSQL too."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent
FOLDERS = {HERE, HERE / "campaigns", HERE / "inference_process"}
ON_POSTGRESQL_IN_ALL_RUNS = {
    "test_lifecycle.py",
    "test_own_reports.py",
    "test_scheduler.py",
    "test_submissions.py",
}
"""Tests with concurrent writers. Of the other files one test is enough; slow runs try all."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    first: set[Path] = set()
    for item in items:
        parameters = getattr(item, "callspec", None)
        if (
            item.path.parent in FOLDERS
            and item.path.name not in ON_POSTGRESQL_IN_ALL_RUNS
            and parameters is not None
            and parameters.params.get("database") == "postgresql"
        ):
            if item.path in first:
                item.add_marker(pytest.mark.slow)
            first.add(item.path)
