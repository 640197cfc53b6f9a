"""Refused reports are counted by reason, without a transaction for each of them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import event, select
from tests.server.drafts import Calendar, draft, running

from sottovoce.errors import Reason, Refused
from sottovoce.server.campaigns.lifecycle import delete_campaign
from sottovoce.server.campaigns.rejections import (
    WORDS_OF,
    list_rejections,
    rejection_writer,
    write_rejections,
)
from sottovoce.server.campaigns.submissions import Rejections
from sottovoce.server.database import Database
from sottovoce.server.database.campaigns import number_of
from sottovoce.server.database.schema import rejections
from sottovoce.server.service import Service


@pytest.fixture
def service(database: Database) -> Iterator[Service]:
    with running(database, Calendar()) as service:
        yield service


def refuse(service: Service, id: str, reason: Reason, times: int = 1) -> None:
    with service.database.reading() as connection:
        number = number_of(connection, id)
    assert number is not None
    for _ in range(times):
        service.rejections.count(number, reason)


def counted(service: Service, id: str) -> list[tuple[Reason, int]]:
    return [(one.reason, one.count) for one in list_rejections(service, id)]


def test_counts_are_kept_by_reason_the_most_frequent_first(service: Service) -> None:
    id, other = draft(service).id, draft(service).id
    refuse(service, id, Reason.NOT_OPEN, 2)
    refuse(service, id, Reason.BAD_CREDENTIAL, 5)
    refuse(service, id, Reason.MALFORMED, 2)
    refuse(service, other, Reason.ERASED)
    write_rejections(service)
    assert counted(service, id) == [
        (Reason.BAD_CREDENTIAL, 5), (Reason.MALFORMED, 2), (Reason.NOT_OPEN, 2),
    ]  # fmt: skip
    assert counted(service, other) == [(Reason.ERASED, 1)]


def test_later_counts_are_added_to_earlier_ones(service: Service) -> None:
    id = draft(service).id
    for times in (3, 4):
        refuse(service, id, Reason.CONFLICT, times)
        write_rejections(service)
    assert counted(service, id) == [(Reason.CONFLICT, 7)]


def test_servers_that_count_for_one_campaign_miss_nothing(database: Database) -> None:
    with running(database) as one, running(database) as two:
        id = draft(one).id

        def refuse_and_write(service: Service) -> None:
            for _ in range(10):
                refuse(service, id, Reason.NOT_OPEN, 3)
                write_rejections(service)

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(refuse_and_write, (one, two)))
        assert counted(one, id) == [(Reason.NOT_OPEN, 60)]


def test_nothing_is_written_where_nothing_was_refused(service: Service) -> None:
    commits: list[object] = []
    event.listen(service.database.engine, "commit", commits.append)
    write_rejections(service)
    assert commits == []


def test_ten_thousand_refusals_are_one_transaction(service: Service) -> None:
    id = draft(service).id
    commits: list[object] = []
    event.listen(service.database.engine, "commit", commits.append)
    refuse(service, id, Reason.MALFORMED, 10_000)
    write_rejections(service)
    assert len(commits) == 1
    assert counted(service, id) == [(Reason.MALFORMED, 10_000)]


def test_a_campaign_that_has_gone_takes_its_counts_with_it(service: Service) -> None:
    id, other = draft(service).id, draft(service).id
    refuse(service, id, Reason.NOT_OPEN)
    write_rejections(service)
    refuse(service, id, Reason.NOT_OPEN)
    refuse(service, other, Reason.NOT_OPEN)
    delete_campaign(service, id)
    write_rejections(service)
    assert counted(service, other) == [(Reason.NOT_OPEN, 1)]
    with service.database.reading() as connection:
        assert len(connection.execute(select(rejections)).all()) == 1
    with pytest.raises(Refused, match="campaign does not exist"):
        list_rejections(service, id)


def test_what_could_not_be_written_is_written_later(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = draft(service).id
    refuse(service, id, Reason.NOT_OPEN, 3)

    def fail(*_: object) -> None:
        raise Refused(Reason.UNAVAILABLE, "the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr("sottovoce.server.campaigns.rejections.add_rejections", fail)
        with pytest.raises(Refused, match="disk"):
            write_rejections(service)
    refuse(service, id, Reason.NOT_OPEN)
    write_rejections(service)
    assert counted(service, id) == [(Reason.NOT_OPEN, 4)]


def test_counts_are_written_while_the_server_runs(service: Service) -> None:
    id = draft(service).id
    with rejection_writer(service, pause=0.01):
        refuse(service, id, Reason.NOT_OPEN)
        end = time.monotonic() + 20
        while not counted(service, id):
            assert time.monotonic() < end
            time.sleep(0.01)


def test_counts_are_written_when_the_server_ends(service: Service) -> None:
    id = draft(service).id
    with rejection_writer(service, pause=3600):
        refuse(service, id, Reason.NOT_OPEN, 2)
    assert counted(service, id) == [(Reason.NOT_OPEN, 2)]


def test_a_storage_that_fails_does_not_end_the_counting(
    service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    id = draft(service).id

    def fail(*_: object) -> None:
        raise Refused(Reason.UNAVAILABLE, "the disk is full")

    with rejection_writer(service, pause=0.01):
        with monkeypatch.context() as patch:
            patch.setattr("sottovoce.server.campaigns.rejections.add_rejections", fail)
            refuse(service, id, Reason.NOT_OPEN)
            end = time.monotonic() + 20
            while "storage does not answer" not in caplog.text:
                assert time.monotonic() < end
                time.sleep(0.01)
    assert counted(service, id) == [(Reason.NOT_OPEN, 1)]


def test_memory_is_bounded_and_what_is_known_is_still_counted() -> None:
    held = Rejections(most=2)
    for campaign in range(1_000):
        held.count(campaign, Reason.NOT_OPEN)
    held.count(0, Reason.NOT_OPEN)
    assert dict(held.taken()) == {(0, Reason.NOT_OPEN): 2, (1, Reason.NOT_OPEN): 1}
    assert not held.taken()


def test_every_reason_for_which_a_report_can_be_refused_has_words() -> None:
    others = {Reason.NOT_FOUND, Reason.NOT_A_DRAFT}  # nothing to count for, or not about reports
    assert WORDS_OF.keys() == set(Reason) - others
