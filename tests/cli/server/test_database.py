"""`sottovoce db`, as an operator meets it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from sqlalchemy import text
from tests.cli.conftest import Run
from tests.server.database.filled_database import fill

from sottovoce.files.locks import folder_lock
from sottovoce.server.database import Database, upgrade
from sottovoce.server.database import schema_version as module
from sottovoce.server.database.backup import verify

NOW = module.revisions()[-1]
NEXT = f"{int(NOW) + 1:04}"
LATER = f'''"""Tokens have a use."""
from alembic import op
import sqlalchemy as sa

revision = "{NEXT}"
down_revision = "{NOW}"

def upgrade():
    op.add_column("tokens", sa.Column("use", sa.Text))
'''


@pytest.fixture
def older(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a service that an earlier release made."""
    database = Database.at(tmp_path / "live")
    upgrade(database)
    fill(database)
    database.close()
    folder = tmp_path / "migrations"
    shutil.copytree(module.MIGRATIONS, folder)
    (folder / f"r{NEXT}_later.py").write_text(LATER)
    monkeypatch.setattr(module, "MIGRATIONS", folder)
    return tmp_path / "live"


def test_an_empty_database_gets_its_tables(call: Run, tmp_path: Path) -> None:
    trial = call("db", "upgrade", "--data", "new", "--dry-run")
    assert trial.stdout.startswith("would create the tables of schema ")
    assert not (tmp_path / "new").exists()
    assert call("db", "upgrade", "--data", "new").stdout.startswith("created the tables of schema ")
    assert call("db", "upgrade", "--data", "new").stdout.endswith("up to date: nothing to do\n")
    assert call("db", "check", "--data", "new").stdout.endswith("sottovoce.db is consistent\n")


def test_an_older_database_is_backed_up_and_changed(call: Run, older: Path) -> None:
    done = call("db", "upgrade", "--data", "live")
    assert done.stdout.splitlines() == [
        f"backed up to live/before-{NEXT}.backup",
        f"changed: {NEXT}, Tokens have a use.",
        f"upgraded from schema {NOW} to {NEXT}",
    ]
    assert verify(older / f"before-{NEXT}.backup").tables["reports"].rows == 3


def test_a_dry_run_changes_nothing(call: Run, older: Path) -> None:
    before = {file.name for file in older.iterdir()}
    trial = call("db", "upgrade", "--data", "live", "--dry-run")
    assert trial.stdout.splitlines() == [
        f"would back up to live/before-{NEXT}.backup",
        f"would change: {NEXT}, Tokens have a use.",
    ]
    assert {file.name for file in older.iterdir()} == before


def test_a_backup_that_cannot_be_put_stops_the_upgrade(call: Run, older: Path) -> None:
    refused = call("db", "upgrade", "--data", "live", "--backup", "nowhere/b")
    assert refused.returncode == 2
    assert "nowhere is not a folder" in refused.stderr
    assert call("db", "check", "--data", "live").returncode == 2  # still older


def test_a_running_server_is_not_upgraded_under(call: Run, older: Path) -> None:
    with folder_lock(older):
        refused = call("db", "upgrade", "--data", "live")
    assert "live is in use by a running server" in refused.stderr
    assert not list(older.glob("*.backup"))


def test_a_running_server_on_postgresql_is_not_upgraded_under(call: Run, postgresql: str) -> None:
    server = Database.at(postgresql)
    with server.writing() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    with server.reading() as connection:
        connection.execute(text("SELECT 1"))
        refused = call("db", "upgrade", "--database-url", postgresql)
    assert "connections of running servers" in refused.stderr
    server.close()
    assert call("db", "upgrade", "--database-url", postgresql).returncode == 0


def test_faults_are_told_and_the_exit_code_says_so(call: Run, tmp_path: Path) -> None:
    database = Database.at(tmp_path / "live")
    upgrade(database)
    fill(database)
    with database.writing() as connection:
        connection.execute(text("UPDATE campaigns SET reports = 59"))
    database.close()
    checked = call("db", "check", "--data", "live")
    assert checked.returncode == 1
    assert checked.stdout == "campaign leaf: has 60 reports and counts 59\n"
