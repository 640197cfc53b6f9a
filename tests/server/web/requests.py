"""A real server without background work, and a requester who talks to it."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from tests.server.drafts import running

from sottovoce.server.credentials import make_token
from sottovoce.server.database import Database
from sottovoce.server.service import Service
from sottovoce.server.web.app import build_app
from sottovoce.server.web.settings import Settings

PUBLIC = "https://answers.example"
DRAFT: Mapping[str, Any] = {
    "title": "Leaves",
    "question": "Which tree is it?",
    "domain": {"kind": "categorical", "labels": ["oak", "birch", "lime"]},
    "privacy": {"epsilon": 1.0, "answers": 5},
    "tasks": [{"task": "t1", "text": "This?"}, {"task": "t2"}],
}


@dataclass
class Served:
    """A server, and a client that shows a requester's token."""

    service: Service
    client: httpx.Client

    def draft(self, **others: Any) -> str:
        """A new draft's identifier."""
        reply = self.client.post("/campaigns", json={**DRAFT, **others})
        assert reply.status_code == 201, reply.text
        return str(reply.json()["id"])

    def anonymous(self) -> httpx.Client:
        """A client that shows nothing."""
        return httpx.Client(base_url=self.client.base_url, timeout=30)

    def head_only(self, method: str, path: str, headers: Mapping[str, str]) -> tuple[int, str]:
        """Status and reason of the answer to a request whose body never comes."""
        url = self.client.base_url
        connection = http.client.HTTPConnection(url.host, url.port, timeout=10)
        try:
            connection.putrequest(method, url.path.rstrip("/") + path)
            for name, value in headers.items():
                connection.putheader(name, value)
            connection.endheaders()
            reply = connection.getresponse()
            return reply.status, json.loads(reply.read())["reason"]
        finally:
            connection.close()


@contextmanager
def served(database: Database) -> Iterator[Served]:
    """The API over HTTP, on a free port of this machine."""
    app = build_app(Settings(Path("unused"), public_url=PUBLIC))
    with running(database) as service, socket.socket() as listening:
        app.state.service = service
        listening.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_config=None))
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        while not server.started:
            time.sleep(0.005)
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/api/v1"
        headers = {"Authorization": f"Bearer {make_token(service, 'tests')}"}
        with httpx.Client(base_url=address, headers=headers, timeout=30) as client:
            yield Served(service, client)
        server.should_exit = True
        thread.join()


def refused(reply: httpx.Response, status: int, reason: str) -> dict[str, Any]:
    """The problem in a reply, which must be this one."""
    content: dict[str, Any] = reply.json()
    assert reply.headers["content-type"] == "application/problem+json"
    assert (reply.status_code, content["status"], content["reason"]) == (status, status, reason)
    assert content["type"] == f"urn:sottovoce:problem:{reason}"
    return content
