"""Reports come in: everything is checked, nothing is quoted, and what returns is stored."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from tests.server.drafts import TODAY, Calendar, running

from sottovoce.errors import Reason, Refused
from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.model import Domain, Policy, Submission, Task, Terms, Unit, assigned, pseudonym
from sottovoce.server.campaigns import submissions
from sottovoce.server.campaigns.drafts import create_draft
from sottovoce.server.campaigns.invites import InviteKind, invite
from sottovoce.server.campaigns.lifecycle import close_campaign, delete_campaign, open_campaign
from sottovoce.server.database import Database, upgrade
from sottovoce.server.database.schema import reports
from sottovoce.server.service import Service

LABELS = Domain.categorical(["no", "yes"])
POLICY = make_policy(LABELS, "randomized-response", Target(1.0, answers=3))
RECEIPT, CANARY = "svr_" + "R" * 43, "CANARY"


@pytest.fixture
def service(database: Database) -> Iterator[Service]:
    with running(database, Calendar()) as service:
        yield service


@pytest.fixture
def quick(tmp_path: Path) -> Iterator[Service]:
    """A service on SQLite, for what does not depend on the database."""
    database = Database.at(tmp_path)
    upgrade(database)
    with running(database, Calendar()) as service:
        yield service
    database.close()


class Sender:
    """A worker's software, which does not stop at sending what it should."""

    def __init__(
        self,
        service: Service,
        policy: Policy = POLICY,
        tasks: tuple[str, ...] = ("t1", "t2", "t3"),
        quota: int | None = None,
    ) -> None:
        self.service = service
        terms = Terms("Leaves", "Which?", policy, quota=quota)
        self.id = create_draft(service, terms, [Task(name, "This?") for name in tasks]).id
        open_campaign(service, self.id)
        (link,) = invite(service, self.id, InviteKind.OPEN, public_url="http://x")
        self.invite = link.partition("#")[2]
        self.admission = service.reception.admission(self.id)

    def submission(self, tasks: tuple[str, ...], reports: tuple[Any, ...]) -> Submission:
        worker = pseudonym(self.id, RECEIPT)
        return Submission(self.admission.policy_hash, worker, tasks, reports)

    def put(self, content: str | bytes, report_id: str | None = None, **others: str) -> bool:
        shown = {"invite": self.invite, "receipt": RECEIPT, **others}
        sent = content.encode() if isinstance(content, str) else content
        receiving = self.service.reception.receive(
            self.admission,
            report_id or secrets.token_hex(16),
            shown["invite"],
            shown["receipt"],
            sent,
        )
        return asyncio.run(receiving)

    def refused(self, content: str | bytes, **others: str) -> Refused:
        with pytest.raises(Refused) as refused:
            self.put(content, **others)
        assert CANARY not in str(refused.value)
        return refused.value


def test_what_returns_is_stored_and_again_a_replay(service: Service) -> None:
    sender, id = Sender(service), secrets.token_hex(16)
    text = sender.submission(("t1", "t3"), ("no", "yes")).text()
    assert [sender.put(text, id), sender.put(text, id)] == [False, True]
    with service.database.reading() as connection:
        row = connection.execute(select(reports)).one()
    assert (row.report_id.hex(), row.worker.hex()) == (id, pseudonym(sender.id, RECEIPT))
    assert (row.tasks, row.codes) == (b"\0\0\0\0\2\0\0\0", b"\0\0\0\0\1\0\0\0")
    assert row.day == TODAY.toordinal()


def test_other_bytes_conflict_even_if_they_say_the_same(service: Service) -> None:
    sender, id = Sender(service), secrets.token_hex(16)
    text = sender.submission(("t1",), ("no",)).text()
    sender.put(text, id)
    assert sender.refused(text + " ", report_id=id).reason is Reason.CONFLICT


def test_a_replay_is_acknowledged_after_closing_and_by_a_server_that_just_started(
    service: Service,
) -> None:
    sender, id = Sender(service), secrets.token_hex(16)
    text = sender.submission(("t1",), ("no",)).text()
    sender.put(text, id)
    close_campaign(service, sender.id)
    with running(Database(service.database.url), Calendar()) as other:
        sender.service, sender.admission = other, other.reception.admission(sender.id)
        assert sender.put(text, id)
        assert sender.refused(text).reason is Reason.NOT_OPEN
        other.database.close()


def test_what_is_not_as_it_should_be_is_refused(quick: Service) -> None:
    sender = Sender(quick)
    good = sender.submission(("t1", "t2"), ("no", "yes"))
    refusals = {
        "{" + CANARY: Reason.MALFORMED,
        json.dumps({**good.as_json(), CANARY: 1}): Reason.MALFORMED,
        replace(good, simulated=True).text(): Reason.SIMULATED,
        replace(good, policy_hash=CANARY).text(): Reason.FOREIGN_POLICY,
        replace(good, worker=CANARY).text(): Reason.BAD_CREDENTIAL,
        replace(good, worker="").text(): Reason.BAD_CREDENTIAL,
        replace(good, tasks=(CANARY, "t1")).text(): Reason.NOT_ADMITTED,
        replace(good, reports=("no", CANARY)).text(): Reason.NOT_ADMITTED,
        replace(good, reports=("no", "NULL")).text(): Reason.NOT_ADMITTED,
        replace(good, reports=("no", 1)).text(): Reason.NOT_ADMITTED,
        replace(good, tasks=(), reports=()).text(): Reason.NOT_ADMITTED,
        CANARY * 1000: Reason.OVERSIZE,
    }
    assert [sender.refused(text).reason for text in refusals] == list(refusals.values())
    assert not sender.put(good.text())


@pytest.mark.parametrize(
    "others",
    [{"invite": "svi_" + CANARY}, {"receipt": "svr_" + CANARY}, {"invite": RECEIPT},
     {"receipt": "svi_" + "A" * 43}, {"receipt": "svr_" + "é" * 43},
     {"receipt": "svr_" + "S" * 43}, {"invite": "svi_" + "A" * 43}],
)  # fmt: skip
def test_credentials_are_the_workers_and_the_campaigns(
    quick: Service, others: dict[str, str]
) -> None:
    sender = Sender(quick)
    text = sender.submission(("t1",), ("no",)).text()
    assert sender.refused(text, **others).reason is Reason.BAD_CREDENTIAL


def test_a_worker_reports_on_what_it_was_given(quick: Service) -> None:
    names = tuple(f"t{i}" for i in range(9))
    sender = Sender(quick, tasks=names)
    worker = pseudonym(sender.id, RECEIPT)
    given = {f"t{place}" for place in assigned(sender.id, worker, 9, 3)}
    other = next(name for name in names if name not in given)
    refused = sender.refused(sender.submission((other,), ("no",)).text())
    assert (refused.reason, refused.field) == (Reason.NOT_ADMITTED, "tasks")
    assert not sender.put(sender.submission(tuple(sorted(given)), ("no",) * 3).text())


def test_a_mechanism_that_hides_who_answered_reports_on_all(quick: Service) -> None:
    hiding = make_policy(LABELS, "null-randomized-response", Target(1.0, answers=3))
    sender = Sender(quick, hiding)
    refused = sender.refused(sender.submission(("t1", "t2"), ("no", "NULL")).text())
    assert "a submission must have 3 reports" in str(refused)
    assert not sender.put(sender.submission(("t1", "t2", "t3"), ("no", "NULL", "no")).text())
    again = sender.submission(("t1", "t2", "t3"), ("no", "no", "no"))
    assert sender.refused(again.text()).reason is Reason.ALREADY_REPORTED


def test_a_sample_has_as_many_reports_as_are_sampled(quick: Service) -> None:
    target = Target(4.0, unit=Unit.WORKER, answers=3, sample=2)
    sender = Sender(quick, make_policy(LABELS, "randomized-response", target))
    refused = sender.refused(sender.submission(("t1", "t2", "t3"), ("no", "no", "no")).text())
    assert "1 to 2 reports" in str(refused)
    assert not sender.put(sender.submission(("t1",), ("no",)).text())
    more = sender.submission(("t2",), ("no",)).text()
    assert sender.refused(more).reason is Reason.ALREADY_REPORTED


EMOJI = "🌳" * 100
LONGEST: list[tuple[Policy, Any]] = [
    (make_policy(Domain.categorical(["no", EMOJI]), "randomized-response", Target(1.0, answers=3)),
     EMOJI),
    (make_policy(LABELS, "null-randomized-response", Target(1.0, answers=3)), "NULL"),
    (make_policy(Domain.numeric(-1e90, 1e90, step=1e89), "laplace", Target(20.0, answers=3)),
     -1e90),
    (make_policy(Domain.numeric(0, 1, step=1e-3), "piecewise", Target(1.0, answers=3)), 0.123),
    (make_policy(Domain.numeric(0, 4, step=1), "matrix-factorization", Target(1.0, answers=3)),
     -1.2345678901234567),
    (make_policy(Domain.numeric(0, 4, step=1), "threshold", Target(1.0, answers=3)), "not below"),
]  # fmt: skip


@pytest.mark.parametrize(("policy", "longest"), LONGEST, ids=lambda value: str(value)[:20])
def test_the_longest_submission_is_not_too_long(
    quick: Service, policy: Policy, longest: Any
) -> None:
    names = tuple(sorted(f"{i}{EMOJI}{EMOJI}"[:200] for i in range(3)))
    sender = Sender(quick, policy, names)
    submission = sender.submission(names, (longest,) * 3)
    spaced = json.dumps(submission.as_json(), indent=4)
    assert len(spaced) <= sender.admission.largest <= 2 * len(spaced) + 1000
    assert not sender.put(spaced)


def test_the_longest_subset_is_not_too_long(quick: Service) -> None:
    domain = Domain.categorical([f"label {i}" for i in range(64)])
    policy = make_policy(domain, "subset-selection", Target(0.01, answers=3))
    sender = Sender(quick, policy)
    size = sender.admission.mechanism.size  # type: ignore[union-attr]
    subset = " ".join(str(i) for i in range(64 - size, 64))
    assert not sender.put(sender.submission(("t1", "t2", "t3"), (subset,) * 3).text())


def test_an_oversize_body_is_not_even_read(quick: Service) -> None:
    sender = Sender(quick)
    at_most = b" " * (sender.admission.largest + 1)
    assert sender.refused(at_most[1:]).reason is Reason.MALFORMED
    assert sender.refused(at_most).reason is Reason.OVERSIZE


def test_a_draft_and_nothing_have_no_desk(quick: Service) -> None:
    draft = create_draft(quick, Terms("Leaves", "Which?", POLICY), [Task("t1", "This?")])
    for id, reason in ((draft.id, Reason.NOT_OPEN), ("nothere", Reason.NOT_FOUND)):
        with pytest.raises(Refused) as refused:
            quick.reception.admission(id)
        assert refused.value.reason is reason
        assert quick.reception.known_admission(id) is None


def test_a_campaign_deleted_behind_a_servers_back_is_gone(service: Service) -> None:
    """Its desk is still in memory; no later campaign has its number."""
    sender = Sender(service)
    with running(Database(service.database.url), Calendar()) as other:
        delete_campaign(other, sender.id)
        after = Sender(other)
        other.database.close()
    assert after.admission.number != sender.admission.number
    text = sender.submission(("t1",), ("no",)).text()
    assert sender.refused(text).reason is Reason.NOT_FOUND


def test_desks_in_use_stay_in_memory_and_others_go(
    quick: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submissions, "MOST_ADMISSIONS", 2)
    first, second = Sender(quick).id, Sender(quick).id
    quick.reception.known_admission(first)
    third = Sender(quick).id
    kept = [quick.reception.known_admission(id) is not None for id in (first, second, third)]
    assert kept == [True, False, True]


def test_desks_with_many_tasks_do_not_fill_the_memory(
    quick: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submissions, "MOST_TASKS", 4)
    first, second = Sender(quick).id, Sender(quick).id
    assert quick.reception.known_admission(first) is None
    assert quick.reception.known_admission(second) is not None


def test_servers_on_one_database_keep_the_quota_and_every_promise(service: Service) -> None:
    sender = Sender(service, quota=5)
    receipts = ["svr_" + secrets.token_urlsafe(32) for _ in range(8)]
    others = [Service.on(Database(service.database.url), today=Calendar()) for _ in range(2)]

    async def send(server: Service, receipt: str, task: str) -> str:
        admission = server.reception.admission(sender.id)
        worker = pseudonym(sender.id, receipt)
        content = Submission(admission.policy_hash, worker, (task,), ("no",)).text().encode()
        id = secrets.token_hex(16)
        try:
            await server.reception.receive(admission, id, sender.invite, receipt, content)
        except Refused as refused:
            return refused.reason
        return worker + task

    def hammer(server: Service) -> list[str]:
        async def all_at_once() -> list[str]:
            tasks = ("t1", "t2", "t3")
            sent = [send(server, receipt, task) for task in tasks for receipt in receipts]
            return await asyncio.gather(*sent)

        return asyncio.run(all_at_once())

    with ThreadPoolExecutor(4) as threads:
        outcomes = [said for each in threads.map(hammer, others * 2) for said in each]
    for server in others:
        server.close()
    stored = [said for said in outcomes if len(said) == 34]
    assert len(stored) == len(set(stored)) == 15
    assert len({said[:32] for said in stored}) == 5
    others_said = {Reason(said) for said in outcomes if len(said) != 34}
    assert others_said == {Reason.QUOTA_REACHED, Reason.ALREADY_REPORTED}
    with service.database.reading() as connection:
        rows = connection.execute(select(reports.c.worker, reports.c.tasks)).all()
    assert len(rows) == 15


def test_what_a_submission_says_is_in_no_log(
    quick: Service, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    sender = Sender(quick)
    sender.refused(sender.submission((CANARY,), (CANARY,)).text())
    sender.put(sender.submission(("t1",), ("no",)).text())
    assert CANARY not in caplog.text
    assert RECEIPT not in caplog.text
    assert sender.invite not in caplog.text
