"""A disk that is full, for real: refused cleanly, nothing lost, and well again by itself."""

from __future__ import annotations

import http.client
import json
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.service.forked_processes import ForkedServer, Forker
from tests.service.raw_http_workers import (
    REPLAYED,
    STORED,
    UNAVAILABLE,
    Parcel,
    Site,
    exported,
    rows_of,
)

from sottovoce.errors import Reason, Refused
from sottovoce.requester.client import Requester
from sottovoce.testing.server_process import wait_until

PROBLEM = "application/problem+json"
SIZE = 96 << 20
"""More than what a server wants to be free, so that it is ready while the disk is not full."""


@dataclass(frozen=True)
class Disk:
    """A file system of its own, which can be filled to the last byte."""

    folder: Path

    @property
    def ballast(self) -> Path:
        return self.folder / "ballast"

    def _fill(self) -> None:
        with self.ballast.open("ab", buffering=0) as file:
            for size in (1 << 20, 1 << 12, 1):
                with suppress(OSError):
                    while True:
                        file.write(bytes(size))

    @contextmanager
    def full(self) -> Iterator[None]:
        """Nothing can be written while the block runs."""
        try:
            self._fill()
            yield
        finally:
            self.ballast.unlink()


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Disk]:
    folder = tmp_path_factory.mktemp("disk")
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=0700", "tmpfs", str(folder)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("needs the command mount, for a disk of its own")
    if done.returncode:
        pytest.skip(f"needs leave to mount a disk of its own: {done.stderr.strip()}")
    try:
        yield Disk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture(scope="module")
def server(disk: Disk, forker: Forker) -> Iterator[ForkedServer]:
    """A server that keeps everything on that disk, its log as well."""
    with ForkedServer(disk.folder / "server", forker) as running:
        yield running


@pytest.fixture(scope="module")
def requester(server: ForkedServer) -> Iterator[Requester]:
    with server.requester() as made:
        yield made


@pytest.fixture
def site(requester: Requester, server: ForkedServer) -> Site:
    return Site.on(requester, server.port)


def said(site: Site, parcel: Parcel) -> tuple[int, dict[str, str], dict[str, Any]]:
    """Status, headers and content of what the server says to a submission."""
    with closing(http.client.HTTPConnection("127.0.0.1", site.port, timeout=30)) as line:
        line.request("PUT", site.path(parcel), parcel.content, site.headers(parcel))
        reply = line.getresponse()
        headers = {name.lower(): value for name, value in reply.getheaders()}
        return reply.status, headers, json.loads(reply.read())


def refused_at_last(site: Site) -> tuple[list[Parcel], list[Parcel]]:
    """Reports acknowledged until the server refuses (SQLite's log may have room), and refused."""
    acknowledged: list[Parcel] = []
    refused: list[Parcel] = []
    while len(refused) < 20 and len(acknowledged) < 5000:
        parcel = site.parcel()
        (acknowledged if site.put(parcel) == STORED else refused).append(parcel)
    return acknowledged, refused


def test_a_full_disk_is_refused_cleanly_and_nothing_is_lost(
    disk: Disk, server: ForkedServer, requester: Requester, site: Site, tmp_path: Path
) -> None:
    parcels = [site.parcel() for _ in range(20)]
    assert {site.put(parcel) for parcel in parcels} == {STORED}
    with disk.full():
        acknowledged, refused = refused_at_last(site)
        parcels += acknowledged
        status, headers, content = said(site, refused[0])
        assert (status, content["reason"]) == (UNAVAILABLE, "unavailable")
        assert (headers["content-type"], headers["retry-after"]) == (PROBLEM, "10")
        assert site.erase(parcels[0]) == UNAVAILABLE
        assert httpx.get(f"{server.url}/healthz").status_code == 200
        wait_until(lambda: not httpx.get(f"{server.url}/readyz").is_success, "its own notice")
        readiness = httpx.get(f"{server.url}/readyz")
        assert readiness.json()["detail"].startswith("disk: ")
        assert sorted(exported(requester, site.campaign, tmp_path)) == rows_of(parcels)
    wait_until(lambda: httpx.get(f"{server.url}/readyz").is_success, "readiness")
    assert {site.put(parcel) for parcel in refused} == {STORED}
    assert {site.put(parcel) for parcel in parcels} == {REPLAYED}
    assert sorted(exported(requester, site.campaign, tmp_path)) == rows_of(parcels + refused)
    assert requester.campaign(site.campaign)["submissions"] == len(parcels + refused)


def test_what_was_stored_around_a_full_disk_is_sound(
    disk: Disk, server: ForkedServer, site: Site, forker: Forker, tmp_path: Path
) -> None:
    with disk.full():
        acknowledged, _ = refused_at_last(site)
        server.kill()
    server.start()
    assert {site.put(parcel) for parcel in acknowledged} <= {REPLAYED}
    code, words = forker.run("db", "check", "--data", str(server.data), folder=tmp_path)
    assert code == 0, words


def test_an_export_without_room_is_refused_and_leaves_nothing(
    disk: Disk, server: ForkedServer, requester: Requester, site: Site, tmp_path: Path
) -> None:
    assert site.put(site.parcel()) == STORED
    with disk.full(), Requester(server.url, server.token, retries=0) as impatient:
        with pytest.raises(Refused) as caught:
            impatient.export(site.campaign, "reports.parquet", tmp_path / "reports.parquet")
        assert caught.value.reason is Reason.UNAVAILABLE
        assert list((server.data / "temp").iterdir()) == list(tmp_path.iterdir()) == []
    assert requester.export(site.campaign, "reports.parquet", tmp_path / "reports.parquet") == 3


def test_a_backup_without_room_says_so_and_leaves_nothing(
    disk: Disk, server: ForkedServer, site: Site, forker: Forker, tmp_path: Path
) -> None:
    backup = disk.folder / "full.backup"
    with disk.full():
        before = sorted(disk.folder.iterdir())
        code, words = forker.run("backup", str(backup), "--data", str(server.data), folder=tmp_path)
        assert (code, "disk" in words, words.count("\n")) == (2, True, 1), words
        assert sorted(disk.folder.iterdir()) == before


def test_the_log_goes_on_in_whole_lines_once_there_is_room(
    disk: Disk, server: ForkedServer, requester: Requester, site: Site
) -> None:
    with disk.full():
        refused_at_last(site)
    requester.campaigns()  # may still be joined to what was torn
    requester.campaigns()
    last = server.log.read_bytes().splitlines()[-1]
    assert json.loads(last)["event"] == "request"


def test_a_server_that_finds_the_disk_full_says_so(
    disk: Disk, forker: Forker, tmp_path: Path
) -> None:
    other = disk.folder / "other"
    with ForkedServer(other, forker):
        pass
    with disk.full():
        code, words = forker.run(
            "serve", "--port", "0", "--data", str(other / "data"), folder=tmp_path
        )
        assert code == 2
        assert "disk" in words.splitlines()[-1]
        assert "Traceback" not in words
