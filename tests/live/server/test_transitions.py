"""A live session from its first link to its truths, beneath the interface."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from sqlalchemy import select
from tests.live.server.crowds import Clock, Direct, Worker, gathered, go_on
from tests.server.drafts import running

from sottovoce.errors import Reason, Refused
from sottovoce.live.server.active_sessions import ActiveSessions, QueuedReply, sessions_of
from sottovoce.live.server.session_result import transcript, truths_page
from sottovoce.live.server.supervision import list_sessions, progress, remove, stop
from sottovoce.live.server.transitions import look
from sottovoce.securesum.star.server import CoordinatorSession
from sottovoce.server.campaigns.results import Sort
from sottovoce.server.database import Database
from sottovoce.server.database.integrity import check
from sottovoce.server.database.schema import live_events, live_members, live_rounds, live_sessions
from sottovoce.server.service import FeatureParts, Service

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def service(database: Database, clock: Clock) -> Iterator[Service]:
    with running(database) as made:
        patient = replace(made, parts=FeatureParts(ActiveSessions(clock)))
        yield patient
        patient.parts.close()


def _refused(reason: Reason, worker: Worker[Direct], content: bytes) -> str:
    with pytest.raises(Refused) as caught:
        worker.line.reply(content)
    assert caught.value.reason is reason
    return str(caught.value)


def test_a_session_comes_to_its_truths(service: Service) -> None:
    id, workers = gathered(service)
    go_on(workers)
    assert [worker.ended for worker in workers] == ["done"] * 4
    found = progress(service, id)
    assert (found.state, found.joined, found.opened, found.alive) == ("done", 4, 2, (1, 2, 3, 4))
    page = truths_page(service, id)
    assert [(row["task"], row["truth"], row["answers"]) for row in page["truths"]] == [
        ("t1", "yes", 4), ("t2", "no", 4), ("t3", "yes", 4),
    ]  # fmt: skip
    least = truths_page(service, id, limit=1, sort=Sort.CONFIDENCE)
    assert (least["total"], least["truths"]) == (
        3,
        [min(page["truths"], key=lambda row: row["confidence"])],
    )


def test_nothing_of_a_round_that_is_over_is_kept_but_its_totals(service: Service) -> None:
    id, workers = gathered(service)
    go_on(workers)
    with service.database.reading() as connection:
        assert connection.execute(select(live_events)).all() == []
        assert len(connection.execute(select(live_rounds)).all()) == 2
    seen = transcript(service, id)
    assert [(len(each.totals), each.workers) for each in seen.opened] == [(6, 4), (3, 4)]
    assert seen.opened[0].totals.tolist() == [0, 4, 3, 1, 1, 3]
    assert check(service.database) == []


def test_who_falls_silent_is_out_and_the_rest_goes_on(service: Service, clock: Clock) -> None:
    id, workers = gathered(service, threshold=3)
    silent = workers.pop()
    go_on(workers)
    found = progress(service, id)
    assert (found.phase, found.waiting) == ("share", (4,))
    clock.now += 59.9
    go_on(workers)
    assert progress(service, id).waiting == (4,)
    clock.now += 0.2
    go_on(workers)
    assert [worker.ended for worker in workers] == ["done"] * 3
    found = progress(service, id)
    assert (found.state, found.alive) == ("done", (1, 2, 3))
    assert found.excluded == {4: "it did not answer in phase share"}
    silent.made()
    assert silent.ended == "excluded"


def test_a_phase_has_its_own_time(service: Service, clock: Clock) -> None:
    id, workers = gathered(service, threshold=3)
    for worker in [*workers, *workers]:
        clock.now += 12
        worker.step()
    found = progress(service, id)
    assert (found.phase, found.excluded) == ("confirm", {})


def test_below_the_threshold_nothing_is_opened(service: Service, clock: Clock) -> None:
    id, workers = gathered(service, threshold=3)
    rest = workers[:2]
    go_on(rest)
    clock.now += 60
    go_on(rest)
    assert [worker.ended for worker in rest] == ["aborted"] * 2
    found = progress(service, id)
    assert (found.state, found.opened) == ("aborted", 0)
    assert found.reason is not None
    assert set(found.excluded) == {3, 4}
    with pytest.raises(Refused, match="it was aborted"):
        truths_page(service, id)
    assert transcript(service, id).opened == ()


def test_the_same_reply_is_taken_once_however_often_it_comes(service: Service) -> None:
    _, workers = gathered(service)
    first = workers[0]
    first.step()
    assert first.line.reply(first.replies[0])
    go_on(workers)
    assert first.line.reply(first.replies[-1])
    assert "no reply is accepted" in _refused(Reason.NOT_OPEN, first, first.replies[0])


def test_replies_that_are_not_awaited_are_refused(service: Service) -> None:
    id, workers = gathered(service)
    one, two = workers[:2]
    one.step()
    reply = two.made()
    assert reply is not None
    assert "worker 2" in _refused(Reason.MALFORMED, one, reply)
    _refused(Reason.MALFORMED, two, reply[:-1] + bytes([reply[-1] ^ 1]))
    _refused(Reason.MALFORMED, two, b"")
    assert progress(service, id).waiting == (2, 3, 4)
    assert not two.line.reply(reply)


def test_a_reply_that_comes_too_late_is_refused(service: Service, clock: Clock) -> None:
    _, workers = gathered(service, threshold=3)
    late = workers[3]
    reply = late.made()
    assert reply is not None
    for worker in workers[:3]:
        worker.step()
    clock.now += 60
    workers[0].step()
    assert "it is excluded" in _refused(Reason.NOT_OPEN, late, reply)


def test_another_reply_for_the_same_place_is_a_conflict(service: Service) -> None:
    _, workers = gathered(service)
    one = workers[0]
    asked = one.line.turn()
    assert asked is not None
    twin = Worker(one.line, one.answers, one.signing, one.sealing, one.number)
    twin.begin()
    one.step()
    other = twin.session and twin.session.on(asked)
    assert other
    assert "differently" in _refused(Reason.CONFLICT, one, other)


def test_a_session_is_stopped_for_good(service: Service) -> None:
    id, workers = gathered(service)
    workers[0].step()
    stop(service, id)
    stop(service, id)
    go_on(workers)
    assert {worker.ended for worker in workers} == {"aborted"}
    found = progress(service, id)
    assert (found.state, found.reason) == ("aborted", "the requester stopped it")
    assert check(service.database) == []


def test_a_deleted_session_leaves_no_row(service: Service) -> None:
    id, workers = gathered(service)
    workers[0].step()
    remove(service, id)
    with service.database.reading() as connection:
        for table in (live_sessions, live_members, live_events, live_rounds):
            assert connection.execute(select(table)).all() == []
    with pytest.raises(Refused, match="live session does not exist"):
        workers[1].line.turn()
    assert list_sessions(service) == []


def test_a_reply_that_breaks_the_server_holds_up_no_other(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    id, workers = gathered(service)
    replies = [worker.made() for worker in workers]
    honest = CoordinatorSession.take

    def take(session: CoordinatorSession, content: bytes, sender: int) -> bool:
        if sender == 2:
            session.close()  # half of something, before it breaks
            raise RuntimeError("a fault in the server")
        return honest(session, content, sender)

    monkeypatch.setattr(CoordinatorSession, "take", take)
    active = sessions_of(service).session(id)
    items = [
        QueuedReply(worker.number, reply or b"")
        for worker, reply in zip(workers, replies, strict=True)
    ]
    for item in items:
        active.add(item)
    look(service, active)
    assert [items[place].future.result(10) for place in (0, 2, 3)] == [False] * 3
    with pytest.raises(Refused, match="try again later"):
        items[1].future.result(10)
    monkeypatch.undo()
    assert progress(service, id).waiting == (2,)
    assert not workers[1].line.reply(items[1].content)
    assert progress(service, id).phase == "contribute"
