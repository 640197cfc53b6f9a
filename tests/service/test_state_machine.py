"""Whatever happens in whatever order: each report that was acknowledged and not erased counts once.

The machine drops requests and responses, repeats, replays, kills, restarts, moves the service to
another folder through a backup, and looks at what the requester gets after each step.
"""

from __future__ import annotations

import itertools
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.service.forked_processes import ForkedServer, Forker
from tests.service.raw_http_workers import (
    CONFLICT,
    ERASED,
    LOST,
    REPLAYED,
    STORED,
    UNAVAILABLE,
    Parcel,
    Site,
    exported,
    rows_of,
)

from sottovoce.server.database import Database
from sottovoce.server.database.integrity import check

TAKEN, NOT_THERE = 204, 404
AT_ONCE = 4
PLACES = st.integers(0, 1 << 20)
FRACTIONS = st.floats(0, 1)


class World:
    """A server that all runs of the machine share; each has a campaign of its own."""

    def __init__(self, server: ForkedServer, forker: Forker, folder: Path) -> None:
        self.server, self.requester = server, server.requester()
        self._forker, self._folder = forker, folder
        self._numbers = itertools.count()

    def move(self) -> None:
        """Back up while the server runs, restore into a new folder, and go on there."""
        number = next(self._numbers)
        backup, data = self._folder / f"{number}.backup", self._folder / f"data-{number}"
        self._run("backup", str(backup), "--data", str(self.server.data))
        assert self.server.stop() == 0
        self._run("restore", str(backup), "--data", str(data))
        self.server.data = data
        self.server.start()

    def check(self) -> None:
        """The database is what the service wrote."""
        database = Database.at(self.server.data)
        try:
            assert check(database) == []
        finally:
            database.close()

    def rows(self, campaign: str) -> list[tuple[str, str, float]]:
        return exported(self.requester, campaign, self._folder)

    def _run(self, *arguments: str) -> None:
        code, said = self._forker.run(*arguments, folder=self._folder)
        assert code == 0, said


class Reporting(RuleBasedStateMachine):
    """The service as workers and a requester see it, next to what it ought to be."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self.world = world
        self.site = Site.on(world.requester, world.server.port)
        self.is_open = self.is_here = True
        self.known: list[Parcel] = []
        self.counted: dict[str, Parcel] = {}
        self.erased: set[str] = set()
        self.unsure: dict[str, Parcel] = {}

    def new(self) -> Parcel:
        parcel = self.site.parcel()
        self.known.append(parcel)
        return parcel

    def expected(self, parcel: Parcel) -> set[int]:
        """The statuses with which the server may answer these bytes."""
        if parcel.report_id in self.counted:
            return {REPLAYED}
        if parcel.report_id in self.erased:
            return {ERASED}
        fresh = STORED if self.is_open else CONFLICT
        return {fresh, REPLAYED} if parcel.report_id in self.unsure else {fresh}

    def heard(self, parcel: Parcel, status: int) -> None:
        """Note what the server said."""
        assert status in self.expected(parcel)
        if status in (STORED, REPLAYED):
            self.counted[parcel.report_id] = parcel
            self.unsure.pop(parcel.report_id, None)

    def send_some(self) -> tuple[ThreadPoolExecutor, dict[Future[int], Parcel]]:
        """Several new submissions on their way."""
        threads = ThreadPoolExecutor(AT_ONCE)
        parcels = [self.new() for _ in range(AT_ONCE)]
        return threads, {threads.submit(self.site.put, parcel): parcel for parcel in parcels}

    def settle(self, threads: ThreadPoolExecutor, sent: dict[Future[int], Parcel]) -> None:
        """Note what became of those that were on their way when the server ended."""
        threads.shutdown()
        for future, parcel in sent.items():
            try:
                status = future.result()
            except LOST:
                status = UNAVAILABLE
            if status == UNAVAILABLE:  # it stopped; whether it had stored this, it did not say
                self.unsure[parcel.report_id] = parcel
            else:
                self.heard(parcel, status)

    def resolve(self) -> None:
        """Nothing is on its way after a restart: what was stored without a word counts."""
        rows = set(self.world.rows(self.site.campaign))
        for id, parcel in self.unsure.items():
            if parcel.rows <= rows:
                self.counted[id] = parcel
        self.unsure.clear()

    @rule()
    def send(self) -> None:
        parcel = self.new()
        self.heard(parcel, self.site.put(parcel))

    @precondition(lambda self: self.known)
    @rule(place=PLACES)
    def send_the_same_bytes_again(self, place: int) -> None:
        parcel = self.known[place % len(self.known)]
        self.heard(parcel, self.site.put(parcel))

    @precondition(lambda self: self.known)
    @rule()
    def replay_all(self) -> None:
        for parcel in self.known:
            self.heard(parcel, self.site.put(parcel))

    @precondition(lambda self: self.known)
    @rule(place=PLACES)
    def send_other_bytes_under_a_known_identifier(self, place: int) -> None:
        parcel = self.known[place % len(self.known)]
        # Which are counted may depend on the moment of a kill, and what is drawn must not.
        if parcel.report_id in self.counted:
            assert self.site.put(self.site.parcel(like=parcel)) == CONFLICT

    @rule(part=FRACTIONS)
    def drop_the_request(self, part: float) -> None:
        parcel = self.new()
        with self._sent(parcel, part):
            pass

    @rule()
    def drop_the_response(self) -> None:
        parcel = self.new()
        with self._sent(parcel) as line:
            status = int(line.recv(12)[9:])  # it has acted; the worker does not hear it
        self.heard(parcel, status)

    @rule()
    def hang_up_at_once(self) -> None:
        parcel = self.new()
        with self._sent(parcel):
            self.unsure[parcel.report_id] = parcel

    @precondition(lambda self: self.known)
    @rule(place=PLACES)
    def erase(self, place: int) -> None:
        parcel = self.known[place % len(self.known)]
        if parcel.report_id in self.unsure:
            self.heard(parcel, self.site.put(parcel))
        status = self.site.erase(parcel)
        if parcel.report_id in self.erased:
            assert status == TAKEN  # also after the closing: it is so already
        elif parcel.report_id not in self.counted:
            assert status == NOT_THERE
        elif self.is_open:
            assert status == TAKEN
            self.erased.add(parcel.report_id)
            del self.counted[parcel.report_id]
        else:
            assert status == CONFLICT

    @rule(moment=FRACTIONS)
    def kill(self, moment: float) -> None:
        self._end(self.world.server.kill, moment)

    @rule(moment=FRACTIONS)
    def restart_gracefully(self, moment: float) -> None:
        self._end(self.world.server.stop, moment)

    @precondition(lambda self: self.is_here and self.known)
    @rule()
    def back_up_and_restore(self) -> None:
        self.is_here = False  # once in a run: it takes as long as many other steps
        self.world.move()
        self.resolve()

    @precondition(lambda self: self.is_open and len(self.known) > 8)
    @rule()
    def close(self) -> None:
        assert self.world.requester.close(self.site.campaign)["state"] == "closed"
        self.is_open = False

    @invariant()
    def each_counts_once(self) -> None:
        rows = self.world.rows(self.site.campaign)
        perhaps = {row for parcel in self.unsure.values() for row in parcel.rows}
        assert len(rows) == len(set(rows))
        assert sorted(set(rows) - perhaps) == rows_of(self.counted.values())
        if not self.unsure:
            view = self.world.requester.campaign(self.site.campaign)
            count = len(self.counted)
            counts = (view["workers"], view["submissions"], view["reports"])
            assert counts == (count, count, len(rows))

    def teardown(self) -> None:
        self.world.check()

    def _end(self, how: Callable[[], int | None], moment: float) -> None:
        threads, sent = self.send_some()
        wait(sent, timeout=moment * 0.03)
        assert how() in (None, 0)
        self.settle(threads, sent)
        self.world.server.start()
        self.resolve()

    @contextmanager
    def _sent(self, parcel: Parcel, part: float | None = None) -> Iterator[socket.socket]:
        """A line on which a request was sent, or a part of it that is not all."""
        content = parcel.content
        headers = {**self.site.headers(parcel), "Host": "x", "Content-Length": str(len(content))}
        lines = [f"PUT {self.site.path(parcel)} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        request = "\r\n".join([*lines, "", ""]).encode() + content
        if part is not None:
            request = request[: int(part * (len(request) - 1))]
        with socket.create_connection(("127.0.0.1", self.site.port), timeout=30) as line:
            line.sendall(request)
            yield line


def run(forker: Forker, folder: Path, examples: int, steps: int) -> None:
    with ForkedServer(folder, forker) as server:
        world = World(server, forker, folder)
        with world.requester:
            run_state_machine_as_test(
                lambda: Reporting(world),  # type: ignore[arg-type]
                settings=settings(
                    max_examples=examples,
                    stateful_step_count=steps,
                    derandomize=True,
                    deadline=None,
                    database=None,
                    phases=[Phase.generate],  # a failure is shown as it was: servers take time
                    suppress_health_check=list(HealthCheck),
                ),
            )


@pytest.mark.slow
def test_each_acknowledged_report_counts_once(forker: Forker, tmp_path: Path) -> None:
    run(forker, tmp_path, examples=2, steps=16)


@pytest.mark.slow
def test_each_acknowledged_report_counts_once_in_long_runs(forker: Forker, tmp_path: Path) -> None:
    run(forker, tmp_path, examples=25, steps=40)
