"""What `check` tells."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text
from tests.server.database.filled_database import fill

from sottovoce.errors import UsageError
from sottovoce.server.database import Database, upgrade
from sottovoce.server.database.integrity import check
from sottovoce.server.database.schema import reports


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Database]:
    """A SQLite database with something in it."""
    made = Database.at(tmp_path / "small")
    upgrade(made)
    fill(made)
    yield made
    made.close()


def test_check_finds_nothing_in_a_sound_database(database: Database) -> None:
    fill(database)
    assert check(database) == []


def test_check_tells_what_is_wrong(database: Database) -> None:
    fill(database)
    with database.writing() as connection:
        connection.execute(text("UPDATE campaigns SET workers = 7"))
        connection.execute(reports.update().where(reports.c.sequence == 1).values(codes=b"abc"))
        places = (99).to_bytes(4, "little") * 20
        connection.execute(reports.update().where(reports.c.sequence == 2).values(tasks=places))
        doubled = (3).to_bytes(4, "little") * 20
        connection.execute(reports.update().where(reports.c.sequence == 3).values(tasks=doubled))
        connection.execute(text("INSERT INTO erased VALUES (1, '0123456789abcdef')"))
        connection.execute(text("DELETE FROM tasks WHERE place = 0"))
        connection.execute(text("UPDATE rejections SET count = 0 WHERE reason = 'not_open'"))
        connection.execute(text("INSERT INTO rejections VALUES (1, 'moonlight', 2)"))
    assert sorted(check(database)) == [
        "campaign leaf: 2 of its counts of refused reports make no sense",
        "campaign leaf: has 1 erasures and counts 0",
        "campaign leaf: has 19 tasks and counts 20",
        "campaign leaf: has 3 workers and counts 7",
        "campaign leaf: row 1 of reports: it does not have one code for each task",
        "campaign leaf: row 2 of reports: it has a task that the campaign has not",
        "campaign leaf: row 3 of reports: its worker reported on a task before",
    ]


def test_check_tells_of_a_damaged_file(small: Database) -> None:
    small.close()
    assert small.file is not None
    content = bytearray(small.file.read_bytes())
    content[-3000:] = b"\xff" * 3000
    small.file.write_bytes(content)
    damaged = Database.at(small.file.parent)
    with pytest.raises(UsageError, match="damaged; restore a backup"):
        check(damaged)
    damaged.close()


def test_check_tells_of_an_index_that_lies(small: Database) -> None:
    with small.writing() as connection:
        connection.execute(text("PRAGMA writable_schema = ON"))
        connection.execute(text("CREATE INDEX lying ON events (day)"))
        connection.execute(
            text("UPDATE sqlite_master SET sql = 'CREATE INDEX lying ON events (number)' "
                 "WHERE name = 'lying'")
        )  # fmt: skip
    small.close()
    faults = check(small)
    assert faults
    assert all(fault.startswith("SQLite: ") for fault in faults)
