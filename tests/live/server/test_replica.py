"""Servers end and begin again, or are several: a session is the same to the byte."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace

import pytest
from tests.live.server.crowds import Clock, Direct, Worker, gathered, go_on
from tests.server.drafts import running

from sottovoce.live.server.active_sessions import ActiveSessions
from sottovoce.live.server.supervision import progress
from sottovoce.server.database import Database
from sottovoce.server.service import FeatureParts, Service

BOTH = pytest.mark.parametrize(
    "database", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)], indirect=True
)


@pytest.fixture
def services(database: Database) -> Iterator[list[Service]]:
    """Two servers on one database."""
    with ExitStack() as stack:
        yield [stack.enter_context(running(database)) for _ in range(2)]


def _at(worker: Worker[Direct], service: Service) -> Worker[Direct]:
    worker.line.service = service
    return worker


def _turns(workers: Sequence[Worker[Direct]], service: Service) -> list[bytes | None]:
    return [_at(worker, service).line.turn() for worker in workers]


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_after_every_event_a_new_server_asks_the_same(database: Database) -> None:
    clock = Clock()
    with running(database) as first:
        before = replace(first, parts=FeatureParts(ActiveSessions(clock)))
        id, workers = gathered(before, threshold=3)
        silent, kept = workers[3], workers[:3]
        for turn in range(1000):
            after = replace(first, parts=FeatureParts(ActiveSessions(clock)))
            assert _turns(workers, after) == _turns(workers, before)
            before.parts.close()
            before = after
            worker = _at(kept[turn % 3], before)
            if worker.ended is not None:
                break
            if not worker.step() and progress(before, id).waiting == (silent.number,):
                clock.now += 60
                progress(before, id)  # whoever looks ends the phase
        assert [worker.ended for worker in kept] == ["done"] * 3
        before.parts.close()


@BOTH
def test_two_servers_on_one_database_agree(services: list[Service]) -> None:
    id, workers = gathered(services[0])
    for turn in range(1000):
        for place, worker in enumerate(workers):
            _at(worker, services[(turn + place) % 2]).step()
        if workers[0].ended is not None:
            break
        assert _turns(workers, services[0]) == _turns(workers, services[1])
    go_on(workers)
    assert [worker.ended for worker in workers] == ["done"] * 4
    assert progress(services[0], id) == progress(services[1], id)


@BOTH
def test_replies_that_reach_two_servers_at_once_are_taken_once(services: list[Service]) -> None:
    id, workers = gathered(services[0])
    with ThreadPoolExecutor(8) as pool:
        while workers[0].ended is None:
            asked = [worker.made() for worker in workers]
            sent = [
                (
                    worker.number,
                    pool.submit(Direct(service, id, worker.line.credential).reply, reply),
                )
                for worker, reply in zip(workers, asked, strict=True)
                if reply is not None
                for service in services
            ]
            taken = [number for number, each in sent if not each.result(20)]
            assert len(taken) == len(set(taken)) == len(sent) / 2
    go_on(workers)
    assert progress(services[1], id).state == "done"
