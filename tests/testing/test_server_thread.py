"""A real server in a few lines, for tests of what is built on Sottovoce."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest

from sottovoce.errors import Refused, SottovoceError
from sottovoce.requester.client import Requester
from sottovoce.testing import running_server

LABELS = ("birch", "oak")


def test_a_campaign_from_the_first_question_to_the_truths(tmp_path: Path) -> None:
    with running_server() as server:
        campaign, link = server.campaign(labels=LABELS, tasks=4, epsilon=3.0)
        for worker in range(5):
            with server.client(link, tmp_path / str(worker)) as client:
                receipt = client.send(dict.fromkeys(client.offer.names, "oak"))
            assert (len(receipt.reports), receipt.replayed) == (4, False)
        result = server.truths(campaign)
        assert sorted(result.tasks) == ["t0", "t1", "t2", "t3"]
        assert server.requester.campaign(campaign)["reports"] == 20


def test_tasks_can_be_named_and_answers_limited() -> None:
    with running_server() as server:
        campaign, link = server.campaign(tasks=["left", "right", "middle"], answers=2)
        view = server.requester.campaign(campaign)
    assert (view["tasks"], view["block"], view["state"]) == (3, 2, "open")
    assert link.startswith(f"{server.url}/c/{campaign}#svi_")


def test_it_starts_and_stops_quickly_and_leaves_no_thread_and_no_folder() -> None:
    before = threading.active_count()
    start = time.monotonic()
    with running_server() as server:
        started = time.monotonic() - start
        assert httpx.get(f"{server.url}/readyz").is_success
    stopped = time.monotonic() - start - started
    assert max(started, stopped) < 5  # a fraction of a second where nothing else runs
    assert not server.folder.exists()
    assert threading.active_count() == before
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{server.url}/readyz")


def test_servers_are_strangers_to_each_other() -> None:
    with running_server() as one, running_server() as other:
        one.campaign()
        assert other.requester.campaigns() == []
        with Requester(other.url, one.token) as stranger, pytest.raises(Refused):
            stranger.campaigns()


def test_a_folder_is_the_same_server_again(tmp_path: Path) -> None:
    with running_server(tmp_path) as server:
        campaign, _ = server.campaign()
    with running_server(tmp_path) as server:
        assert server.requester.campaign(campaign)["state"] == "open"


def test_a_folder_is_for_one_server_at_a_time(tmp_path: Path) -> None:
    with running_server(tmp_path):
        with pytest.raises(SottovoceError, match="in use"), running_server(tmp_path):
            pass


def test_it_runs_on_postgresql_too(postgresql: str) -> None:
    from sottovoce.server.database import Database

    database = Database.at(postgresql)
    with database.engine.begin() as connection:
        connection.exec_driver_sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    database.close()
    with running_server(database_url=postgresql) as server:
        campaign, _ = server.campaign()
        assert server.requester.campaign(campaign)["tasks"] == 10


def test_an_error_in_the_block_stops_the_server() -> None:
    with pytest.raises(LookupError), running_server() as server:
        raise LookupError
    assert not server.folder.exists()


def test_neither_token_nor_invite_is_in_a_repr() -> None:
    with running_server() as server:
        assert server.token not in repr(server)


@pytest.mark.slow
def test_the_fixture_works_in_other_projects(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["sottovoce.testing.pytest"]\n')
    (tmp_path / "test_mine.py").write_text(
        "def test_mine(sottovoce_server, tmp_path):\n"
        "    campaign, link = sottovoce_server.campaign(labels=['no', 'yes'], tasks=3)\n"
        "    with sottovoce_server.client(link, tmp_path / 'worker') as client:\n"
        "        client.send({task: 'yes' for task in client.offer.names})\n"
        "    assert sottovoce_server.requester.campaign(campaign)['reports'] == 3\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        check=False,
    )
    assert "1 passed" in done.stdout, done.stdout + done.stderr


def test_without_the_servers_libraries_it_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['fastapi'] = None\n"
        "try:\n    from sottovoce.testing import running_server\n"
        "except Exception as error:\n    print(type(error).__name__, error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("NotInstalled a server for tests needs fastapi")
    assert "[server]" in done.stdout
