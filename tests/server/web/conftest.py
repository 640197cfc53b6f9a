"""Fixtures shared by the tests of the whole interface."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.server.web.hostile_server import Arena, arena_at

HERE = Path(__file__).parent
ON_POSTGRESQL_IN_SLOW_RUNS = {
    "test_forecasts.py",
    "test_invites.py",
    "test_keyholders.py",
    "test_live.py",
    "test_overview.py",
    "test_rejections.py",
    "test_results.py",
    "test_sample.py",
    "test_tokens.py",
}
"""Routes whose services tests/server/campaigns already tests on both databases."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        parameters = getattr(item, "callspec", None)
        if (
            item.path.parent == HERE / "routes"
            and item.path.name in ON_POSTGRESQL_IN_SLOW_RUNS
            and parameters is not None
            and parameters.params.get("database") == "postgresql"
        ):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    with arena_at(tmp_path_factory.mktemp("arena")) as made:
        yield made
