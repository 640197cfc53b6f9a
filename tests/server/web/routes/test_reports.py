"""Submissions over HTTP: what is acknowledged, what is refused, and in which words."""

from __future__ import annotations

import gzip
import json
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import event, func, select
from tests.server.web.requests import Served, refused, served

from sottovoce.model import Submission, pseudonym
from sottovoce.server.database import Database, upgrade
from sottovoce.server.database.schema import reports

CANARY = "CANARY"


class Worker:
    """An invited worker, and the path to its campaign."""

    def __init__(self, server: Served, id: str, link: str, receipt: str | None = None) -> None:
        self.receipt = receipt or "svr_" + secrets.token_urlsafe(32)
        self.name = pseudonym(id, self.receipt)
        self.path = f"/campaigns/{id}/reports"
        self.headers = {
            "Authorization": f"Bearer {link.partition('#')[2]}",
            "Sottovoce-Receipt": self.receipt,
        }
        policy = server.client.get(f"/campaigns/{id}").json()["policy_hash"]
        self.content = Submission(policy, self.name, ("t1", "t2"), ("oak", "lime")).text()


class Stand:
    """A server with an open campaign."""

    def __init__(self, server: Served) -> None:
        self.server, self.http = server, server.anonymous()
        self.id = server.draft()
        server.client.post(f"/campaigns/{self.id}/open").raise_for_status()
        made = server.client.post(f"/campaigns/{self.id}/invites", json={"kind": "open"})
        (self.link,) = made.json()["links"]

    def worker(self) -> Worker:
        return Worker(self.server, self.id, self.link)

    def put(
        self, worker: Worker, id: str | None = None, content: Any = None, **headers: str
    ) -> httpx.Response:
        return self.http.put(
            f"{worker.path}/{id or secrets.token_hex(16)}",
            content=worker.content if content is None else content,
            headers={**worker.headers, **headers},
        )

    def stored(self) -> int:
        with self.server.service.database.reading() as connection:
            return int(connection.execute(select(func.count()).select_from(reports)).scalar_one())


@pytest.fixture(scope="module")
def stand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stand]:
    database = Database.at(tmp_path_factory.mktemp("server"))
    upgrade(database)
    with served(database) as server:
        made = Stand(server)
        yield made
        made.http.close()
    database.close()


def test_a_submission_is_acknowledged_and_again_replayed(stand: Stand) -> None:
    worker, id = stand.worker(), secrets.token_hex(16)
    first, again = stand.put(worker, id), stand.put(worker, id)
    assert (first.status_code, first.json()) == (201, {"report_id": id, "replayed": False})
    assert (again.status_code, again.json()) == (200, {"report_id": id, "replayed": True})
    assert first.headers["content-type"] == "application/json"


def test_a_replay_is_acknowledged_after_closing(stand: Stand) -> None:
    other = Stand(stand.server)
    worker, id = other.worker(), secrets.token_hex(16)
    assert other.put(worker, id).status_code == 201
    stand.server.client.post(f"/campaigns/{other.id}/close").raise_for_status()
    assert other.put(worker, id).status_code == 200
    refused(other.put(other.worker()), 409, "not_open")
    other.http.close()


def test_other_bytes_conflict(stand: Stand) -> None:
    worker, id = stand.worker(), secrets.token_hex(16)
    stand.put(worker, id)
    refused(stand.put(worker, id, worker.content + " "), 409, "conflict")
    refused(stand.put(worker, content=worker.content), 409, "already_reported")


@pytest.mark.parametrize(
    ("change", "status", "reason"),
    [
        ({"format": CANARY}, 422, "malformed"),
        ({CANARY: CANARY}, 422, "malformed"),
        ({"policy": CANARY}, 409, "foreign_policy"),
        ({"simulated": True}, 422, "simulated"),
        ({"worker": CANARY}, 403, "bad_credential"),
        ({"tasks": [CANARY, "t1"]}, 422, "not_admitted"),
        ({"reports": ["oak", CANARY]}, 422, "not_admitted"),
        ({"reports": ["oak"]}, 422, "malformed"),
        ({"tasks": ["t2", "t1"]}, 422, "malformed"),
    ],
)
def test_what_is_wrong_is_refused_and_not_quoted(
    stand: Stand, change: dict[str, Any], status: int, reason: str
) -> None:
    worker, before = stand.worker(), stand.stored()
    reply = stand.put(worker, content=json.dumps({**json.loads(worker.content), **change}))
    refused(reply, status, reason)
    assert CANARY not in reply.text
    assert stand.stored() == before


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe", b"[" * 900, b"null", b'{"a":NaN}', b"1e999"], ids=len
)
def test_what_is_no_submission_is_malformed(stand: Stand, content: bytes) -> None:
    worker = stand.worker()
    refused(stand.put(worker, content=content), 422, "malformed")


def test_no_credentials_and_others_are_refused(stand: Stand) -> None:
    worker = stand.worker()
    path = f"{worker.path}/{secrets.token_hex(16)}"
    invite, receipt = worker.headers["Authorization"], worker.headers["Sottovoce-Receipt"]
    shown = [
        ({}, 401, "no_credential"),
        ({"Sottovoce-Receipt": receipt}, 401, "no_credential"),
        ({"Authorization": invite}, 401, "no_credential"),
        ({"Authorization": CANARY, "Sottovoce-Receipt": receipt}, 403, "bad_credential"),
        ({"Authorization": f"Bearer {CANARY}", "Sottovoce-Receipt": receipt}, 403,
         "bad_credential"),
        ({"Authorization": invite, "Sottovoce-Receipt": "svr_é"}, 403, "bad_credential"),
        ({"Authorization": f"Bearer {receipt}", "Sottovoce-Receipt": receipt}, 403,
         "bad_credential"),
        ({"Authorization": "Bearer svi_" + "A" * 43, "Sottovoce-Receipt": receipt}, 403,
         "bad_credential"),
    ]  # fmt: skip
    for headers, status, reason in shown:
        encoded = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
        reply = stand.http.put(path, content=worker.content, headers=encoded)
        refused(reply, status, reason)
        assert CANARY not in reply.text
    missing = stand.http.put(path, content=worker.content)
    assert missing.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("path", "status", "reason"),
    [
        ("/campaigns/nothere/reports/" + "0" * 32, 404, "not_found"),
        ("/campaigns/{id}/reports/" + "0" * 31, 422, "malformed"),
        ("/campaigns/{id}/reports/" + "G" * 32, 422, "malformed"),
        ("/campaigns/{id}/reports/" + "0" * 32 + "%0a", 422, "malformed"),
        ("/campaigns/{id}%00/reports/" + "0" * 32, 422, "malformed"),
        ("/campaigns/LEAF/reports/" + "0" * 32, 422, "malformed"),
        ("/campaigns/..%2f..%2fetc/reports/" + "0" * 32, 404, "not_found"),
    ],
)
def test_tricks_with_the_path_go_nowhere(stand: Stand, path: str, status: int, reason: str) -> None:
    worker = stand.worker()
    reply = stand.http.put(path.format(id=stand.id), content=worker.content, headers=worker.headers)
    refused(reply, status, reason)


def test_a_compressed_body_is_not_opened(stand: Stand) -> None:
    worker = stand.worker()
    bomb = gzip.compress(b" " * 10_000_000)
    refused(stand.put(worker, content=bomb, **{"Content-Encoding": "gzip"}), 415, "unsupported")


def test_a_body_that_says_it_is_too_long_is_not_read(stand: Stand) -> None:
    worker = stand.worker()
    for length in ("100000", "9" * 19):
        headers = {**worker.headers, "Content-Length": length}
        said = stand.server.head_only("PUT", f"{worker.path}/{secrets.token_hex(16)}", headers)
        assert said == (413, "oversize")


def test_a_body_that_does_not_say_how_long_it_is_is_read_so_far(stand: Stand) -> None:
    worker = stand.worker()

    def pieces() -> Iterator[bytes]:
        for _ in range(100):
            yield b" " * 1000

    refused(stand.put(worker, content=pieces()), 413, "oversize")
    content = iter([worker.content[:20].encode(), worker.content[20:].encode()])
    assert stand.put(worker, content=content).status_code == 201


def test_a_worker_who_hangs_up_is_no_error(stand: Stand, caplog: pytest.LogCaptureFixture) -> None:
    worker, before = stand.worker(), stand.stored()
    url = stand.http.base_url
    head = f"PUT {url.path}{worker.path[1:]}/{'0' * 32} HTTP/1.1\r\nHost: x\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in worker.headers.items())
    with socket.create_connection((url.host, url.port)) as raw:
        raw.sendall(f"{head}Content-Length: {len(worker.content)}\r\n\r\n{{".encode())
        time.sleep(0.1)
    time.sleep(0.2)
    assert stand.stored() == before
    assert "unexpected" not in caplog.text
    assert stand.put(worker).status_code == 201


def test_many_at_once_are_each_stored_once(stand: Stand) -> None:
    before = stand.stored()
    sent = [(stand.worker(), secrets.token_hex(16)) for _ in range(20)] * 3

    def put(pair: tuple[Worker, str]) -> int:
        return stand.put(*pair).status_code

    with ThreadPoolExecutor(12) as threads:
        statuses = list(threads.map(put, sent))
    assert (statuses.count(201), statuses.count(200)) == (20, 40)
    assert stand.stored() == before + 20


def test_a_full_disk_is_said_and_passes(tmp_path: Path) -> None:
    database = Database.at(tmp_path)
    upgrade(database)
    room = {"pages": 1 << 20}

    def limit(connection: Any, _: object, __: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {room['pages']}")

    event.listen(database.engine, "checkout", limit)
    with served(database) as server:
        stand = Stand(server)
        room["pages"] = 1
        sent = [(stand.worker(), secrets.token_hex(16)) for _ in range(80)]
        replies = [stand.put(*pair) for pair in sent]
        full = [reply for reply in replies if reply.status_code != 201]
        assert full
        for reply in full:
            refused(reply, 503, "unavailable")
            assert reply.headers["Retry-After"] == "10"
        assert stand.stored() == len(replies) - len(full)
        room["pages"] = 1 << 20
        assert {stand.put(*pair).status_code for pair in sent} == {200, 201}
        assert stand.stored() == 80
        stand.http.close()
    database.close()


def test_a_database_that_cannot_be_read_is_said_in_the_same_shape(tmp_path: Path) -> None:
    database = Database.at(tmp_path)
    upgrade(database)
    with served(database) as server:
        stand = Stand(server)
        worker = stand.worker()
        server.service.reception.forget(stand.id)
        with database.writing() as connection:
            connection.exec_driver_sql("ALTER TABLE campaigns RENAME TO elsewhere")
        reply = stand.put(worker)
        refused(reply, 503, "unavailable")
        assert "elsewhere" not in reply.text
        with database.writing() as connection:
            connection.exec_driver_sql("ALTER TABLE elsewhere RENAME TO campaigns")
        assert stand.put(worker).status_code == 201
        stand.http.close()
    database.close()


def test_the_interface_is_described(stand: Stand) -> None:
    described = stand.http.get("/openapi.json").json()
    path = described["paths"]["/api/v1/campaigns/{campaign_id}/reports/{report_id}"]["put"]
    names = [parameter["name"] for parameter in path["parameters"]]
    assert names == ["campaign_id", "report_id"]
    assert {"200", "201", "4XX", "5XX"} <= set(path["responses"])
    (schema,) = path["requestBody"]["content"].values()
    named = [each["$ref"].rpartition("/")[2] for each in schema["schema"]["anyOf"]]
    assert named == ["Submission", "Contribution"]
    assert set(named) <= described["components"]["schemas"].keys()


def test_nothing_waits_when_the_server_stops(tmp_path: Path) -> None:
    database = Database.at(tmp_path)
    upgrade(database)
    with served(database) as server:
        stand = Stand(server)
        workers = [stand.worker() for _ in range(30)]
        replies: list[int] = []

        def send() -> None:
            for worker in workers:
                replies.append(stand.put(worker).status_code)

        sending = threading.Thread(target=send)
        sending.start()
        while len(replies) < 5:
            time.sleep(0.005)
        server.service.writer.close()
        sending.join(20)
        assert not sending.is_alive()
        assert set(replies) == {201, 503}
        assert stand.stored() == replies.count(201)
        stand.http.close()
    database.close()
