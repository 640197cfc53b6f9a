"""A whole server with a campaign in each state, for those who come with bad intentions."""

from __future__ import annotations

import hashlib
import json
import secrets
import socket
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from fastapi import FastAPI
from tests.live.server.crowds import ASKED
from tests.server.sealed.committees import cards
from tests.server.web.requests import DRAFT

from sottovoce.errors import Reason
from sottovoce.model import Submission, pseudonym
from sottovoce.server.campaigns import sample_campaign
from sottovoce.server.credentials import make_setup, make_token
from sottovoce.server.database import upgrade
from sottovoce.server.database.schema import METADATA
from sottovoce.server.service import Service
from sottovoce.server.web.app import build_app
from sottovoce.server.web.http_server import ImpatientProtocol
from sottovoce.server.web.settings import Settings

CANARY = "canary-7f3a"
"""Stands in what is sent, and must stand in no refusal."""

FRESH = httpx.Limits(keepalive_expiry=0.3)
"""Connections are not used again when the server may be about to end them."""

BUSY_TABLES = frozenset({"results", "deliveries", "rejections"})
"""Tables that the server itself may change at any time."""


class Hasty(ImpatientProtocol):
    """The connections of `sottovoce serve`, with less patience."""

    HEAD_SECONDS = 5.0
    PAUSE_SECONDS = 2.0
    BODY_SECONDS = 8.0
    LINGER_SECONDS = 0.5
    CHECK_SECONDS = 0.1


def new(prefix: str) -> str:
    """A credential that the server has never seen."""
    return prefix + secrets.token_urlsafe(32)


def bearer(credential: str, receipt: str | None = None) -> dict[str, str]:
    """The headers of who shows this."""
    own = {} if receipt is None else {"Sottovoce-Receipt": receipt}
    return {"Authorization": f"Bearer {credential}", **own}


@dataclass
class Arena:
    """A server, one credential of each kind, and a campaign in each state."""

    app: FastAPI
    url: str
    token: str
    setup: str
    http: httpx.Client
    file: Path
    """The server's database."""
    ids: dict[str, str] = field(default_factory=dict)
    invites: dict[str, str] = field(default_factory=dict)
    receipt: str = field(default_factory=lambda: new("svr_"))

    @property
    def service(self) -> Service:
        service: Service = self.app.state.service
        return service

    @property
    def requester(self) -> dict[str, str]:
        return bearer(self.token)

    @property
    def worker(self) -> dict[str, str]:
        """The headers of a worker in the open campaign."""
        return bearer(self.invites["open"], self.receipt)

    def ask(self, method: str, path: str, **options: Any) -> httpx.Response:
        """A request below /api/v1 with a requester's token, unless other headers are given."""
        options.setdefault("headers", self.requester)
        return self.http.request(method, f"/api/v1{path}", **options)

    def draft(self, **others: Any) -> str:
        reply = self.ask("POST", "/campaigns", json={**DRAFT, **others})
        assert reply.status_code == 201, reply.text
        return str(reply.json()["id"])

    def sealed(self) -> str:
        """An open campaign whose answers are sealed."""
        sealed = {"keyholders": [card.as_json() for card in cards()], "minimum": 3}
        privacy = {"epsilon": 40.0, "answers": 5, "mechanism": "sealed-sum", "sealed": sealed}
        id = self.draft(privacy=privacy)
        raised = {"over_budget": True}  # epsilon 200 in total, above the budget of devices
        assert self.ask("POST", f"/campaigns/{id}/open", params=raised).status_code == 200
        return id

    def keyholder(self, campaign: str) -> str:
        """A keyholder's credential; for a campaign that is not sealed, one of another campaign."""
        reply = self.ask("POST", f"/campaigns/{campaign}/keyholders")
        if reply.status_code == 404:
            return self.keyholder(self.sealed())
        return str(reply.json()["links"][0]["link"]).partition("#")[2]

    def live(self) -> tuple[str, dict[str, str]]:
        """A live session that gathers, and a credential of a worker and of its dealer."""
        dealer = {"suite": "damgard_jurik", "bits": 1024, "dealer": cards()[0].as_json()}
        made = self.ask("POST", "/live", json={**ASKED, **dealer}).json()
        links = {"worker": made["links"][0], "dealer": made["dealer_link"]}
        return made["id"], {role: link.partition("#")[2] for role, link in links.items()}

    def invite(self, campaign: str, **asked: Any) -> str:
        reply = self.ask("POST", f"/campaigns/{campaign}/invites", json={"kind": "open", **asked})
        assert reply.status_code == 201, reply.text
        return str(reply.json()["links"][0]).partition("#")[2]

    def opened(self, **others: Any) -> tuple[str, str]:
        """A campaign that takes reports, and an invite to it."""
        id = self.draft(**others)
        invite = self.invite(id)
        assert self.ask("POST", f"/campaigns/{id}/open").status_code == 200
        return id, invite

    def submission(self, campaign: str, receipt: str, **others: Any) -> dict[str, Any]:
        """A submission that the campaign would take, but for the other fields."""
        shown = self.ask("GET", f"/campaigns/{campaign}").json()
        worker = pseudonym(campaign, receipt)
        made = Submission(shown["policy_hash"], worker, ("t1", "t2"), ("oak", "lime"))
        return {**made.as_json(), **others}

    def put(
        self,
        body: bytes | dict[str, Any],
        *,
        campaign: str | None = None,
        id: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> httpx.Response:
        """Send a submission to the open campaign, or to another."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        path = f"/campaigns/{campaign or self.ids['open']}/reports/{id or secrets.token_hex(16)}"
        sent = {"Content-Type": "application/json", **(self.worker if headers is None else headers)}
        return self.ask("PUT", path, content=content, headers=sent)

    def raw(self, *pieces: bytes, pause: float = 0.0, patience: float = 15.0) -> bytes:
        """Everything the server says to these bytes until the connection, or patience, ends."""
        host, port = self.url.removeprefix("http://").split(":")
        received = b""
        with socket.create_connection((host, int(port)), timeout=patience) as connection:
            try:
                for piece in pieces:
                    connection.sendall(piece)
                    time.sleep(pause)
                while piece := connection.recv(65_536):
                    received += piece
            except (BrokenPipeError, ConnectionResetError, TimeoutError):
                pass
        return received

    def await_rehearsals(self) -> None:
        """Until the simulated workers of earlier tests have reported."""
        while self.service.rehearsals.under_way:
            time.sleep(0.01)

    @contextmanager
    def unharmed(self) -> Iterator[None]:
        """Check that the block changes nothing, and that the server is as well as before."""
        self.await_rehearsals()
        with (
            closing(sqlite3.connect(self.file)) as before,
            closing(sqlite3.connect(self.file)) as after,
        ):
            before.execute("BEGIN")
            before.execute("SELECT count(*) FROM campaigns").fetchone()  # from now on it sees this
            version = _version(after)
            yield
            if _version(after) != version:
                assert _state(after) == _state(before)
        for path in ("/healthz", "/readyz"):
            assert self.http.get(path).json() == {"status": "ok"}


def _version(connection: sqlite3.Connection) -> int:
    """Another one after anybody else has written anything."""
    [version] = connection.execute("PRAGMA data_version").fetchone()
    return int(version)


def _state(connection: sqlite3.Connection) -> str:
    """A hash of everything that is stored, but for what inference writes by itself."""
    whole = hashlib.sha256()
    for table in METADATA.sorted_tables:
        if table.name not in BUSY_TABLES:
            rows = sorted(map(repr, connection.execute(f'SELECT * FROM "{table.name}"')))
            whole.update("\n".join((table.name, *rows)).encode())
    return whole.hexdigest()


def problem(reply: httpx.Response, status: int, reason: Reason) -> dict[str, Any]:
    """The refusal in a reply: this one, in the one shape, and it quotes nothing of ours."""
    assert reply.headers["content-type"] == "application/problem+json", reply.text[:300]
    content: dict[str, Any] = reply.json()
    assert (reply.status_code, content["reason"]) == (status, reason), content
    assert (content["status"], content["type"]) == (status, f"urn:sottovoce:problem:{reason}")
    assert content.keys() <= {
        "type", "title", "status", "reason", "detail", "field", "row", "column",
    }  # fmt: skip
    assert len(reply.content) < 2_000
    assert CANARY not in reply.text
    assert CANARY not in str(reply.headers)
    return content


@contextmanager
def arena_at(folder: Path) -> Iterator[Arena]:
    """A server as `sottovoce serve` runs it, inference included, in a thread."""
    settings = Settings(folder)
    database = settings.database()
    upgrade(database)
    database.close()
    file = database.file
    assert file is not None
    app = build_app(settings)
    with (
        pytest.MonkeyPatch.context() as patch,
        socket.create_server(("127.0.0.1", 0)) as listening,
    ):
        patch.setattr(sample_campaign, "LENGTH", 0.0)  # nobody looks on
        config = uvicorn.Config(
            app, http=Hasty, ws="none", lifespan="on", log_config=None, access_log=False,
            server_header=False, proxy_headers=False, timeout_graceful_shutdown=5,
            timeout_keep_alive=5,
        )  # fmt: skip
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        while not server.started:
            time.sleep(0.005)
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        try:
            with httpx.Client(base_url=url, timeout=60, limits=FRESH) as http:
                yield _furnished(app, url, http, file)
        finally:
            server.should_exit = True
            thread.join()


def _furnished(app: FastAPI, url: str, http: httpx.Client, file: Path) -> Arena:
    service: Service = app.state.service
    arena = Arena(app, url, make_token(service, "arena"), make_setup(service), http, file)
    for state in ("draft", "open", "closed"):
        id = arena.ids[state] = arena.draft(title=f"A campaign that is {state}")
        arena.invites[state] = arena.invite(id)
    for state in ("open", "closed"):
        assert arena.ask("POST", f"/campaigns/{arena.ids[state]}/open").status_code == 200
    assert arena.ask("POST", f"/campaigns/{arena.ids['closed']}/close").status_code == 200
    stored = arena.put(arena.submission(arena.ids["open"], arena.receipt))
    assert stored.status_code == 201, stored.text
    return arena
