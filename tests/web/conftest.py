"""What tests of the whole interface share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.web.arena import Arena, arena_at


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    with arena_at(tmp_path_factory.mktemp("arena")) as made:
        yield made
