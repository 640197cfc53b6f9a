"""Several servers on one PostgreSQL: any of them may be killed, and one of them infers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tests.service.forked_processes import ForkedServer, Forker
from tests.service.raw_http_workers import REPLAYED, UNAVAILABLE, Crowd, Site
from tests.service.test_survival import check

from sottovoce.requester.client import Requester
from sottovoce.testing import ServerProcess
from sottovoce.testing.server_process import wait_until

SERVERS = 4


@contextmanager
def several(folder: Path, forker: Forker, url: str, count: int) -> Iterator[list[ForkedServer]]:
    """Several servers, each as if on its own machine; the first has the requester's token."""
    servers = [
        ForkedServer(folder / str(place), forker, database_url=url) for place in range(count)
    ]
    with ExitStack() as running:
        for server in servers:
            running.enter_context(server)
            assert servers[0].token  # each start without one replaces the link to make it
        yield servers


def test_one_of_four_servers_is_killed_and_nothing_acknowledged_is_lost_or_doubled(
    forker: Forker, tmp_path: Path, empty_postgresql: str
) -> None:
    with several(tmp_path, forker, empty_postgresql, SERVERS) as servers:
        with servers[0].requester() as requester:
            site = Site.on(requester, servers[0].port)
        sites = [replace(site, port=server.port) for server in servers]
        with Crowd(*sites, senders=8) as crowd:
            wait_until(lambda: len(crowd.acknowledged) > 200, "reports")
            servers[1].kill()
            before = len(crowd.acknowledged)
            wait_until(lambda: len(crowd.acknowledged) > before + 200, "reports of the others")
        check(servers[0], site, crowd, empty_postgresql, tmp_path)
        assert {sites[2].put(parcel) for parcel in crowd.acknowledged[::10]} == {REPLAYED}
    assert crowd.refusals <= {UNAVAILABLE}
    code, said = forker.run("db", "check", "--database-url", empty_postgresql, folder=tmp_path)
    assert (code, "is consistent" in said) == (0, True), said


@pytest.mark.slow
def test_a_process_of_a_server_with_four_is_killed_and_nothing_acknowledged_is_lost_or_doubled(
    tmp_path: Path, empty_postgresql: str
) -> None:
    options = ("--processes", str(SERVERS))
    with ServerProcess(tmp_path, database_url=empty_postgresql, options=options) as server:
        with server.requester() as requester:
            site = Site.on(requester, server.port)
        started = '"started"'
        wait_until(lambda: server.log.read_text().count(started) == SERVERS, "all processes")
        with Crowd(site, senders=16) as crowd:
            for _ in range(3):
                before = len(crowd.acknowledged)
                wait_until(lambda: len(crowd.acknowledged) > before + 200, "reports")  # noqa: B023
                os.kill(_serving(server.pid)[1], 9)
        check(server, site, crowd, empty_postgresql, tmp_path)
    assert crowd.refusals <= {UNAVAILABLE}


def test_one_server_infers_and_when_it_is_killed_another_does(
    forker: Forker, tmp_path: Path, empty_postgresql: str
) -> None:
    with several(tmp_path, forker, empty_postgresql, 3) as servers, ExitStack() as asking:
        requester = asking.enter_context(servers[0].requester())
        site = Site.on(requester, servers[0].port)
        assert {site.put(site.parcel()) for _ in range(20)} == {201}
        wait_until(lambda: inferred(requester, site) == 20, "truths")
        [first] = [server for server in servers if _children(server.pid)]
        others = [server for server in servers if server is not first]
        first.kill()
        requester = asking.enter_context(Requester(others[0].url, servers[0].token))
        left = replace(site, port=others[0].port)
        assert {left.put(left.parcel()) for _ in range(20)} == {201}
        wait_until(lambda: inferred(requester, site) == 40, "truths of another server")
        assert len([server for server in others if _children(server.pid)]) == 1


def inferred(requester: Requester, site: Site) -> int:
    """How many workers' reports the truths come from."""
    summary = requester.results_page(site.campaign)["summary"]
    return 0 if summary is None else summary["workers"]


def _children(process: int) -> list[int]:
    """The processes it has started: a server starts one to infer, once it has something to."""
    lists = Path(f"/proc/{process}/task").glob("*/children")
    return [int(child) for found in lists for child in found.read_text().split()]


def _serving(process: int) -> list[int]:
    """Those of its children that serve."""
    return [
        child
        for child in _children(process)
        if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]
