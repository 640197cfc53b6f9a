"""A worker sees exactly what it sent, and takes it back exactly once."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import pytest
from sqlalchemy import insert, select

from sottovoce.errors import Reason, Refused
from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.model import (
    Counts,
    Domain,
    Label,
    Policy,
    State,
    Submission,
    Task,
    Terms,
    digest,
    pseudonym,
)
from sottovoce.server.campaigns.own_reports import erase, own_reports
from sottovoce.server.database import Database, upgrade
from sottovoce.server.database.campaigns import (
    add_campaign,
    change_campaign,
    find_campaign,
    set_tasks,
)
from sottovoce.server.database.schema import erased, invites
from sottovoce.server.service import Service

TODAY = date(2026, 11, 16)
YES_NO = Domain.categorical(["no", "yes"])
POLICY = make_policy(YES_NO, "randomized-response", Target(1.0, answers=9))
INVITE = "svi_" + "A" * 43
RECEIPT, OTHER = "svr_" + "R" * 43, "svr_" + "Q" * 43


def opened(database: Database, policy: Policy) -> Service:
    with database.writing() as connection:
        stored = add_campaign(connection, "leaf0", Terms("Leaf", "Oak?", policy), TODAY)
        set_tasks(connection, stored.number, [Task(f"t{i}", "is it?") for i in range(9)])
        change_campaign(connection, stored.number, state=State.OPEN)
        row = {"digest": digest(INVITE), "campaign": stored.number, "kind": "open"}
        connection.execute(insert(invites), row)
    return Service.on(database, today=lambda: TODAY)


@pytest.fixture
def service(database: Database) -> Iterator[Service]:
    made = opened(database, POLICY)
    yield made
    made.close()


def send(
    service: Service, tasks: tuple[str, ...], reports: tuple[Label, ...], receipt: str = RECEIPT
) -> str:
    id = secrets.token_hex(16)
    assert put(service, id, tasks, reports, receipt) is None
    return id


def put(
    service: Service,
    id: str,
    tasks: tuple[str, ...],
    reports: tuple[Label, ...],
    receipt: str = RECEIPT,
) -> Reason | None:
    admission = service.reception.admission("leaf0")
    worker = pseudonym("leaf0", receipt)
    content = Submission(admission.policy_hash, worker, tasks, reports).text().encode()
    try:
        asyncio.run(service.reception.receive(admission, id, INVITE, receipt, content))
    except Refused as refused:
        return refused.reason
    return None


def counts(service: Service) -> Counts:
    with service.database.reading() as connection:
        stored = find_campaign(connection, "leaf0")
    assert stored is not None
    return stored.campaign.counts


def close(service: Service) -> None:
    with service.database.writing() as connection:
        stored = find_campaign(connection, "leaf0")
        assert stored is not None
        change_campaign(connection, stored.number, state=State.CLOSED)


def refusal(call: Callable[..., object], *arguments: object) -> Reason:
    with pytest.raises(Refused) as caught:
        call(*arguments)
    return caught.value.reason


def test_a_worker_sees_its_own_reports_and_no_others(service: Service) -> None:
    id = send(service, ("t1", "t4"), ("no", "yes"))
    send(service, ("t2",), ("no",), OTHER)
    own = own_reports(service, "leaf0", RECEIPT)
    assert own.worker == pseudonym("leaf0", RECEIPT)
    (only,) = own.submissions
    assert (only.report_id, only.received_on) == (id, TODAY)
    assert (only.tasks, only.reports) == (("t1", "t4"), ("no", "yes"))


@pytest.mark.parametrize(
    ("domain", "mechanism", "reports"),
    [
        (Domain.ordinal([1, 2, 3]), "randomized-response", (2, 3)),
        (Domain.numeric(0, 1, 0.1), "laplace", (0.3, -0.7)),
        (Domain.categorical("abcdef"), "subset-selection", None),
    ],
    ids=["integers", "numbers", "subsets"],
)  # fmt: skip
def test_reports_are_shown_as_they_were_sent(
    tmp_path: Path, domain: Domain, mechanism: str, reports: tuple[Label, ...] | None
) -> None:
    database = Database.at(tmp_path)
    upgrade(database)
    service = opened(database, make_policy(domain, mechanism, Target(1.0, answers=9)))
    try:
        if reports is None:
            size = service.reception.admission("leaf0").mechanism.size  # type: ignore[union-attr]
            subset = " ".join(map(str, range(size)))
            reports = (subset, subset)
        send(service, ("t1", "t2"), reports)
        (only,) = own_reports(service, "leaf0", RECEIPT).submissions
        assert only.reports == reports
        assert list(map(type, only.reports)) == list(map(type, reports))
    finally:
        service.close()


def test_a_stranger_has_no_reports(service: Service) -> None:
    assert own_reports(service, "leaf0", OTHER).submissions == []
    assert refusal(own_reports, service, "leaf0", "svr_x") is Reason.BAD_CREDENTIAL
    assert refusal(own_reports, service, "leaf0", INVITE) is Reason.BAD_CREDENTIAL
    assert refusal(own_reports, service, "nothere", RECEIPT) is Reason.NOT_FOUND


def test_what_is_taken_back_is_gone_and_no_longer_counted(service: Service) -> None:
    first, second = send(service, ("t1", "t2"), ("no", "no")), send(service, ("t3",), ("no",))
    erase(service, "leaf0", RECEIPT, first)
    assert counts(service) == Counts(workers=1, submissions=1, reports=1, erasures=1)
    erase(service, "leaf0", RECEIPT, second)
    assert counts(service) == Counts(workers=0, submissions=0, reports=0, erasures=2)
    assert own_reports(service, "leaf0", RECEIPT).submissions == []


def test_taking_back_again_changes_nothing_even_after_the_closing(service: Service) -> None:
    id = send(service, ("t1",), ("no",))
    erase(service, "leaf0", RECEIPT, id)
    close(service)
    erase(service, "leaf0", RECEIPT, id)
    assert counts(service).erasures == 1


def test_what_was_taken_back_is_not_stored_again(service: Service) -> None:
    id = send(service, ("t1",), ("no",))
    erase(service, "leaf0", RECEIPT, id)
    assert put(service, id, ("t1",), ("no",)) is Reason.ERASED


def test_nobody_takes_back_what_is_not_theirs(service: Service) -> None:
    id = send(service, ("t1",), ("no",))
    assert refusal(erase, service, "leaf0", OTHER, id) is Reason.NOT_FOUND
    assert refusal(erase, service, "leaf0", RECEIPT, "0" * 32) is Reason.NOT_FOUND
    assert refusal(erase, service, "leaf0", "svr_x", id) is Reason.BAD_CREDENTIAL
    assert counts(service).submissions == 1


def test_after_the_closing_nothing_is_taken_back_and_everything_is_shown(service: Service) -> None:
    id = send(service, ("t1",), ("no",))
    close(service)
    assert refusal(erase, service, "leaf0", RECEIPT, id) is Reason.NOT_OPEN
    assert len(own_reports(service, "leaf0", RECEIPT).submissions) == 1


def test_of_many_who_take_back_at_once_one_counts(service: Service) -> None:
    ids = [send(service, (f"t{i}",), ("no",)) for i in range(4)]
    # A second server on the same database, where there can be one.
    others = [service]
    if not service.database.is_sqlite:
        others.append(Service.on(Database(service.database.url), today=lambda: TODAY))
    with ThreadPoolExecutor(16) as pool:
        calls = [
            pool.submit(erase, other, "leaf0", RECEIPT, id) for id in ids for other in others * 8
        ]
        for call in calls:
            call.result()
    for other in others[1:]:
        other.close()
    assert counts(service) == Counts(erasures=4)
    with service.database.reading() as connection:
        assert len(connection.execute(select(erased)).all()) == 4
