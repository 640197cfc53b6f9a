"""A real server with campaigns of any policy, and a line to it that breaks when it is told to."""

from __future__ import annotations

import http.client
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from sqlalchemy import insert, select
from tests.server.web.requests import served

from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.model import Counts, Domain, Policy, State, Submission, Task, Terms, digest
from sottovoce.server.database import Database, upgrade
from sottovoce.server.database.campaigns import (
    add_campaign,
    change_campaign,
    find_campaign,
    set_tasks,
)
from sottovoce.server.database.schema import invites, reports
from sottovoce.server.service import Service

YES_NO = Domain.categorical(["no", "yes"])
COIN = make_policy(YES_NO, "randomized-response", Target(1.0, answers=5))
OTHER = make_policy(YES_NO, "randomized-response", Target(2.0, answers=5))


@dataclass
class Host:
    """A running server. Campaigns have five tasks, t0 to t4."""

    service: Service
    url: str

    def link(self, policy: Policy = COIN, *, kind: str = "open", **terms: Any) -> str:
        """A link to a new campaign, open for reports."""
        id, invite = secrets.token_hex(5), "svi_" + secrets.token_urlsafe(32)
        today = self.service.today()
        with self.service.database.writing() as connection:
            made = add_campaign(connection, id, Terms("Leaves", "Is it?", policy, **terms), today)
            set_tasks(connection, made.number, [Task(f"t{i}", f"Is it {i}?") for i in range(5)])
            change_campaign(connection, made.number, state=State.OPEN)
            row = {"digest": digest(invite), "campaign": made.number, "kind": kind}
            connection.execute(insert(invites), row)
        return f"{self.url}/c/{id}#{invite}"

    def change(self, link: str, **values: Any) -> None:
        """Do to a campaign what no honest server does."""
        with self.service.database.writing() as connection:
            found = find_campaign(connection, _id(link))
            assert found is not None
            change_campaign(connection, found.number, **values)
        self.service.reception.forget(_id(link))

    def counts(self, link: str) -> Counts:
        with self.service.database.reading() as connection:
            found = find_campaign(connection, _id(link))
        assert found is not None
        return found.campaign.counts

    def digests(self, link: str) -> list[bytes]:
        """The hashes of the bytes of all submissions that a campaign has."""
        with self.service.database.reading() as connection:
            found = find_campaign(connection, _id(link))
            assert found is not None
            query = select(reports.c.digest).where(reports.c.campaign == found.number)
            return list(connection.execute(query).scalars())


@contextmanager
def hosting(folder: Any) -> Iterator[Host]:
    database = Database.at(folder)
    upgrade(database)
    with served(database) as server:
        yield Host(server.service, str(server.client.base_url).removesuffix("/api/v1/"))


DROP_REQUEST, DROP_RESPONSE, PASS = "drop request", "drop response", "pass"


@dataclass
class Line:
    """The connection between a worker and a server: passes on, or breaks, as told for each PUT."""

    upstream: str
    url: str = ""
    faults: list[str] = field(default_factory=list)
    sent: list[tuple[str, str, bytes]] = field(default_factory=list)

    def through(self, link: str) -> str:
        """The same link, over this line."""
        return link.replace(self.upstream, self.url)

    def submissions(self) -> list[Submission]:
        """The submissions sent in PUTs."""
        return [Submission.parse(body) for method, _, body in self.sent if method == "PUT"]


@contextmanager
def line_to(upstream: str, *faults: str) -> Iterator[Line]:
    """A line on which the first PUTs fare as told, and all else passes."""
    line = Line(upstream, faults=list(faults))
    host = upstream.removeprefix("http://")

    class Handler(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            line.sent.append((self.command, f"{self.path}\n{self.headers}", body))
            fault = line.faults.pop(0) if self.command == "PUT" and line.faults else PASS
            if fault == DROP_REQUEST:
                return
            onward = http.client.HTTPConnection(host, timeout=10)
            onward.request(self.command, self.path, body, dict(self.headers.items()))
            reply = onward.getresponse()
            content = reply.read()
            onward.close()
            if fault == DROP_RESPONSE:
                return
            self.send_response(reply.status)
            for name in ("Content-Type", "Retry-After"):
                if value := reply.getheader(name):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_PUT = do_DELETE = handle_any  # noqa: N815 - the library's names

        def log_message(self, format: str, *args: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    line.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield line
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _id(link: str) -> str:
    return link.split("/c/")[1].split("#")[0]
