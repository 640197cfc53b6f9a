"""Fixtures of the documentation's tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.docs.commands import forked_commands
from tests.service.forked_processes import Forker


@pytest.fixture(scope="session")
def commands(forker: Forker) -> Iterator[Path]:
    """The folder in which a console finds `sottovoce`."""
    if not Path("/proc/self/fd").exists():  # then each command starts in the usual way
        yield Path(sys.executable).parent
        return
    # The path of a socket must be short.
    with TemporaryDirectory(prefix="sottovoce-") as folder:
        with forked_commands(Path(folder), forker) as made:
            yield made
