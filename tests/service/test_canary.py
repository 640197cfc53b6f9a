"""A marked answer and marked secrets are looked for wherever the service leaves anything.

The answer lies between two points of the grid, so no report is it by chance. A broken client may
send it nevertheless, in every place a request has: then nobody may quote it or keep it.
"""

from __future__ import annotations

import json
import secrets
import struct
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
from tests.service.forked_processes import ForkedServer, Forker

from sottovoce.mechanisms.policies import Target
from sottovoce.model import Domain, Submission, pseudonym
from sottovoce.requester.client import Requester
from sottovoce.server.campaigns.exports import EXPORTS
from sottovoce.testing.server_process import settled_result, wait_until
from sottovoce.worker.client import Client

CANARY = 7351.0625
MARKS = {
    "the answer": str(CANARY).encode(),
    "the answer, packed": struct.pack("<d", CANARY),
    "the answer, packed the other way": struct.pack(">d", CANARY),
}
TASKS = ("t0", "t1", "t2")


@dataclass
class Trail:
    """Everything that a service and its workers have left, by where it lies."""

    places: dict[str, bytes] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, content: bytes | str) -> None:
        self.places[f"{len(self.places)} {name}"] = (
            content if isinstance(content, bytes) else content.encode()
        )

    def add_files(self, name: str, folder: Path) -> None:
        for file in folder.rglob("*"):
            with suppress(FileNotFoundError):  # a log that SQLite has just removed
                if file.is_file():
                    self.add(f"{name} {file.name}", file.read_bytes())

    def add_process(self, name: str, pid: int) -> None:
        """Arguments and environment of a process and of those it has started."""
        for number in (pid, *_children(pid)):
            for what in ("cmdline", "environ"):
                self.add(f"{what} of {name}", Path(f"/proc/{number}/{what}").read_bytes())

    def found(self, mark: bytes) -> list[str]:
        """Where the mark is."""
        return [name for name, content in self.places.items() if mark in content]

    def found_outside(self, owner: str, mark: bytes) -> list[str]:
        """Where the mark is, besides what belongs to its owner."""
        return [name for name in self.found(mark) if owner not in name]


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


class Story:
    """A campaign with workers, errors, a crash and everything an operator does."""

    def __init__(
        self, server: ForkedServer, requester: Requester, forker: Forker, folder: Path, trail: Trail
    ) -> None:
        self.server, self.forker, self.folder, self.trail = server, forker, folder, trail
        self.home = folder / f"worker-{secrets.token_hex(4)}"
        self.requester = requester
        made = self.requester.create(
            "How much?",
            [{"task": task, "text": f"How much is {task}?"} for task in TASKS],
            domain=Domain.numeric(0, 10_000, 1),
            target=Target(1.0, answers=len(TASKS)),
            mechanism="laplace",
        )
        self.requester.open(made["id"])
        self.id, self.hash = made["id"], made["policy_hash"]
        [self.link] = self.requester.invite(self.id)
        self.invite = self.link.partition("#")[2]

    def answer(self) -> None:
        """A worker answers in a process of its own, which others on the machine can see."""
        table = self.folder.parent / f"{self.home.name}.csv"  # the worker's own, nobody looks there
        table.write_text("task,answer\n" + "".join(f"{task},{CANARY}\n" for task in TASKS))
        command = [sys.executable, "-m", "sottovoce", "answer", "-", "--answers", str(table)]
        command += ["--yes", "--json", "--folder", str(self.home)]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True,
        ) as process:  # fmt: skip
            self.trail.add_process("client", process.pid)
            out, err = process.communicate(self.link + "\n", timeout=60)
        assert process.returncode == 0, err
        self.trail.add("client's outcome", out + err)

    def refuse(self) -> None:
        """Requests of every wrong kind, with the answer and secrets where they do not belong."""
        receipt = "svr_" + secrets.token_urlsafe(32)
        worker = pseudonym(self.id, receipt)
        plain = Submission(self.hash, worker, TASKS, (CANARY, CANARY, CANARY))
        whole = plain.as_json()
        bodies = [
            plain.text(),
            json.dumps({**whole, "answer": CANARY}),
            json.dumps({**whole, "policy": str(CANARY)}),
            json.dumps({**whole, "worker": str(CANARY)}),
            json.dumps({**whole, "tasks": [str(CANARY)], "reports": [1]}),
            json.dumps({**whole, "format": str(CANARY)}),
            json.dumps({**whole, "simulated": True}),
            f"{CANARY} is no JSON",
            str(CANARY) * 10_000,
        ]
        token = self.server.token
        reports = f"/api/v1/campaigns/{self.id}/reports/{secrets.token_hex(16)}"
        good = {"Authorization": f"Bearer {self.invite}", "Sottovoce-Receipt": receipt}
        with httpx.Client(base_url=self.server.url) as client:
            replies = [client.put(reports, content=body, headers=good) for body in bodies]
            for headers in (
                {},
                {"Authorization": f"Bearer {CANARY}"},
                {"Authorization": f"Basic {token}"},
                {**good, "Authorization": f"Bearer {token}"},
                {**good, "Sottovoce-Receipt": str(CANARY)},
                {**good, "Sottovoce-Receipt": token},
                {**good, "Content-Encoding": "gzip"},
            ):
                replies.append(client.put(reports, content=plain.text(), headers=headers))
            for place in (
                f"/{CANARY}", f"/c/{CANARY}", f"/c/{token}", f"/?answer={CANARY}&token={token}",
                f"/api/v1/campaigns/{CANARY}", f"/api/v1/campaigns/{token}/offer",
                f"/api/v1/campaigns/{self.id}/exports/{CANARY}", "/metrics",
                f"/api/v1/campaigns/{self.id}/results?limit={CANARY}",
            ):  # fmt: skip
                for accept in ("application/json", "text/html"):
                    for credential in (self.invite, token):
                        headers = {"Accept": accept, "Authorization": f"Bearer {credential}"}
                        replies.append(client.get(place, headers=headers))
            body = {"title": CANARY, "question": token, "domain": str(CANARY)}
            headers = {"Authorization": f"Bearer {token}"}
            replies.append(client.post("/api/v1/campaigns", json=body, headers=headers))
        assert {403, 404, 422} <= {reply.status_code for reply in replies}
        assert max(reply.status_code for reply in replies) < 500
        for reply in replies:
            self.trail.add("reply", f"{reply.headers}\n{reply.text}")

    def crash(self) -> None:
        """The server dies while reports wait at a worker, who sends them afterwards."""
        home = self.home.with_name(self.home.name + "-late")
        with Client(self.link, folder=home, retries=0) as client:
            self.server.kill()
            self.trail.add_files("dead server's", self.server.data)
            with suppress(Exception):
                client.send(dict.fromkeys(TASKS, CANARY))
            self.trail.add_files("waiting client's", home)
            self.server.start()
            client.resume()
            self.trail.secrets[f"receipt of {home.name}"] = client.receipt

    def operate(self) -> None:
        """Results, every export, metrics and a backup."""
        settled_result(self.requester, self.id)
        wait_until(lambda: bool(_children(self.server.pid)), "the process that infers")
        self.trail.add_process("server", self.server.pid)
        for name in set(EXPORTS) - {"crowdkit.csv"}:  # which is for labels
            path = self.folder / "exports" / f"{self.home.name}-{name}"
            path.parent.mkdir(exist_ok=True)
            self.requester.export(self.id, name, path)
        self.trail.add_files("export", self.folder / "exports")
        headers = {"Authorization": f"Bearer {self.server.token}"}
        self.trail.add("metrics", httpx.get(f"{self.server.url}/metrics", headers=headers).text)
        backup = self.folder / f"{self.home.name}.backup"
        code, said = self.forker.run(
            "backup", str(backup), "--data", str(self.server.data), folder=self.folder
        )
        assert code == 0
        self.trail.add("backup", backup.read_bytes())
        self.trail.add("backup command", said)

    def tell(self) -> None:
        self.answer()
        self.refuse()
        self.crash()
        self.operate()
        self.trail.add_files("server's", self.server.data)
        self.trail.add("log", self.server.log.read_bytes())
        self.trail.add_files("client's", self.home)
        with Client(self.link, folder=self.home, contact=False) as client:
            self.trail.secrets[f"receipt of {self.home.name}"] = client.receipt
        self.trail.secrets[f"invite to {self.id}"] = self.invite


@pytest.fixture(scope="module")
def trail(forker: Forker, tmp_path_factory: pytest.TempPathFactory) -> Trail:
    """The traces of two runs, one with a log for programs and one for people."""
    if not Path("/proc/self/environ").exists():
        pytest.skip("needs /proc, to see what other processes see")
    folder = tmp_path_factory.mktemp("canary") / "all"
    trail = Trail()
    for format in ("json", "text"):
        place = folder / format
        options = ["--log-format", format]
        with ForkedServer(place, forker, options=options) as server:
            trail.secrets[f"token of {format}"] = server.token
            out = (place / "server.out").read_text()
            trail.secrets[f"setup of {format}"] = "sva_" + out.split("#sva_")[1][:43]
            with server.requester() as requester:
                Story(server, requester, forker, place, trail).tell()
        trail.add_files("stopped server's", server.data)
        trail.add("log of a stopped server", server.log.read_bytes())
    return trail


@pytest.mark.parametrize("mark", MARKS)
def test_an_answer_is_nowhere(trail: Trail, mark: str) -> None:
    assert trail.found(MARKS[mark]) == []


def test_secrets_are_where_their_owners_keep_them_and_nowhere_else(trail: Trail) -> None:
    assert len(trail.secrets) == 10
    for name, secret in trail.secrets.items():
        without_prefix = secret.partition("_")[2].encode()
        assert trail.found_outside("client's", without_prefix) == [], name


def test_all_places_were_looked_at(trail: Trail) -> None:
    """A search that finds nothing is worth as much as what it has seen."""
    names = " ".join(trail.places)
    for place in (
        "sottovoce.db", "sottovoce.db-wal", "sottovoce.db-shm", "log", "metrics", "backup",
        "reply", "reports.parquet", "truths.csv", "ledger", "cmdline of server",
        "environ of client", "dead server's", "waiting client's",
    ):  # fmt: skip
        assert place in names, place
    assert len(trail.found(b"svr_")) >= 2  # the workers' own files
    assert trail.found(b"sottovoce-submission/1")  # a parcel that waited
