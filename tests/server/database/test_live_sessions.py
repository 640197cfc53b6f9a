"""Live sessions at rest: what a backup brings back, and what a check tells."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from shutil import copytree

import pytest
from sqlalchemy import text
from tests.live.server.crowds import Direct, Worker, gathered, go_on
from tests.server.drafts import running

from sottovoce.server.database import Database, upgrade
from sottovoce.server.database.backup import back_up, restore
from sottovoce.server.database.integrity import check
from sottovoce.server.service import Service

TODAY = date(2031, 5, 7)


def _in_a_round(service: Service) -> tuple[str, list[Worker[Direct]]]:
    """A session in its second round, with a reply in it."""
    id, workers = gathered(service)
    while not any(b'"round":1' in worker.turns[-1] for worker in workers if worker.turns):
        for worker in workers:
            worker.step()
            if b'"round":1' in worker.turns[-1]:
                break
    return id, workers


@pytest.mark.parametrize(
    "database", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)], indirect=True
)
def test_a_session_goes_on_where_a_backup_was_made(database: Database, tmp_path: Path) -> None:
    with running(database) as service:
        _, workers = _in_a_round(service)
        asked = [worker.line.turn() for worker in workers]
    back_up(database, tmp_path / "all.backup", today=TODAY)
    target = Database.at(tmp_path / "restored")
    restore(tmp_path / "all.backup", target)
    assert check(target) == []
    with running(target) as other:
        for worker in workers:
            worker.line.service = other
        assert [worker.line.turn() for worker in workers] == asked
        go_on(workers)
        assert [worker.ended for worker in workers] == ["done"] * 4
    target.close()


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a database in which nothing is wrong."""
    folder = tmp_path_factory.mktemp("sound")
    database = Database.at(folder)
    upgrade(database)
    with running(database) as service:
        _in_a_round(service)
    assert check(database) == []
    database.close()
    return folder


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ("UPDATE live_sessions SET terms = NULL", "it is running and has no terms"),
        ("UPDATE live_sessions SET state = 'done'", "its stored end says otherwise"),
        ("UPDATE live_sessions SET sequence = 999", "its events do not match its count"),
        ("UPDATE live_sessions SET offer = 'x'", "it cannot be read"),
        ("UPDATE live_members SET number = 9 WHERE number = 2", "not numbered from 1"),
        ("UPDATE live_members SET digest = x'00' WHERE number = 2", "rows with an invalid digest"),
        ("UPDATE live_rounds SET round = 7", "its rounds are not numbered from 0"),
        ("UPDATE live_rounds SET totals = x'00'", "round 0 are not whole numbers"),
        ("UPDATE live_rounds SET contributors = '[]'", "opened without members"),
        ("DELETE FROM live_members WHERE number = 4", "its terms do not match the workers"),
    ],
)
def test_check_tells_what_is_wrong(sound: Path, tmp_path: Path, change: str, fault: str) -> None:
    copytree(sound, tmp_path / "copy")
    database = Database.at(tmp_path / "copy")
    with database.writing() as connection:
        connection.execute(text(change))
    found = check(database)
    database.close()
    assert any(fault in each for each in found)
