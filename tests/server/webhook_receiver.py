"""A service with a campaign, and a real HTTP server that is told what happens to it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from sqlalchemy import Connection

import sottovoce
from sottovoce.model import Domain, Terms
from sottovoce.server.campaigns.webhooks import announce
from sottovoce.server.database import Database
from sottovoce.server.database.campaigns import add_campaign, find_campaign
from sottovoce.server.service import Service


@dataclass
class Received:
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """Received messages, and the replies to them: statuses in turn, the last one for ever."""

    statuses: list[int] = field(default_factory=lambda: [204])
    pause: float = 0.0
    received: list[Received] = field(default_factory=list)
    address: str = ""
    reply: bytes = b""

    def status(self) -> int:
        return self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]

    def wait_for(self, count: int, seconds: float = 30.0) -> list[Received]:
        """The next messages; fails if they do not arrive."""
        wait_until(lambda: len(self.received) >= count, seconds)
        return self.received


def wait_until(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"did not happen within {seconds:g} seconds")
        time.sleep(0.01)


@contextmanager
def receiving(receiver: Receiver | None = None) -> Iterator[Receiver]:
    """A receiver on a free port of this machine."""
    made = receiver or Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            made.received.append(Received(self.path, dict(self.headers.items()), body))
            time.sleep(made.pause)
            try:
                self.send_response(made.status())
                self.send_header("Location", made.address + "/elsewhere")
                self.send_header("Content-Length", str(len(made.reply)))
                self.end_headers()
                self.wfile.write(made.reply)
            except OSError:
                pass  # the sender has given up

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    made.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def serving(database: Database) -> Service:
    service = Service.on(database)
    with database.reading() as connection:
        if find_campaign(connection, "leaf") is not None:
            return service
    policy = sottovoce.make_policy(
        Domain.categorical("ab"), "randomized-response", sottovoce.Target(1.0)
    )
    terms = Terms("Leaves", "Which tree?", policy)
    service.change(lambda connection: add_campaign(connection, "leaf", terms, date(2030, 1, 1)))
    return service


def tell(service: Service, event: str = "campaign.closed", **details: object) -> None:
    def work(connection: Connection) -> None:
        stored = find_campaign(connection, "leaf")
        assert stored is not None
        announce(connection, stored, event, details)

    service.change(work)
