"""`sottovoce backup` and `restore`, as an operator meets them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from tests.cli.conftest import Run
from tests.server.database.filled_database import Sent, fill

from sottovoce.files.locks import folder_lock
from sottovoce.server.database import Database, upgrade
from sottovoce.testing import running_server


@pytest.fixture
def filled(tmp_path: Path) -> tuple[str, Sent]:
    """A service's folder `live`; its invite, and something that was sent."""
    database = Database.at(tmp_path / "live")
    upgrade(database)
    invite, sent = fill(database)
    database.close()
    return invite, sent[0]


def test_a_backup_is_made_verified_and_restored(call: Run, filled: tuple[str, Sent]) -> None:
    made = call("backup", "b.backup", "--data", "live")
    assert made.returncode == 0
    assert made.stdout.startswith("backed up to b.backup: release ")
    verified = call("restore", "b.backup", "--verify")
    assert "b.backup is complete" in verified.stdout
    restored = call("restore", "b.backup", "--data", "again", "--json")
    rows = json.loads(restored.stdout)["rows"]
    assert (rows["campaigns"], rows["tasks"], rows["reports"]) == (1, 20, 3)


@pytest.mark.parametrize("command", [["backup", "x.bak"], ["db", "check"]], ids=" ".join)
def test_a_folder_without_a_database_is_refused_and_nothing_is_created(
    call: Run, tmp_path: Path, command: list[str]
) -> None:
    before = sorted(tmp_path.iterdir())
    done = call(*command)
    assert done.returncode == 2
    assert done.stderr == (
        "sottovoce: there is no database in sottovoce-data: run this where the server runs, or "
        "pass --data FOLDER\n"
    )
    assert sorted(tmp_path.iterdir()) == before


def test_a_worker_who_sends_again_after_a_restore_is_told_it_is_stored(
    call: Run, filled: tuple[str, Sent], tmp_path: Path
) -> None:
    invite, sent = filled
    call("backup", "b.backup", "--data", "live")
    shutil.rmtree(tmp_path / "live")
    assert call("restore", "b.backup", "--data", "live").returncode == 0
    with running_server(tmp_path / "live") as server:
        address = f"{server.url}/api/v1/campaigns/leaf/reports/{sent.report_id}"
        headers = {"Authorization": f"Bearer {invite}", "Sottovoce-Receipt": sent.receipt}
        answer = httpx.put(address, content=sent.content, headers=headers)
    assert (answer.status_code, answer.json()["replayed"]) == (200, True)


def test_a_service_moves_to_postgresql(
    call: Run, filled: tuple[str, Sent], postgresql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Database.at(postgresql)
    with server.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("DROP DATABASE IF EXISTS moved WITH (FORCE)")
        connection.exec_driver_sql("CREATE DATABASE moved")
    url = server.url.set(database="moved").render_as_string(hide_password=False)
    server.close()
    call("backup", "b.backup", "--data", "live")
    monkeypatch.setenv("SOTTOVOCE_DATABASE_URL", url)
    restored = call("restore", "b.backup")
    assert "restored into the database 'moved'" in restored.stdout
    assert call("db", "check").stdout == "the database 'moved' is consistent\n"
    assert call("backup", "c.backup").returncode == 0
    assert "is not empty" in call("restore", "c.backup").stderr


def test_a_backup_is_not_overwritten(call: Run, filled: tuple[str, Sent]) -> None:
    call("backup", "b.backup", "--data", "live")
    again = call("backup", "b.backup", "--data", "live")
    assert (again.returncode, again.stderr.count("\n")) == (2, 1)
    assert "b.backup exists; pass --force" in again.stderr
    assert call("backup", "b.backup", "--data", "live", "--force").returncode == 0


def test_a_running_server_is_not_restored_under(
    call: Run, filled: tuple[str, Sent], tmp_path: Path
) -> None:
    call("backup", "b.backup", "--data", "live")
    with folder_lock(tmp_path / "other"):
        refused = call("restore", "b.backup", "--data", "other")
    assert refused.returncode == 2
    assert "other is in use by a running server" in refused.stderr


def test_a_damaged_backup_is_one_line_and_restores_nothing(
    call: Run, filled: tuple[str, Sent], tmp_path: Path
) -> None:
    call("backup", "b.backup", "--data", "live")
    file = tmp_path / "b.backup"
    file.write_bytes(file.read_bytes()[:-4096])
    for arguments in (["--verify"], ["--data", "other"]):
        refused = call("restore", "b.backup", *arguments)
        assert (refused.returncode, refused.stdout) == (1, "")
        assert refused.stderr.startswith("sottovoce: b.backup: ")
        assert refused.stderr.count("\n") == 1
    assert not (tmp_path / "other" / "sottovoce.db").exists()


SMALL_DISK = """
import resource, signal
from sottovoce.cli import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
main()
"""


@pytest.mark.parametrize("command", [("backup", "new.backup"), ("restore", "b.backup")])
def test_a_full_disk_is_said_and_nothing_is_left(
    command: tuple[str, str], call: Run, filled: tuple[str, Sent], tmp_path: Path
) -> None:
    call("backup", "b.backup", "--data", "live")
    folder = "live" if command[0] == "backup" else "new"
    refused = subprocess.run(
        [sys.executable, "-c", SMALL_DISK, *command, "--data", folder],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert refused.returncode == 2
    assert refused.stderr in (
        "sottovoce: the backup cannot be written; is the disk full?\n",
        "sottovoce: new/sottovoce.db cannot be used: disk I/O error; is the disk full?\n",
    )
    assert not list(tmp_path.glob("*new.backup*"))
    left = "there is no database" if command[0] == "backup" else "nothing to back up"
    assert left in call("backup", "c.backup", "--data", "new").stderr


def test_a_password_is_in_no_output(call: Run) -> None:
    refused = call("backup", "b", "--database-url", "postgresql://ann:swordfish@127.0.0.1:1/x")
    assert refused.returncode == 2
    assert "PostgreSQL does not respond" in refused.stderr
    assert "swordfish" not in refused.stderr + refused.stdout
