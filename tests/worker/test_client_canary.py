"""An answer with a mark in it is looked for on the disk, on the wire and at the server."""

from __future__ import annotations

import io
import logging
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.worker.hosted_campaign import DROP_REQUEST, Host, hosting, line_to

from sottovoce.errors import SottovoceError, Unreachable
from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.model import Domain
from sottovoce.worker.client import Client

CANARY = "7351.25"
# Between two points of the grid: no report can be it by chance.
GRID = make_policy(Domain.numeric(0, 10_000, 1), "laplace", Target(1.0, answers=5))


@pytest.fixture(scope="module")
def server_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("server")


@pytest.fixture(scope="module")
def host(server_folder: Path) -> Iterator[Host]:
    with hosting(server_folder) as server:
        yield server


def test_no_answer_is_on_the_disk_or_on_the_wire(
    host: Host, server_folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    link = host.link(GRID)
    with line_to(host.url, DROP_REQUEST, DROP_REQUEST) as line, caplog.at_level(logging.DEBUG):
        with Client(line.through(link), folder=tmp_path, retries=1) as client:
            client.preview({"t1": float(CANARY)})
            with pytest.raises(Unreachable) as caught:
                client.send({"t1": float(CANARY)})
            waiting = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
            client.resume()
    kept = b"".join(
        file.read_bytes()
        for folder in (tmp_path, server_folder)
        for file in folder.rglob("*")
        if file.is_file()
    )
    wire = b"".join(head.encode() + body for _, head, body in line.sent)
    said = "".join(traceback.format_exception(caught.value)) + caplog.text
    for place in (waiting, kept, wire, said.encode()):
        assert CANARY.encode() not in place


def test_no_secret_is_in_an_address_or_a_log(
    host: Host, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    link = host.link(GRID)
    with line_to(host.url) as line, caplog.at_level(logging.DEBUG):
        with Client(line.through(link), folder=tmp_path) as client:
            receipt = client.send({"t1": 5.0})
            client.reports()
            client.erase(receipt.report_id)
    lines = "".join(head.partition("\n")[0] for _, head, _ in line.sent)
    for secret in (link.split("#")[1], client.receipt):
        assert secret not in caplog.text + lines


@pytest.mark.parametrize("given", [{"t1": CANARY + "x"}, {"t1": -7351.25}, {"t9": 7351.25}])
def test_no_refusal_quotes_an_answer(
    host: Host, tmp_path: Path, given: dict[str, str | float]
) -> None:
    stream = io.StringIO()
    logger = logging.Logger("device")
    logger.addHandler(logging.StreamHandler(stream))
    with Client(host.link(GRID), folder=tmp_path) as client:
        for call in (client.preview, client.send):
            with pytest.raises(SottovoceError) as caught:
                call(given)
            logger.error("could not respond", exc_info=caught.value)
    assert "7351" not in stream.getvalue()
