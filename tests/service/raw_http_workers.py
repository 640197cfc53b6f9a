"""Workers who speak plain HTTP, and whose every report is another: one that counts twice shows."""

from __future__ import annotations

import csv
import http.client
import itertools
import secrets
import threading
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from sottovoce.mechanisms.policies import Target
from sottovoce.model import Domain, Submission, pseudonym
from sottovoce.requester.client import Requester
from sottovoce.server.database import Database
from sottovoce.server.database.schema import reports

TASKS = ("t0", "t1", "t2")
STORED, REPLAYED, CONFLICT, ERASED, UNAVAILABLE = 201, 200, 409, 410, 503
LOST = (OSError, http.client.HTTPException)
"""The errors that a client gets from a server that went away."""

Row: TypeAlias = tuple[str, str, float]

_distinct = itertools.count()
MOST = 65_536
"""Reports that differ, on the finest grid there is."""


@dataclass(frozen=True, slots=True)
class Parcel:
    """One submission of a new worker, with reports that no other has."""

    report_id: str
    receipt: str
    submission: Submission

    @property
    def content(self) -> bytes:
        return self.submission.text().encode()

    @property
    def rows(self) -> set[Row]:
        """Its rows in an export."""
        made = self.submission
        pairs = zip(made.tasks, made.reports, strict=True)
        return {(made.worker, task, float(report)) for task, report in pairs}


@dataclass(frozen=True, slots=True)
class Site:
    """A campaign that takes numbers, and how to reach it."""

    port: int
    campaign: str
    invite: str
    policy_hash: str

    @classmethod
    def on(cls, requester: Requester, port: int) -> Site:
        """A new campaign, open for anybody."""
        made = requester.create(
            "How many?",
            [{"task": task, "text": f"How many in {task}?"} for task in TASKS],
            domain=Domain.numeric(0, MOST, 1),
            target=Target(1.0, answers=len(TASKS)),
            mechanism="laplace",
        )
        requester.open(made["id"])
        [link] = requester.invite(made["id"])
        return cls(port, made["id"], link.partition("#")[2], made["policy_hash"])

    def parcel(self, like: Parcel | None = None) -> Parcel:
        """A new submission; `like` another, it has that one's identifier and worker."""
        receipt = like.receipt if like else "svr_" + secrets.token_urlsafe(32)
        values = tuple(next(_distinct) % MOST for _ in TASKS)
        worker = pseudonym(self.campaign, receipt)
        made = Submission(self.policy_hash, worker, TASKS, values)
        return Parcel(like.report_id if like else secrets.token_hex(16), receipt, made)

    def path(self, parcel: Parcel) -> str:
        return f"/api/v1/campaigns/{self.campaign}/reports/{parcel.report_id}"

    def headers(self, parcel: Parcel) -> dict[str, str]:
        return {
            "Authorization": f"Bearer {self.invite}",
            "Sottovoce-Receipt": parcel.receipt,
            "Content-Type": "application/json",
        }

    def put(self, parcel: Parcel, line: http.client.HTTPConnection | None = None) -> int:
        """Send once; the status, or an error of `LOST`."""
        with _line(self.port, line) as connection:
            connection.request("PUT", self.path(parcel), parcel.content, self.headers(parcel))
            reply = connection.getresponse()
            reply.read()
            return reply.status

    def erase(self, parcel: Parcel) -> int:
        """Take it back; the status, or an error of `LOST`."""
        with _line(self.port, None) as connection:
            credential = {"Authorization": f"Bearer {parcel.receipt}"}
            connection.request("DELETE", self.path(parcel), headers=credential)
            reply = connection.getresponse()
            reply.read()
            return reply.status


class Crowd:
    """Workers who send as fast as they can, each submission until it is acknowledged.

    Where the campaign is on several servers, who loses one goes on to the next.
    """

    def __init__(self, *sites: Site, senders: int = 4) -> None:
        self._sites, self._stop, self._abandon = sites, threading.Event(), threading.Event()
        self.acknowledged: list[Parcel] = []
        self.refusals: set[int] = set()
        self._threads = [
            threading.Thread(target=self._send_all, args=(place,)) for place in range(senders)
        ]

    def __enter__(self) -> Crowd:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self._stop.set()
        if kind is not None:  # the test has failed: nobody waits for an acknowledgement
            self._abandon.set()
        for thread in self._threads:
            thread.join()

    def _send_all(self, place: int) -> None:
        line = self._line(place)
        while not self._stop.is_set():
            parcel = self._sites[0].parcel()
            while not self._sent(parcel, line) and not self._abandon.wait(0.005):
                if line.sock is None:  # it was lost
                    line = self._line(place := place + 1)
        line.close()

    def _line(self, place: int) -> http.client.HTTPConnection:
        port = self._sites[place % len(self._sites)].port
        return http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    def _sent(self, parcel: Parcel, line: http.client.HTTPConnection) -> bool:
        """Whether the server has acknowledged it."""
        try:
            status = self._sites[0].put(parcel, line)
        except LOST:
            line.close()
            return False
        if status in (STORED, REPLAYED):
            self.acknowledged.append(parcel)
            return True
        self.refusals.add(status)
        return False


@contextmanager
def _line(
    port: int, line: http.client.HTTPConnection | None
) -> Iterator[http.client.HTTPConnection]:
    if line is not None:
        yield line
        return
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as made:
        yield made


def exported(requester: Requester, campaign: str, folder: Path) -> list[Row]:
    """Every report of a campaign, as the requester gets it."""
    path = folder / f"{secrets.token_hex(8)}.csv"
    requester.export(campaign, "reports.csv", path)
    with path.open(encoding="utf-8", newline="") as file:
        rows = [(row["worker"], row["task"], float(row["report"])) for row in csv.DictReader(file)]
    path.unlink()
    return rows


def stored_ids(place: str | Path) -> list[str]:
    """The identifiers of all submissions in a database."""
    database = Database.at(place)
    try:
        with database.reading() as connection:
            found = connection.execute(reports.select().with_only_columns(reports.c.report_id))
            return [bytes(id).hex() for id in found.scalars()]
    finally:
        database.close()


def rows_of(parcels: Iterable[Parcel]) -> list[Row]:
    """The rows of an export of these, in its order."""
    return sorted(row for parcel in parcels for row in parcel.rows)
