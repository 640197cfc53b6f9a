"""`sottovoce db export-reports`, as an operator meets it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from sqlalchemy import text
from tests.cli.conftest import Run
from tests.cli.server.test_backup import SMALL_DISK
from tests.server.database.filled_database import fill

from sottovoce.server.database import Database, upgrade


@pytest.fixture
def live(tmp_path: Path) -> Database:
    database = Database.at(tmp_path / "live")
    upgrade(database)
    fill(database)
    database.close()
    return database


def test_reports_are_exported_in_parts(call: Run, live: Database, tmp_path: Path) -> None:
    done = call("db", "export-reports", "leaf", "out", "--data", "live", "--parts", "2")
    assert done.stdout == "wrote out: 60 reports in 2 parts\n"
    assert "next: sottovoce infer out/reports --policy out/policy.json" in done.stderr
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == [
        "_SUCCESS", "policy.json", "reports",
    ]  # fmt: skip


def truths(files: Path) -> list[tuple[str, str]]:
    found = duckdb.connect().execute(
        "SELECT task, truth FROM read_parquet(?) ORDER BY 1", [str(files)]
    )
    return found.fetchall()


def test_a_large_engine_infers_from_the_folder_what_one_machine_infers_from_a_file(
    call: Run, live: Database, tmp_path: Path
) -> None:
    call("db", "export-reports", "leaf", "out", "--data", "live", "--parts", "3")
    parts = f"read_parquet({str(tmp_path / 'out/reports/*.parquet')!r})"
    duckdb.sql(f"COPY (FROM {parts}) TO {str(tmp_path / 'one.parquet')!r}")
    policy = ("--policy", "out/policy.json")
    call("infer", "one.parquet", *policy, "-o", "truths.parquet")
    done = call("infer", "out/reports", *policy, "--engine", "chunked", "-o", "truths")
    assert (done.returncode, "60 answers" in done.stderr) == (0, True), done.stderr
    assert truths(tmp_path / "truths.parquet") == truths(tmp_path / "truths/truths/*.parquet") != []


def test_a_folder_is_replaced_only_by_force(call: Run, live: Database, tmp_path: Path) -> None:
    export = ("db", "export-reports", "leaf", "out", "--data", "live")
    call(*export, "--parts", "2")
    refused = call(*export)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "out exists; pass --force" in refused.stderr
    assert call(*export, "--force").stdout == "wrote out: 60 reports in 1 part\n"
    assert len([*(tmp_path / "out" / "reports").iterdir()]) == 1


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("nobody", "out", "--data", "live"), 1, "sottovoce.db has no campaign 'nobody'"),
        (("leaf", "no/out", "--data", "live"), 2, "no is not a folder: create it first"),
        (("leaf", "out", "--data", "none"), 2, "there is no database in none"),
        (("leaf", "out", "--database-url", "postgresql://127.0.0.1:1/x"), 2, "does not respond"),
        (("leaf", "out", "--data", "live", "--parts", "0"), 2, "--parts"),
    ],
)
def test_what_cannot_be_exported_is_refused_and_leaves_nothing(
    call: Run, live: Database, tmp_path: Path, arguments: tuple[str, ...], code: int, words: str
) -> None:
    refused = call("db", "export-reports", *arguments)
    assert (refused.returncode, words in refused.stderr) == (code, True), refused.stderr
    assert "Traceback" not in refused.stderr
    assert [found.name for found in tmp_path.iterdir()] == ["live"]


def test_tables_of_another_release_are_not_exported(call: Run, live: Database) -> None:
    with live.writing() as connection:
        connection.execute(text("UPDATE sottovoce_schema SET version_num = '9999'"))
    live.close()
    refused = call("db", "export-reports", "leaf", "out", "--data", "live")
    assert refused.returncode == 2
    assert "was made by a newer release" in refused.stderr


def test_a_full_disk_is_said_and_nothing_is_left(live: Database, tmp_path: Path) -> None:
    command = ("db", "export-reports", "leaf", "out", "--data", "live")
    with live.reading() as connection:  # then what SQLite puts beside its file is there already
        connection.execute(text("SELECT count(*) FROM reports"))
        refused = subprocess.run(
            [sys.executable, "-c", SMALL_DISK.replace("60_000", "100"), *command],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
    assert refused.returncode == 2
    assert refused.stderr == (
        "sottovoce: cannot write part-00000-000000.parquet: is the disk full?\n"
    )
    assert [found.name for found in tmp_path.iterdir()] == ["live"]
