"""Checks of a submission in the database: each is stored once, or refused for a reason."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, delete, insert, select, text
from tests.server.database.intake_batches import (
    SINGLE_INVITE,
    TODAY,
    add,
    another,
    counted,
    recounted,
    submission,
)

from sottovoce.errors import Reason
from sottovoce.model import Counts, State
from sottovoce.server.database import Database, Intake, upgrade
from sottovoce.server.database.campaigns import change_campaign, delete_campaign
from sottovoce.server.database.intake import REPLAYED, STORED, IntakeOutcome, take
from sottovoce.server.database.schema import campaigns, erased, invites, reports


@pytest.fixture
def connection(database: Database) -> Iterator[Connection]:
    """A transaction in an empty database."""
    with database.writing() as connection:
        yield connection


def one(connection: Connection, intake: Intake) -> IntakeOutcome:
    (outcome,) = take(connection, [intake])
    return outcome


def refused(reason: Reason) -> IntakeOutcome:
    return IntakeOutcome(reason)


def test_a_submission_is_stored_as_it_came(connection: Connection) -> None:
    sent = submission(add(connection), (2, 5))
    assert one(connection, sent) == STORED
    row = connection.execute(select(reports)).one()
    assert (row.report_id, row.worker, row.digest) == (sent.report_id, sent.worker, sent.digest)
    assert (row.tasks, row.codes, row.day) == (sent.tasks, sent.codes, TODAY.toordinal())


def test_the_same_bytes_again_are_a_replay(connection: Connection) -> None:
    sent = submission(add(connection))
    assert [one(connection, sent) for _ in range(3)] == [STORED, REPLAYED, REPLAYED]
    assert recounted(connection, sent.campaign) == Counts(1, 1, 2) == counted(connection)


def test_the_same_bytes_twice_in_a_batch_are_stored_once(connection: Connection) -> None:
    sent = submission(add(connection))
    assert take(connection, [sent, sent, sent]) == [STORED, REPLAYED, REPLAYED]
    assert recounted(connection, sent.campaign) == Counts(1, 1, 2) == counted(connection)


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("field", ["digest", "worker"])
def test_other_bytes_under_the_same_identifier_conflict(
    connection: Connection, together: bool, field: str
) -> None:
    sent = submission(add(connection))
    changed: dict[str, Any] = {field: secrets.token_bytes(16)}
    other = replace(sent, **changed)
    if together:
        outcomes = take(connection, [sent, other])
    else:
        outcomes = [one(connection, sent), one(connection, other)]
    assert outcomes == [STORED, refused(Reason.CONFLICT)]
    assert connection.execute(select(reports.c.digest)).scalars().all() == [sent.digest]


def test_identifiers_of_another_campaign_are_others(connection: Connection) -> None:
    here = submission(add(connection))
    there = replace(here, campaign=add(connection, "tree"), invite=b"tree" + b"o" * 32)
    assert take(connection, [here, there]) == [STORED, STORED]


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize(
    ("tasks", "outcome"),
    [((2,), STORED), ((0,), refused(Reason.ALREADY_REPORTED)),
     ((1, 2), refused(Reason.ALREADY_REPORTED)),
     ((2, 3), refused(Reason.ALREADY_REPORTED))],
    ids=["another task", "the same task", "one of them the same", "more than promised"],
)  # fmt: skip
def test_a_worker_reports_a_task_once_and_no_more_than_promised(
    connection: Connection, tasks: tuple[int, ...], outcome: IntakeOutcome, together: bool
) -> None:
    first = submission(add(connection), (0, 1))
    second = submission(first.campaign, tasks, worker=first.worker)
    batches = [[first, second]] if together else [[first], [second]]
    outcomes = [outcome for batch in batches for outcome in take(connection, batch)]
    assert outcomes == [STORED, outcome]
    assert counted(connection) == recounted(connection, first.campaign)


def test_the_promise_holds_over_many_submissions(connection: Connection) -> None:
    number, worker = add(connection), secrets.token_bytes(16)
    outcomes = [one(connection, submission(number, (i,), worker=worker)) for i in range(5)]
    assert outcomes == [STORED] * 3 + [refused(Reason.ALREADY_REPORTED)] * 2


def test_what_goes_out_whole_goes_out_once(connection: Connection) -> None:
    first = submission(add(connection), (0,), whole=True)
    second = submission(first.campaign, (1,), worker=first.worker, whole=True)
    assert take(connection, [first, second]) == [STORED, refused(Reason.ALREADY_REPORTED)]


@pytest.mark.parametrize("together", [True, False])
def test_the_quota_is_of_workers(connection: Connection, together: bool) -> None:
    first = submission(add(connection, quota=2), (0,))
    second, third = another(first), another(first)
    more = submission(first.campaign, (1,), worker=first.worker)
    sent = [first, second, third, more]
    outcomes = (
        take(connection, sent) if together else [one(connection, each) for each in sent]
    )  # fmt: skip
    assert outcomes == [STORED, STORED, refused(Reason.QUOTA_REACHED), STORED]
    assert counted(connection) == Counts(2, 3, 3) == recounted(connection, first.campaign)


@pytest.mark.parametrize("together", [True, False])
def test_a_single_invite_is_for_one_worker(connection: Connection, together: bool) -> None:
    first = submission(add(connection), (0,), invite=b"leaf" + SINGLE_INVITE)
    other = another(first)
    more = submission(first.campaign, (1,), worker=first.worker, invite=first.invite)
    sent = [first, other, more]
    outcomes = (
        take(connection, sent) if together else [one(connection, each) for each in sent]
    )  # fmt: skip
    assert outcomes == [STORED, refused(Reason.INVITE_USED), STORED]
    used = connection.execute(select(invites.c.worker).where(invites.c.digest == first.invite))
    assert used.scalar_one() == first.worker


def test_a_refused_report_does_not_use_an_invite_up(connection: Connection) -> None:
    number = add(connection, quota=1)
    assert one(connection, submission(number)) == STORED
    late = submission(number, invite=b"leaf" + SINGLE_INVITE)
    assert one(connection, late) == refused(Reason.QUOTA_REACHED)
    assert connection.execute(select(invites.c.worker)).scalars().all() == [None, None]


def test_an_invite_opens_its_own_campaign_only(connection: Connection) -> None:
    number = add(connection)
    add(connection, "tree")
    sent = [submission(number, invite=invite) for invite in (b"tree" + b"o" * 32, b"?" * 32)]
    assert take(connection, sent) == [refused(Reason.BAD_CREDENTIAL)] * 2


def test_an_invite_expires_at_the_start_of_its_day(connection: Connection) -> None:
    today = submission(add(connection, expires_on=TODAY + timedelta(1)))
    tomorrow = replace(another(today), day=today.day + 1)
    assert take(connection, [today, tomorrow]) == [STORED, refused(Reason.INVITE_EXPIRED)]


def test_a_campaign_closes_at_the_start_of_its_day(connection: Connection) -> None:
    today = submission(add(connection, closes_on=TODAY + timedelta(1)))
    tomorrow = replace(another(today), day=today.day + 1)
    assert take(connection, [today, tomorrow]) == [STORED, refused(Reason.NOT_OPEN)]


@pytest.mark.parametrize("state", [State.DRAFT, State.CLOSED])
def test_what_is_not_open_takes_nothing_new(connection: Connection, state: State) -> None:
    sent = submission(add(connection))
    change_campaign(connection, sent.campaign, state=state)
    assert one(connection, sent) == refused(Reason.NOT_OPEN)


def test_a_replay_is_acknowledged_after_closing(connection: Connection) -> None:
    sent = submission(add(connection))
    assert one(connection, sent) == STORED
    change_campaign(connection, sent.campaign, state=State.CLOSED)
    assert one(connection, sent) == REPLAYED
    assert one(connection, another(sent)) == refused(Reason.NOT_OPEN)


def test_what_was_taken_back_stays_away(connection: Connection) -> None:
    sent = submission(add(connection))
    connection.execute(insert(erased), {"campaign": sent.campaign, "report_id": sent.report_id})
    connection.execute(campaigns.update().values(erasures=1))
    assert take(connection, [sent, another(sent)]) == [refused(Reason.ERASED), STORED]


def test_a_deleted_campaign_is_not_there_and_others_go_on(connection: Connection) -> None:
    sent = submission(add(connection))
    other = replace(another(sent), campaign=add(connection, "tree"), invite=b"tree" + b"o" * 32)
    delete_campaign(connection, sent.campaign)
    outcomes = take(connection, [sent, other, another(sent)])
    assert outcomes == [refused(Reason.NOT_FOUND), STORED, refused(Reason.NOT_FOUND)]


def test_a_deleted_campaigns_number_is_given_to_no_other(connection: Connection) -> None:
    sent = submission(add(connection))
    delete_campaign(connection, sent.campaign)
    assert add(connection, "tree") > sent.campaign
    assert one(connection, sent) == refused(Reason.NOT_FOUND)


def test_what_is_after_a_report_is_newer(connection: Connection) -> None:
    sent = submission(add(connection))
    take(connection, [sent])
    (last,) = connection.execute(select(reports.c.sequence)).scalars()
    connection.execute(delete(reports))
    take(connection, [another(sent)])
    assert connection.execute(select(reports.c.sequence)).scalar_one() > last


def test_a_large_batch_is_stored_in_its_order(connection: Connection) -> None:
    first = submission(add(connection), range(3))
    sent = [first, *(another(first) for _ in range(255))]
    assert take(connection, sent) == [STORED] * 256
    assert take(connection, sent) == [REPLAYED] * 256
    stored = connection.execute(select(reports.c.report_id).order_by(reports.c.sequence)).scalars()
    assert stored.all() == [each.report_id for each in sent]
    assert counted(connection) == Counts(256, 256, 768) == recounted(connection, first.campaign)


def test_sqlite_finds_what_is_stored_by_index(tmp_path: Path) -> None:
    database = Database.at(tmp_path)
    upgrade(database)
    with database.reading() as connection:
        for column in ("report_id", "worker"):
            query = f"SELECT * FROM reports WHERE campaign = 1 AND {column} IN (1, 2)"
            (plan,) = connection.execute(text(f"EXPLAIN QUERY PLAN {query}")).all()
            assert f"campaign=? AND {column}=?" in plan.detail
    database.close()


@given(
    sent=st.lists(
        st.tuples(
            st.integers(0, 4), st.integers(0, 3), st.sets(st.integers(0, 3), min_size=1),
            st.booleans(), st.integers(0, 1),
        ),
        max_size=12,
    ),
    cuts=st.sets(st.integers(1, 11)),
)  # fmt: skip
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],  # rolled back after each
)
def test_how_submissions_are_batched_changes_nothing(
    database: Database,
    sent: list[tuple[int, int, set[int], bool, int]],
    cuts: set[int],
) -> None:
    """Few identifiers, workers and tasks, so that everything clashes with everything."""

    def intakes(number: int) -> list[Intake]:
        return [
            replace(
                submission(number, sorted(tasks), worker=bytes([worker]) * 16),
                report_id=bytes([id]) * 16,
                invite=b"leaf" + (SINGLE_INVITE if single else b"o" * 32),
                digest=bytes([id, worker, content]) + np.array(sorted(tasks), "<u4").tobytes(),
            )
            for id, worker, tasks, single, content in sent
        ]

    def run(cuts: list[int]) -> tuple[list[IntakeOutcome], Counts]:
        with database.engine.connect() as connection, connection.begin() as transaction:
            number = add(connection, quota=3)
            given = intakes(number)
            ends = [*cuts, len(given)]
            batches = [given[a:b] for a, b in zip([0, *cuts], ends, strict=True) if a < b]
            outcomes = [outcome for batch in batches for outcome in take(connection, batch)]
            assert counted(connection) == recounted(connection, number)
            seen = counted(connection)
            transaction.rollback()
        return outcomes, seen

    together = run(sorted(cut for cut in cuts if cut < len(sent)))
    assert together == run(list(range(1, len(sent))))
    assert together[1].workers <= 3
