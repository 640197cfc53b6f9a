"""Live sessions over HTTP: requester, workers and the dealer, each with its own credential."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.live.server.crowds import ANSWERS, ASKED, Clock, OverHttp, Worker, begin, go_on
from tests.server.web.requests import PUBLIC, Served, refused, served

from sottovoce.live.server.active_sessions import ActiveSessions, sessions_of
from sottovoce.live.server.supervision import phase_supervision
from sottovoce.securesum.envelope import public_text
from sottovoce.server.database import Database, upgrade
from sottovoce.server.database.live_sessions import the_session
from sottovoce.server.service import FeatureParts


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    made = Database.at(tmp_path)
    upgrade(made)
    yield made
    made.close()


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server on which nothing happens."""
    database = Database.at(tmp_path_factory.mktemp("calm"))
    upgrade(database)
    with served(database) as made:
        yield made
    database.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def server(database: Database, clock: Clock) -> Iterator[Served]:
    """A server for whose live sessions it is as late as the clock says."""
    with served(database) as made:
        made.service.parts.close()
        object.__setattr__(made.service, "parts", FeatureParts(ActiveSessions(clock)))
        yield made


class Session:
    """A session that gathers, and its workers, none of whom has joined."""

    def __init__(self, server: Served, **others: Any) -> None:
        self.server, self.client = server, server.client
        reply = self.client.post("/live", json={**ASKED, **others})
        assert reply.status_code == 201, reply.text
        made = reply.json()
        self.id, self.links = made["id"], made["links"]
        assert made["dealer_link"] is None
        self.workers = [
            Worker(self.line(link), answers)
            for link, answers in zip(self.links, ANSWERS, strict=True)
        ]

    def line(self, link: str) -> OverHttp:
        assert link.startswith(f"{PUBLIC}/l/{self.id}#svl_")
        return OverHttp(self.server.client, self.id, link.partition("#")[2])

    def get(self, below: str = "", **options: Any) -> Any:
        return self.client.get(f"/live/{self.id}{below}", **options)

    def post(self, below: str) -> Any:
        return self.client.post(f"/live/{self.id}/{below}")


def test_a_session_over_http(server: Served) -> None:
    session = Session(server)
    shown = session.get().json()
    assert (shown["state"], shown["workers"], shown["joined"]) == ("gathering", 4, 0)
    begin(session.workers)
    shown = session.get().json()
    assert (shown["state"], shown["joined"], shown["phase"]) == ("running", 4, "share")
    assert shown["waiting"] == shown["alive"] == [1, 2, 3, 4]
    assert shown["terms"]["name"] == session.id
    go_on(session.workers)
    assert [worker.ended for worker in session.workers] == ["done"] * 4
    shown = session.get().json()
    assert (shown["state"], shown["opened"], shown["reason"]) == ("done", 2, None)
    [listed] = session.client.get("/live").json()["sessions"]
    assert (listed["id"], listed["state"], listed["opened"]) == (session.id, "done", 2)
    found = session.get("/results").json()
    assert [row["truth"] for row in found["truths"]] == ["yes", "no", "yes"]
    assert found["summary"]["guarantee"] is None
    assert found["summary"]["words"].startswith("No guarantee")
    assert session.get("/transcript").json()["format"] == "sottovoce-transcript/1"


def test_a_worker_that_waits_for_a_turn_is_woken(server: Served) -> None:
    session = Session(server)
    begin(session.workers)
    first, *others = session.workers
    first.step()
    with ThreadPoolExecutor(1) as waiting, server.anonymous() as client:
        line = OverHttp(client, session.id, first.line.credential, wait=20)
        reply = waiting.submit(line.ask, "GET", "turn", params={"wait": 20})
        for worker in others:
            worker.step()
        found = reply.result(25)
    assert b'"phase":"contribute"' in found.content
    assert found.headers["content-type"] == "application/octet-stream"
    assert found.elapsed.total_seconds() < 10


def test_who_waits_for_the_terms_is_woken_when_the_last_one_joins(server: Served) -> None:
    session = Session(server)
    first, *others = session.workers
    first.join()
    refused(first.line.ask("GET", "terms"), 404, "not_found")
    with ThreadPoolExecutor(1) as waiting, server.anonymous() as client:
        line = OverHttp(client, session.id, first.line.credential, wait=20)
        reply = waiting.submit(line.ask, "GET", "terms", params={"wait": 20})
        for worker in others:
            worker.join()
        found = reply.result(25)
    assert found.json()["terms"]["name"] == session.id
    assert found.json()["deal"] is None
    assert found.elapsed.total_seconds() < 10


def test_a_phase_ends_by_itself_when_its_time_is_up(server: Served, clock: Clock) -> None:
    session = Session(server, patience=30, threshold=3)
    begin(session.workers)
    *rest, silent = session.workers
    for worker in rest:
        worker.step()
    clock.now += 30
    go_on(rest)
    assert [worker.ended for worker in rest] == ["done"] * 3
    shown = session.get().json()
    assert shown["excluded"] == {"4": "it did not answer in phase share"}
    silent.made()
    assert silent.ended == "excluded"


def test_nobody_has_to_ask_for_a_phase_to_end(server: Served, clock: Clock) -> None:
    session = Session(server)
    begin(session.workers)
    assert session.get().json()["state"] == "running"
    clock.now += 60
    with phase_supervision(server.service, look_every=0.01):
        while _state(server, session.id) == "running":
            time.sleep(0.01)
    assert _state(server, session.id) == "aborted"


def test_a_new_server_takes_up_what_ran_before(server: Served, clock: Clock) -> None:
    session = Session(server)
    begin(session.workers)
    object.__setattr__(server.service, "parts", FeatureParts(ActiveSessions(clock)))
    with phase_supervision(server.service, look_every=0.01):
        while sessions_of(server.service).session(session.id).replica is None:
            time.sleep(0.01)
        clock.now += 60
        while _state(server, session.id) == "running":
            time.sleep(0.01)
    assert _state(server, session.id) == "aborted"


def _state(server: Served, id: str) -> str:
    with server.service.database.reading() as connection:
        return the_session(connection, id).state


def test_a_reply_is_bytes_of_a_length_that_could_be_right(server: Served) -> None:
    session = Session(server)
    begin(session.workers)
    worker = session.workers[0]
    reply = worker.made()
    assert reply is not None
    refused(worker.line.send(reply, "application/json"), 415, "unsupported")
    refused(worker.line.send(bytes(3_000_000)), 413, "oversize")
    refused(worker.line.send(b"nonsense"), 422, "malformed")
    assert [worker.line.send(reply).status_code for _ in range(2)] == [201, 200]


def test_a_link_is_for_one_worker_of_one_session(server: Served) -> None:
    session, other = Session(server), Session(server)
    worker = session.workers[0]
    foreign = OverHttp(server.client, other.id, worker.line.credential)
    refused(foreign.ask("GET", "offer"), 403, "bad_credential")
    refused(worker.line.ask("GET", "turn"), 409, "not_open")
    refused(worker.line.ask("POST", "deal", json={}), 403, "bad_credential")
    worker.join()
    stolen = Worker(worker.line, worker.answers)
    keys = {"signing": public_text(stolen.signing), "sealing": public_text(worker.signing)}
    refused(worker.line.ask("POST", "join", json=keys), 403, "invite_used")
    refused(worker.line.ask("POST", "join", json={**keys, "more": 1}), 422, "malformed")
    wrong = refused(
        worker.line.ask("POST", "join", json={**keys, "signing": "é" * 43}), 422, "malformed"
    )
    assert wrong["field"] == "signing"
    refused(worker.line.ask("POST", "join", content=b"{"), 415, "unsupported")
    json_kind = {"Content-Type": "application/json"}
    refused(worker.line.ask("POST", "join", content=b"{", headers=json_kind), 422, "malformed")
    too_long = b" " * 70_000
    refused(worker.line.ask("POST", "join", content=too_long, headers=json_kind), 413, "oversize")


def test_an_offer_is_what_was_asked(server: Served) -> None:
    session = Session(server, threshold=3)
    shown = session.workers[0].line.ask("GET", "offer").json()
    assert {name: shown[name] for name in ASKED} == json.loads(json.dumps(ASKED))
    assert (shown["threshold"], shown["scale"], shown["dealer"]) == (3, 1000, None)


def test_a_session_is_stopped_and_deleted(server: Served) -> None:
    session = Session(server)
    refused(session.post("start"), 409, "not_open")
    begin(session.workers)
    refused(session.get("/results"), 404, "not_found")
    stopped = session.post("stop").json()
    assert (stopped["state"], stopped["reason"]) == ("aborted", "the requester stopped it")
    go_on(session.workers)
    assert {worker.ended for worker in session.workers} == {"aborted"}
    assert session.client.delete(f"/live/{session.id}").status_code == 204
    refused(session.get(), 404, "not_found")
    refused(session.workers[0].line.ask("GET", "turn"), 404, "not_found")


@pytest.mark.parametrize(
    ("others", "field"),
    [
        ({"suite": "unsealed"}, "suite"),
        ({"mode": "open"}, "mode"),
        ({"workers": 2}, "workers"),
        ({"workers": "4"}, "workers"),
        ({"scale": 10**20}, "scale"),
        ({"tasks": []}, "tasks"),
        ({"suite": "damgard_jurik"}, "dealer"),
        ({"dealer": {"name": "x", "sealing": "A" * 43, "signing": "A" * 43}}, "dealer"),
        ({"more": 1}, "more"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_field(
    calm: Served, others: dict[str, Any], field: str
) -> None:
    reply = calm.client.post("/live", json={**ASKED, **others})
    assert refused(reply, 422, "malformed")["field"] == field
    assert calm.client.get("/live").json() == {"sessions": []}
