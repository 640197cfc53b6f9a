"""A real server, and keyholders in processes of their own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.service.forked_processes import Forked, ForkedServer, Forker

from sottovoce.keyholder.agreement import Agreement
from sottovoce.keyholder.key_file import make_keys
from sottovoce.keyholder.seat import SeatRecord
from sottovoce.mechanisms.policies import Target
from sottovoce.model import Domain
from sottovoce.requester.client import Requester
from sottovoce.requester.terms import Sealing
from sottovoce.testing.server_process import wait_until
from sottovoce.worker.client import Client

__all__ = ["PASSPHRASE", "Committee", "seated"]

PASSPHRASE = "nine herons by the pond"  # noqa: S105 - it protects nothing
TASKS = [f"t{i}" for i in range(3)]


@dataclass
class Committee:
    """A sealed campaign, whose keyholders run, die and run again."""

    server: ForkedServer
    forker: Forker
    requester: Requester
    folder: Path
    campaign: str = ""
    invite: str = ""
    links: list[str] = field(default_factory=list)
    running: dict[int, Forked] = field(default_factory=dict)

    def home(self, seat: int) -> Path:
        return self.folder / f"keyholder {seat}"

    def out(self, seat: int) -> str:
        """Everything that a keyholder has said so far, in all its lives."""
        file = self.folder / f"out {seat}"
        return file.read_text() if file.exists() else ""

    def start(self, seat: int) -> None:
        out = self.folder / f"out {seat}"
        arguments = ["keyholder", "serve", self.links[seat - 1], "--yes"]
        self.running[seat] = self.forker.start(
            [*arguments, "--folder", str(self.home(seat))], out, out,
            {**os.environ, "SOTTOVOCE_PASSPHRASE": PASSPHRASE},
        )  # fmt: skip

    def kill(self, seat: int) -> None:
        self.running.pop(seat).kill()

    def standing(self, seat: int) -> SeatRecord:
        [folder] = Agreement.all(self.home(seat))
        return SeatRecord.of(folder)

    def answers(self, workers: int) -> None:
        """Workers answer: all say yes to t1, none to t0, half to t2."""
        [self.invite] = self.requester.invite(self.campaign)
        for worker in range(workers):
            says = {"t0": "no", "t1": "yes", "t2": "yes" if worker % 2 else "no"}
            with Client(self.invite, folder=self.folder / f"worker {worker}") as client:
                client.send(says)

    def await_said(self, seat: int, words: str) -> None:
        wait_until(lambda: words in self.out(seat), f"keyholder {seat} to say {words!r}")

    def await_opened(self) -> None:
        def is_opened() -> bool:
            return self.requester.rounds(self.campaign)["phase"] == "opened"

        wait_until(is_opened, "the opening")


@contextmanager
def seated(forker: Forker, folder: Path, *, minimum: int = 10) -> Iterator[Committee]:
    """An open campaign with three keyholders, none of which runs yet."""
    with ForkedServer(folder / "server", forker) as server, server.requester() as requester:
        made = Committee(server, forker, requester, folder)
        cards = [make_keys(made.home(seat), f"Keyholder {seat}", PASSPHRASE) for seat in (1, 2, 3)]
        view = requester.create(
            "Is it?",
            [{"task": task, "text": f"Is it {task}?"} for task in TASKS],
            domain=Domain.categorical(["no", "yes"]),
            target=Target(8.0, answers=len(TASKS)),
            sealed=Sealing(cards, minimum=minimum),
        )
        made.campaign = view["id"]
        requester.open(made.campaign, over_budget=True)
        made.links = [each["link"] for each in requester.keyholder_links(made.campaign)]
        try:
            yield made
        finally:
            for seat in [*made.running]:
                made.kill(seat)
