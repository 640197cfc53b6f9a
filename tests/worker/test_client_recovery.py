"""A client killed at any point continues where it was: nothing is lost, doubled or redrawn."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.worker.dying_client import STEPS
from tests.worker.hosted_campaign import Host, hosting, line_to

from sottovoce.worker.client import Client

PROGRAM = Path(__file__).with_name("dying_client.py")
NOT_KEPT = ("before anything is kept", "half-written")


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    with hosting(tmp_path_factory.mktemp("server")) as server:
        yield server


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
@pytest.mark.parametrize("step", STEPS)
def test_a_killed_client_goes_on_where_it_was(host: Host, tmp_path: Path, step: str) -> None:
    link, home = host.link(), tmp_path / "worker"
    with line_to(host.url) as line:
        over = line.through(link)
        request = {
            "step": step, "link": over, "home": str(home), "answers": {"t1": "no", "t2": "yes"},
        }  # fmt: skip
        ended = subprocess.run(
            [sys.executable, str(PROGRAM)], input=json.dumps(request), text=True,
            capture_output=True, timeout=60, env=_environment(),
        )  # fmt: skip
        assert ended.returncode == -signal.SIGKILL, ended.stderr
        kept = {file.name: file.read_bytes() for file in home.rglob("outbox/*.json")}
        with Client(over, folder=home) as client:
            assert client.pending == ()
            booked = len(client.ledger)
            if step in NOT_KEPT:
                assert client.sent == ()
                client.send({"t1": "no", "t2": "yes"})
            receipts = client.sent
            assert len(client.reports()) == 1
            assert client.resume() == []
    assert booked == (0 if step in NOT_KEPT else 1)
    assert len(receipts) == 1
    assert len({submission.text() for submission in line.submissions()}) == 1
    (stored,) = host.digests(link)
    sent = {hashlib.sha256(body).digest() for method, _, body in line.sent if method == "PUT"}
    assert sent == {stored}
    if step not in (*NOT_KEPT, "acknowledged"):
        (content,) = kept.values()
        assert hashlib.sha256(json.loads(content)["content"].encode()).digest() == stored
    assert not list(home.rglob("*.unfinished"))


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
