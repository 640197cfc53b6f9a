"""A server that can be killed."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import httpx
import pytest

from sottovoce.errors import SottovoceError, UsageError
from sottovoce.mechanisms.policies import Target
from sottovoce.model import Domain
from sottovoce.testing import ServerProcess
from sottovoce.worker.client import Client


@pytest.mark.slow
def test_a_killed_server_is_the_same_after_a_restart(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "server") as server, server.requester() as requester:
        made = requester.create(
            "Which?",
            ["a", "b"],
            domain=Domain.categorical(["no", "yes"]),
            target=Target(1.0, answers=2),
        )
        requester.open(made["id"])
        [link] = requester.invite(made["id"])
        with Client(link, folder=tmp_path / "worker") as client:
            client.send(dict.fromkeys(client.offer.names, "no"))
        address, pid = server.url, server.pid
        server.kill()
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{address}/healthz")
        server.restart()
        assert (server.url, server.pid != pid) == (address, True)
        assert requester.campaign(made["id"])["reports"] == 2
        assert server.stop() == 0
        with pytest.raises(UsageError, match="does not run"):
            _ = server.pid
    assert '"event": "started"' in server.log.read_text()
    assert "svk_" not in server.log.read_text()


@pytest.mark.slow
def test_what_a_server_says_when_it_cannot_start_is_said(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        server = ServerProcess(tmp_path, port=taken.getsockname()[1])
        with pytest.raises(SottovoceError, match=r"did not start: .*cannot be used"):
            server.start()


def test_a_server_does_not_run_before_it_is_started(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path)
    assert server.stop() is None
    with pytest.raises(UsageError, match="does not run"):
        os.kill(server.pid, 0)
