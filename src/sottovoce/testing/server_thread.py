"""A real server in this process, in a thread."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from sottovoce.errors import NotInstalled, SottovoceError
from sottovoce.mechanisms.policies import Target
from sottovoce.model import Domain, Result
from sottovoce.model.budget import Budget
from sottovoce.requester.client import Requester
from sottovoce.testing.server_process import PATIENCE, settled_result, wait_until
from sottovoce.worker.client import Client

try:
    import uvicorn
    from fastapi import FastAPI

    from sottovoce.files.locks import folder_lock
    from sottovoce.server.credentials import make_token
    from sottovoce.server.database import upgrade
    from sottovoce.server.web.app import build_app
    from sottovoce.server.web.settings import Settings
except ModuleNotFoundError as error:
    raise NotInstalled(str(error.name), purpose="a server for tests", extra="server") from None


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A running server and its requester. `folder` holds its data."""

    url: str
    token: str = field(repr=False)
    requester: Requester
    folder: Path

    def campaign(
        self,
        labels: Sequence[str] = ("no", "yes"),
        tasks: int | Sequence[str] = 10,
        epsilon: float = 2.0,
        answers: int | None = None,
    ) -> tuple[str, str]:
        """Make an open campaign, and a link for any number of workers.

        `tasks` is their number or their names; `answers` is the most answers of a worker (default:
        all).
        """
        names = [f"t{i}" for i in range(tasks)] if isinstance(tasks, int) else list(tasks)
        made = self.requester.create(
            "Which label fits?",
            [{"task": name, "text": f"Task {name}"} for name in names],
            domain=Domain.categorical(labels),
            target=Target(epsilon, answers=answers or len(names)),
        )
        self.requester.open(made["id"])
        [link] = self.requester.invite(made["id"])
        return made["id"], link

    def client(
        self, link: str, folder: str | os.PathLike[str], *, budget: Budget | None = None
    ) -> Client:
        """A worker's client. One folder is one worker: it holds the worker's ledger."""
        return Client(link, folder=folder, budget=budget)

    def truths(self, campaign: str, *, patience: float = PATIENCE) -> Result:
        """Truths and weights, once they include every received report."""
        return settled_result(self.requester, campaign, patience)


@contextmanager
def running_server(
    folder: str | os.PathLike[str] | None = None, *, database_url: str | None = None
) -> Iterator[RunningServer]:
    """Run a real server while the block runs: HTTP on a free port of this machine, a real database.

    Its data is in `folder`, and the same folder gives the same server again; without one it uses a
    folder that is removed at the end. `database_url` is a PostgreSQL instead.
    """
    with ExitStack() as stack:
        place = Path(folder or stack.enter_context(TemporaryDirectory(prefix="sottovoce-")))
        stack.enter_context(folder_lock(place))
        listening = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=512))
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        settings = Settings(place, database_url, url)
        _make_tables(settings)
        app = build_app(settings)
        stack.enter_context(_in_a_thread(app, listening))
        token = make_token(app.state.service, "testing")
        requester = stack.enter_context(Requester(url, token))
        yield RunningServer(url, token, requester, place)


def _make_tables(settings: Settings) -> None:
    database = settings.database()
    try:
        upgrade(database)
    finally:
        database.close()


@contextmanager
def _in_a_thread(app: FastAPI, listening: socket.socket) -> Iterator[None]:
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=5,
        )
    )
    thread = threading.Thread(
        target=server.run, kwargs={"sockets": [listening]}, name="sottovoce-server", daemon=True
    )
    thread.start()
    try:
        wait_until(lambda: server.started or not thread.is_alive(), "the server")
        if not server.started:
            raise SottovoceError("the server did not start; see its log")
        yield
    finally:
        server.should_exit = True
        thread.join()
