"""A backup has everything, and brings it back."""

from __future__ import annotations

import shutil
import sqlite3
import stat
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import delete, select, text
from tests.server.database.earlier import make_earlier
from tests.server.database.filled_database import TODAY, fill, send, serving, submission
from tests.server.drafts import running
from tests.server.sealed.committees import opened, sealed_policy, seats_of, until, upload

from sottovoce.errors import DataError, OutputExists, UsageError
from sottovoce.server.campaigns.lifecycle import close_campaign, delete_campaign
from sottovoce.server.database import Database, upgrade
from sottovoce.server.database import schema_version as upgrading_module
from sottovoce.server.database.backup import back_up, restore, verify
from sottovoce.server.database.integrity import check
from sottovoce.server.database.schema import METADATA, reports
from sottovoce.server.database.schema_version import SchemaState, revisions, schema_state
from sottovoce.server.sealed.progress import sealed_progress


@pytest.fixture(params=["sqlite", "postgresql"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """Another database, with nothing in it."""
    if request.param == "sqlite":
        made = Database.at(tmp_path / "restored")
    else:
        server = Database.at(request.getfixturevalue("postgresql"))
        with server.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("DROP DATABASE IF EXISTS restored WITH (FORCE)")
            connection.exec_driver_sql("CREATE DATABASE restored")
        made = Database(server.url.set(database="restored"))
        server.close()
    yield made
    made.close()


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Database]:
    """A SQLite database with something in it."""
    made = Database.at(tmp_path / "small")
    upgrade(made)
    fill(made)
    yield made
    made.close()


@pytest.fixture
def file(small: Database, tmp_path: Path) -> Path:
    """A backup of it."""
    back_up(small, tmp_path / "file.backup", today=TODAY)
    return tmp_path / "file.backup"


crosswise = pytest.mark.parametrize(
    ("database", "target"),
    [
        ("sqlite", "postgresql"),
        ("postgresql", "sqlite"),
        pytest.param("sqlite", "sqlite", marks=pytest.mark.slow),
        pytest.param("postgresql", "postgresql", marks=pytest.mark.slow),
    ],
    indirect=True,
)
"""From one kind into the other; into the same kind in slow runs."""


def _rows(database: Database) -> dict[str, list[tuple[object, ...]]]:
    with database.reading() as connection:
        return {
            table.name: sorted(tuple(row) for row in connection.execute(select(table)))
            if table.name != "reports"
            else [tuple(r) for r in connection.execute(select(table).order_by(table.c.sequence))]
            for table in METADATA.sorted_tables
        }


@crosswise
def test_everything_comes_back_into_either_kind(
    database: Database, target: Database, tmp_path: Path
) -> None:
    invite, sent = fill(database)
    with database.writing() as connection:  # a hole in the numbers
        connection.execute(delete(reports).where(reports.c.sequence == 2))
        connection.execute(text("UPDATE campaigns SET workers = 2, submissions = 2, reports = 40"))
    made = back_up(database, tmp_path / "all.backup", today=TODAY)
    assert restore(tmp_path / "all.backup", target) == made
    assert _rows(target) == _rows(database)
    assert check(target) == []
    with serving(target) as service:
        assert send(service, invite, sent[0])
        assert not send(service, invite, submission())
        assert not send(service, invite, sent[1])  # it was taken out


def test_a_backup_is_one_state_while_reports_arrive(database: Database, tmp_path: Path) -> None:
    invite, _ = fill(database, workers=20)
    stop = threading.Event()

    def keep_sending() -> None:
        with serving(database) as service:
            while not stop.is_set():
                send(service, invite, submission())

    sender = threading.Thread(target=keep_sending)
    sender.start()
    try:
        for turn in range(5):
            place = tmp_path / f"{turn}.backup"
            manifest = back_up(database, place, today=TODAY)
            restored = Database.at(tmp_path / f"restored{turn}")
            restore(place, restored)
            assert check(restored) == []
            restored.close()
    finally:
        stop.set()
        sender.join()
    assert manifest.tables["reports"].rows > 20


def test_a_backup_is_for_its_owner_and_alone_in_its_folder(small: Database, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    back_up(small, folder / "b", today=TODAY)
    assert [file.name for file in folder.iterdir()] == ["b"]
    assert stat.S_IMODE((folder / "b").stat().st_mode) == 0o600
    verify(folder / "b")
    assert [file.name for file in folder.iterdir()] == ["b"]


def test_a_backup_is_replaced_only_when_told(small: Database, file: Path) -> None:
    with pytest.raises(OutputExists):
        back_up(small, file, today=TODAY)
    back_up(small, file, today=TODAY, force=True)
    verify(file)


def test_what_was_deleted_is_not_in_a_backup(small: Database, tmp_path: Path) -> None:
    with small.reading() as connection:
        worker = connection.execute(select(reports.c.worker)).scalars().first()
    assert worker is not None
    with small.writing() as connection:
        connection.execute(delete(reports).where(reports.c.worker == worker))
    back_up(small, tmp_path / "b", today=TODAY)
    assert worker not in (tmp_path / "b").read_bytes()


def test_an_error_leaves_nothing(small: Database, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()

    def fail(table: str, rows: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        back_up(small, folder / "b", today=TODAY, progress=fail)
    assert list(folder.iterdir()) == []


def test_an_empty_database_has_no_backup(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing to back up"):
        back_up(Database.at(tmp_path / "none"), tmp_path / "b", today=TODAY)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ("DELETE FROM reports WHERE sequence = 1", "table reports has 2 rows, and 3 were written"),
        ("UPDATE tokens SET name = 'Eve'", "table tokens is not what was written"),
        ("UPDATE sottovoce_schema SET version_num = '0000'", "its schema differs"),
        ("DROP TABLE events", "its tables differ"),
        ("ALTER TABLE events ADD COLUMN more TEXT", "table events has other columns"),
        ("DELETE FROM sottovoce_manifest WHERE name = 'day'", "its manifest cannot be read"),
        ("DROP TABLE sottovoce_manifest", "this is a SQLite database but not a backup"),
    ],
)
def test_a_backup_that_was_changed_is_refused(file: Path, damage: str, words: str) -> None:
    connection = sqlite3.connect(file)
    connection.execute(damage)
    connection.commit()
    connection.close()
    with pytest.raises(DataError, match=words):
        verify(file)


def test_every_damaged_page_is_noticed(file: Path) -> None:
    whole = file.read_bytes()
    for place in range(5, len(whole), 4096):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        with pytest.raises((DataError, UsageError)):
            verify(file)


def test_half_a_backup_is_refused(file: Path, tmp_path: Path) -> None:
    file.write_bytes(file.read_bytes()[:9000])
    target = Database.at(tmp_path / "target")
    with pytest.raises(DataError, match=r"damaged|no backup"):
        restore(file, target)
    assert schema_state(target) is SchemaState.EMPTY


def test_what_is_there_is_never_overwritten(database: Database, file: Path) -> None:
    fill(database)
    before = _rows(database)
    with pytest.raises(UsageError, match="is not empty; restore into a new folder"):
        restore(file, database)
    assert _rows(database) == before


def test_a_database_with_tables_and_no_rows_is_empty(database: Database, file: Path) -> None:
    restore(file, database)
    assert check(database) == []


def test_a_restore_that_fails_leaves_nothing(target: Database, file: Path) -> None:
    def fail_while_storing(table: str, rows: int) -> None:
        calls.append(table)
        if calls.count("reports") == 2:  # the first is verifying
            raise KeyboardInterrupt

    calls: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        restore(file, target, progress=fail_while_storing)
    assert schema_state(target) is SchemaState.EMPTY


def test_a_backup_of_a_newer_release_is_refused(file: Path) -> None:
    connection = sqlite3.connect(file)
    connection.execute("UPDATE sottovoce_schema SET version_num = '9999'")
    connection.execute("UPDATE sottovoce_manifest SET content = '9999' WHERE name = 'schema'")
    connection.commit()
    connection.close()
    with pytest.raises(UsageError, match=r"made by release .*, which is newer"):
        verify(file)


NOW = revisions()[-1]
NEXT = f"{int(NOW) + 1:04}"
LATER = f"""
from alembic import op
import sqlalchemy as sa

revision = "{NEXT}"
down_revision = "{NOW}"

def upgrade():
    op.execute("UPDATE tokens SET name = 'renamed'")
"""


def test_a_backup_of_an_older_release_is_brought_up_to_date(
    file: Path, target: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "migrations"
    shutil.copytree(upgrading_module.MIGRATIONS, folder)
    (folder / f"r{NEXT}_later.py").write_text(LATER)
    monkeypatch.setattr(upgrading_module, "MIGRATIONS", folder)
    before = file.read_bytes()
    restore(file, target)
    assert schema_state(target) is SchemaState.CURRENT
    with target.reading() as connection:
        assert connection.execute(text("SELECT name FROM tokens")).scalars().all() == ["renamed"]
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    "revision",
    [
        revisions()[0],
        *(pytest.param(each, marks=pytest.mark.slow) for each in revisions()[1:-1]),
    ],
)
def test_a_backup_of_an_earlier_schema_comes_back_in_this_one(
    revision: str, target: Database, tmp_path: Path
) -> None:
    earlier = Database.at(tmp_path / "earlier")
    invite, sent = make_earlier(earlier, revision, tmp_path / "source")
    made = back_up(earlier, tmp_path / "earlier.backup", today=TODAY)
    assert made.revision == revision
    restore(tmp_path / "earlier.backup", target)
    upgrade(earlier)
    assert _rows(target) == _rows(earlier)
    assert check(target) == []
    with serving(target) as service:
        assert send(service, invite, sent[0])
    earlier.close()


@crosswise
def test_a_sealed_campaign_comes_back_and_goes_on(
    database: Database, target: Database, tmp_path: Path
) -> None:
    with running(database) as service:
        id, invite = opened(service, sealed_policy(service))
        holders = seats_of(service, id)
        upload(service, id, invite, (1, 1, 0), workers=3)
        close_campaign(service, id)
        until(holders, lambda: sealed_progress(service, id).phase == "opening")
        holders[0].turn()
    back_up(database, tmp_path / "sealed.backup", today=TODAY)
    restore(tmp_path / "sealed.backup", target)
    assert _rows(target) == _rows(database)
    assert check(target) == []
    with running(target) as service:
        holders[1].server = replace(holders[1].server, service=service)
        holders[1].turn()
        assert sealed_progress(service, id).phase == "opened"
        delete_campaign(service, id)
    left = {name for name, rows in _rows(target).items() if rows}
    assert left == {"events", "signing_keys"}
