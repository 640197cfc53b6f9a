"""Every database ends with the same tables, whichever way it came there."""

from __future__ import annotations

import re
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, insert, inspect, select, text
from tests.server.database.earlier import make_earlier, rows_of
from tests.server.database.filled_database import POLICY, TODAY, send, serving, submission

from sottovoce.errors import UsageError
from sottovoce.model import Terms
from sottovoce.server.database import Database, upgrade
from sottovoce.server.database import schema_version as module
from sottovoce.server.database.campaigns import add_campaign
from sottovoce.server.database.integrity import check
from sottovoce.server.database.schema import METADATA, campaigns, tasks
from sottovoce.server.database.schema_version import (
    SchemaState,
    check_schema,
    migrate,
    revisions,
    schema_state,
)

CAMPAIGN = {"number": 1, "id": "leaf", "state": "draft", "terms": "{}", "created_on": 1}

NOW = revisions()[-1]
NEXT = f"{int(NOW) + 1:04}"
LATER = f"""
from alembic import op
import sqlalchemy as sa

revision = "{NEXT}"
down_revision = "{NOW}"

def upgrade():
    with op.batch_alter_table("campaigns", recreate="auto") as batch:
        batch.alter_column("state", new_column_name="condition")
        batch.create_check_constraint("conditions", "condition <> 'lost'")
    {{more}}
"""


@pytest.fixture
def later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The migrations of a release that comes after this one."""
    folder = tmp_path / "migrations"
    copytree(module.MIGRATIONS, folder)
    (folder / f"r{NEXT}_later.py").write_text(LATER.format(more=""))
    monkeypatch.setattr(module, "MIGRATIONS", folder)
    return folder


def _as_described(connection: Connection) -> set[str]:
    """Tables, indexes and constraints in the database's own words."""
    if connection.dialect.name == "sqlite":
        found = connection.execute(text("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"))
        return {re.sub(r"\s+", " ", sql) for sql in found.scalars() if "sottovoce" not in sql}
    described = (
        "SELECT concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default, "
        "ordinal_position) FROM information_schema.columns WHERE table_schema = 'public'",
        "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'",
        "SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) "
        "FROM pg_constraint WHERE connamespace = 'public'::regnamespace "
        "AND contype <> 'n'",  # named since version 18, and told by the columns
    )
    rows = {row for query in described for row in connection.execute(text(query)).scalars()}
    return {row for row in rows if "sottovoce" not in row}


def _is_meant_for(named: Any, connection: Connection) -> bool:
    """Whether this kind of database has it: Alembic does not look at `ddl_if`."""
    only = getattr(named, "_ddl_if", None)
    return only is None or only.dialect == connection.dialect.name


def _cleared(database: Database) -> Database:
    with database.writing() as connection:
        METADATA.drop_all(connection)
        connection.execute(text("DROP TABLE sottovoce_schema"))
    return database


def _stamp_as_older(database: Database) -> None:
    """Say that tables are those of this release, before the one that comes after it."""
    with database.writing() as connection:
        connection.execute(text(f"UPDATE sottovoce_schema SET version_num = '{NOW}'"))


def test_migrating_gives_the_tables_that_the_code_names(database: Database) -> None:
    with database.reading() as connection:
        made = _as_described(connection)
    with _cleared(database).writing() as connection:
        migrate(connection, revisions()[-1])
    with database.reading() as connection:
        options = {
            "compare_type": True,
            "version_table": "sottovoce_schema",
            "include_object": lambda named, *_: _is_meant_for(named, connection),
        }
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, METADATA) == []
        assert _as_described(connection) == made


def test_revisions_are_those_that_alembic_finds() -> None:
    scripts = ScriptDirectory(str(module.MIGRATIONS), version_locations=[str(module.MIGRATIONS)])
    assert [script.revision for script in scripts.walk_revisions()][::-1] == revisions()
    assert scripts.get_current_head() == revisions()[-1]


def test_a_made_database_is_current_and_stays_so(database: Database) -> None:
    check_schema(database)
    upgrade(database)
    assert schema_state(database) is SchemaState.CURRENT


def test_an_empty_database_is_seen_as_empty(database: Database) -> None:
    assert schema_state(_cleared(database)) is SchemaState.EMPTY
    with pytest.raises(UsageError, match="is empty; run sottovoce db upgrade"):
        check_schema(database)


def test_a_database_that_is_not_there_is_empty_and_not_made(tmp_path: Path) -> None:
    assert schema_state(Database.at(tmp_path / "new")) is SchemaState.EMPTY
    assert list(tmp_path.iterdir()) == []


def test_the_folder_and_the_file_are_for_their_owner(tmp_path: Path) -> None:
    database = Database.at(tmp_path / "new")
    upgrade(database)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "new").iterdir()]
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700
    assert set(modes) == {0o600}
    database.close()


def test_other_tables_are_left_alone(database: Database) -> None:
    with _cleared(database).writing() as connection:
        connection.execute(text("CREATE TABLE campaigns (theirs INTEGER)"))
    assert schema_state(database) is SchemaState.FOREIGN
    with pytest.raises(UsageError, match="tables that are not Sottovoce's; choose an empty"):
        upgrade(database)
    with database.writing() as connection:
        assert inspect(connection).get_table_names() == ["campaigns"]
        connection.execute(text("DROP TABLE campaigns"))


def test_a_newer_database_is_refused(database: Database) -> None:
    with database.writing() as connection:
        connection.execute(text("UPDATE sottovoce_schema SET version_num = '9999'"))
    assert schema_state(database) is SchemaState.NEWER
    for refusing in (check_schema, upgrade):
        with pytest.raises(UsageError, match="newer release; install that release, or restore"):
            refusing(database)


@pytest.mark.usefixtures("later")
def test_an_older_database_is_refused_until_it_is_upgraded(database: Database) -> None:
    _stamp_as_older(database)
    assert schema_state(database) is SchemaState.OLDER
    with pytest.raises(UsageError, match="older release; stop the server and run"):
        check_schema(database)
    upgrade(database)
    check_schema(database)
    with database.reading() as connection:
        assert "condition" in {
            column["name"] for column in inspect(connection).get_columns("campaigns")
        }


@pytest.mark.usefixtures("later")
def test_a_recreated_table_takes_no_rows_with_it(database: Database) -> None:
    _stamp_as_older(database)
    with database.writing() as connection:
        connection.execute(insert(campaigns), CAMPAIGN)
        task = {"campaign": 1, "place": 0, "name": "t", "text": "?"}
        connection.execute(insert(tasks), task)
    upgrade(database)
    with database.reading() as connection:
        assert connection.execute(select(tasks.c.name)).scalars().all() == ["t"]


def test_an_upgrade_that_fails_leaves_no_trace(database: Database, later: Path) -> None:
    failing = LATER.format(more='raise ValueError("half-way")')
    (later / f"r{NEXT}_later.py").write_text(failing)
    _stamp_as_older(database)
    with database.reading() as connection:
        before = _as_described(connection)
    with pytest.raises(ValueError, match="half-way"):
        upgrade(database)
    with database.reading() as connection:
        assert _as_described(connection) == before
    assert schema_state(database) is SchemaState.OLDER


@pytest.mark.parametrize("revision", revisions()[:-1])
def test_what_an_earlier_release_stored_is_kept(
    database: Database, revision: str, tmp_path: Path
) -> None:
    invite, sent = make_earlier(_cleared(database), revision, tmp_path / "source")
    before = rows_of(database)
    assert len(before["reports"]) == len(sent)
    upgrade(database)
    after = rows_of(database)
    for table, rows in before.items():
        kept = [{name: row[name] for name in rows[0]} for row in after[table]] if rows else []
        assert kept == rows
    assert check(database) == []
    with serving(database) as service:  # what was sent before is known, and more is taken
        assert send(service, invite, sent[0])
        assert not send(service, invite, submission())


def test_campaigns_of_the_first_release_asked_people_and_counted_no_refusals(
    database: Database, tmp_path: Path
) -> None:
    make_earlier(_cleared(database), "0001", tmp_path / "source")
    upgrade(database)
    found = rows_of(database)
    assert [row["simulated"] for row in found["campaigns"]] == [0]
    assert found["rejections"] == []


def test_an_upgrade_gives_no_number_twice(database: Database, tmp_path: Path) -> None:
    make_earlier(_cleared(database), "0001", tmp_path / "source")
    upgrade(database)
    with database.writing() as connection:
        added = add_campaign(connection, "oaks", Terms("Oaks", "Oak?", POLICY), TODAY)
    assert added.number == 11


def test_servers_that_start_together_make_the_tables_once(database: Database) -> None:
    _cleared(database)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(upgrade, [database] * 4))
    check_schema(database)


def test_a_file_that_is_no_database_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "sottovoce.db").write_text("dear diary" * 100)
    database = Database.at(tmp_path)
    with pytest.raises(UsageError, match="is not a SQLite database, or is damaged"):
        schema_state(database)
    database.close()


def test_a_server_that_is_not_there_is_refused_without_its_password() -> None:
    database = Database.at("postgresql://ann:swordfish@127.0.0.1:1/none")
    with pytest.raises(UsageError, match="PostgreSQL does not respond") as caught:
        schema_state(database)
    assert "swordfish" not in str(caught.value)
