"""Measure `sottovoce serve` on SQLite under load from another process.

    python serving.py rates COUNT | memory COUNT | during COUNT REPORTS | results REPORTS ROWS

prints one JSON object. A submission has 20 answers, randomised, on 20 of 1,000 tasks.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from measuring import FOLDER, resident
from sottovoce import Domain, Target, make_policy
from sottovoce.model import Task, Terms, assigned, digest
from sottovoce.server.campaigns.drafts import create_draft
from sottovoce.server.campaigns.invites import InviteKind, invite
from sottovoce.server.campaigns.lifecycle import open_campaign
from sottovoce.server.credentials import make_token
from sottovoce.server.database import Database, Intake, upgrade
from sottovoce.server.database.intake import take
from sottovoce.server.service import Service

ANSWERS, TASKS = 20, 1000
LABELS = ("no", "yes")
CONNECTIONS = (8, 32, 128)

EMPTY = """
import sys, uvicorn
from fastapi import FastAPI
app = FastAPI()
@app.put("/empty")
async def empty() -> dict[str, str]:
    return {}
uvicorn.run(app, port=int(sys.argv[1]), log_config=None, access_log=False, proxy_headers=False)
"""


class Server:
    """A process that serves on a port of this machine and writes to `log`."""

    def __init__(self, command: list[str], log: Path | None = None) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = int(free.getsockname()[1])
        with (log or Path(os.devnull)).open("w") as said:
            self.process = subprocess.Popen(
                [sys.executable, *command, str(self.port)],
                stdout=subprocess.DEVNULL,
                stderr=said,
            )
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
            except OSError:
                if self.process.poll() is not None:
                    raise RuntimeError("the server did not start") from None
                time.sleep(0.05)
            else:
                return

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


class Campaign:
    """An open campaign, its address for the load, and a requester's token.

    It is in SQLite in the folder, or in the database at a URL.
    """

    def __init__(
        self, folder: Path, url: str | None = None, *, tasks: int = TASKS, answers: int = ANSWERS
    ) -> None:
        self.folder, self.url, self.tasks, self.answers = folder, url, tasks, answers
        database = Database.at(url or folder)
        upgrade(database)
        service = Service.on(database)
        policy = make_policy(
            Domain.categorical(LABELS), "randomized-response", Target(1.0, answers=answers)
        )
        names = [f"task {i:04}" for i in range(tasks)]
        asked = [Task(name, "Is this leaf an oak's?") for name in names]
        self.id = create_draft(service, Terms("Leaves", "Is it?", policy), asked).id
        open_campaign(service, self.id)
        (link,) = invite(service, self.id, InviteKind.OPEN, public_url="http://localhost")
        self.token, self.number = (
            make_token(service, "bench"),
            service.reception.admission(self.id).number,
        )
        self.invite = link.partition("#")[2]
        service.close()
        folder.mkdir(parents=True, exist_ok=True)
        self.file = folder / "address.json"
        self.file.write_text(json.dumps({
            "campaign": self.id, "invite": self.invite, "policy": policy.hash, "tasks": names,
            "block": answers, "labels": LABELS,
        }))  # fmt: skip

    def fill(self, reports: int) -> None:
        """Earlier reports, added through the same code but without HTTP."""
        database, generator = Database.at(self.url or self.folder), np.random.default_rng(5)
        workers = reports // self.answers
        for start in range(0, workers, 256):
            count = min(256, workers - start)
            with database.writing() as connection:
                take(connection, [self._intake(generator) for _ in range(count)])
        database.close()

    def _intake(self, generator: np.random.Generator) -> Intake:
        worker = secrets.token_bytes(16)
        tasks = np.array(assigned(self.id, worker.hex(), self.tasks, self.answers), "<u4")
        truth = tasks % 2
        codes = np.where(generator.random(self.answers) < 0.6, truth, 1 - truth).astype("<i4")
        return Intake(
            self.number, secrets.token_bytes(16), worker, digest(self.invite), 739_000,
            secrets.token_bytes(32), tasks.tobytes(), codes.tobytes(), self.answers, False,
        )  # fmt: skip


@contextmanager
def serving(*, tasks: int = TASKS, answers: int = ANSWERS) -> Iterator[Campaign]:
    """A campaign in a temporary folder."""
    with tempfile.TemporaryDirectory() as name:
        yield Campaign(Path(name), tasks=tasks, answers=answers)


@contextmanager
def started(campaign: Campaign) -> Iterator[Server]:
    """`sottovoce serve` on its folder."""
    server = Server(["-m", "sottovoce", "serve", "--data", str(campaign.folder), "--port"])
    try:
        yield server
    finally:
        server.stop()


def loading(
    port: int, connections: int, count: int, file: Path | None = None
) -> subprocess.Popen[bytes]:
    """A process that sends a number of requests over several connections."""
    seed = str(secrets.randbits(40))
    command = [str(port), str(connections), str(count), seed, *([str(file)] if file else [])]
    return subprocess.Popen(
        [sys.executable, str(FOLDER / "serving_load.py"), *command], stdout=subprocess.PIPE
    )


def loaded(process: subprocess.Popen[bytes]) -> dict[str, float]:
    """The measurements of the load process."""
    output, _ = process.communicate()
    if process.returncode:
        raise RuntimeError("a request was refused")
    seen: dict[str, float] = json.loads(output)
    return seen


def rates(count: int) -> dict[str, Any]:
    """Submissions and empty requests in turns, twice, for several numbers of connections."""
    with serving() as campaign, started(campaign) as server:
        empty = Server(["-c", EMPTY])
        loaded(loading(empty.port, 8, 500))
        loaded(loading(server.port, 8, 500, campaign.file))
        rows = [
            {
                "run": run,
                "connections": connections,
                "empty": loaded(loading(empty.port, connections, count)),
                "ours": loaded(loading(server.port, connections, count, campaign.file)),
            }
            for run in (1, 2)
            for connections in CONNECTIONS
        ]
        empty.stop()
    return {"rows": rows}


def memory(count: int) -> dict[str, Any]:
    """Resident bytes of the server after each quarter; inference runs in a separate process."""
    seen = []
    with serving() as campaign, started(campaign) as server:
        loaded(loading(server.port, 32, 1000, campaign.file))
        seen.append([0, resident(server.process.pid)])
        for quarter in range(1, 5):
            loaded(loading(server.port, 32, count // 4, campaign.file))
            seen.append([quarter * count // 4, resident(server.process.pid)])
    return {"seen": seen}


def during(count: int, reports: int) -> dict[str, Any]:
    """Submissions to an otherwise idle server, during inference, and during exports."""
    seen = {}
    with serving() as campaign, started(campaign) as server:
        loaded(loading(server.port, 32, 500, campaign.file))
        seen["alone"] = loaded(loading(server.port, 32, count, campaign.file))
    with serving() as campaign:
        campaign.fill(reports)
        with started(campaign) as server:
            seen["inference"] = loaded(loading(server.port, 32, count, campaign.file))
            wait_for_truths(server, campaign)
            going = loading(server.port, 32, count, campaign.file)
            rows = 0
            while going.poll() is None:
                rows += _exported(server, campaign, while_running=going)
            seen["export"] = loaded(going)
            seen["export"]["rows"] = rows
    return seen


def results(reports: int, rows: int) -> dict[str, Any]:
    """Seconds until truths are available, and of a long export."""
    with serving() as campaign:
        campaign.fill(reports)
        with started(campaign) as server, requester_of(server, campaign) as requester:
            start = time.perf_counter()
            wait_for_truths(server, campaign)
            inferred = time.perf_counter() - start
            latencies = []
            for _ in range(20):
                start = time.perf_counter()
                requester.get("/results", params={"limit": 1000}).raise_for_status()
                latencies.append(time.perf_counter() - start)
        campaign.fill(rows - reports)
        with started(campaign) as server:
            time.sleep(1)
            before, start = resident(server.process.pid), time.perf_counter()
            seen = _exported(server, campaign, watch=True)
            took = time.perf_counter() - start
            return {
                "inferred": inferred,
                "median": statistics.median(latencies),
                "slowest": max(latencies),
                "rows": seen,
                "export": took,
                "before": before,
                "peak": resident(server.process.pid, peak=True),
            }


def requester_of(server: Server, campaign: Campaign) -> httpx.Client:
    return httpx.Client(
        base_url=f"http://127.0.0.1:{server.port}/api/v1/campaigns/{campaign.id}",
        headers={"Authorization": f"Bearer {campaign.token}"},
        timeout=300,
    )


def wait_for_truths(server: Server, campaign: Campaign) -> None:
    """Wait until the truths include all reports."""
    with requester_of(server, campaign) as requester:
        while True:
            page = requester.get("/results", params={"limit": 1}).json()
            if page["summary"] is not None and page["reports_waiting"] == 0:
                return
            time.sleep(0.2)


def _exported(
    server: Server,
    campaign: Campaign,
    *,
    watch: bool = False,
    while_running: subprocess.Popen[bytes] | None = None,
) -> int:
    """The number of rows of reports.csv received until the other process ends."""
    rows = 0
    if watch:
        Path(f"/proc/{server.process.pid}/clear_refs").write_text("5")
    with requester_of(server, campaign) as requester:
        with requester.stream("GET", "/exports/reports.csv") as reply:
            reply.raise_for_status()
            for piece in reply.iter_bytes():
                rows += piece.count(b"\n")
                if while_running is not None and while_running.poll() is not None:
                    break
    return rows


MEASURES: dict[str, Callable[..., dict[str, Any]]] = {
    "rates": rates,
    "memory": memory,
    "during": during,
    "results": results,
}

if __name__ == "__main__":
    print(json.dumps(MEASURES[sys.argv[1]](*map(int, sys.argv[2:]))))
