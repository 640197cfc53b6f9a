"""A service that has received something."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date

from sqlalchemy import insert

from sottovoce import Target, make_policy
from sottovoce.model import Domain, State, Submission, Task, Terms, digest, pseudonym
from sottovoce.server.database import Database
from sottovoce.server.database.campaigns import add_campaign, change_campaign, note_event, set_tasks
from sottovoce.server.database.schema import invites, rejections, results, tokens, webhooks
from sottovoce.server.service import Service

TODAY = date(2026, 3, 1)
TASKS = [Task(f"t{i:02}", f"Is this leaf {i} an oak's? ✓", None) for i in range(20)]
POLICY = make_policy(
    Domain.categorical(["no", "yes"]), "randomized-response", Target(1.0, answers=20)
)


@dataclass(frozen=True, slots=True)
class Sent:
    """A submission as its worker's software keeps it."""

    report_id: str
    receipt: str
    content: bytes


def submission() -> Sent:
    """A worker's reports."""
    receipt = f"svr_{secrets.token_urlsafe(32)}"
    names = tuple(task.name for task in TASKS)
    reports = tuple(secrets.choice(["no", "yes"]) for _ in names)
    sent = Submission(POLICY.hash, pseudonym("leaf", receipt), names, reports)
    return Sent(secrets.token_hex(16), receipt, sent.text().encode())


@contextmanager
def serving(database: Database) -> Iterator[Service]:
    """A service on it; the database stays open."""
    service = Service.on(database, today=lambda: TODAY)
    try:
        yield service
    finally:
        service.writer.close()


def send(service: Service, invite: str, sent: Sent) -> bool:
    """Whether a submission that the service takes had been stored before."""
    admission = service.reception.admission("leaf")
    return asyncio.run(
        service.reception.receive(admission, sent.report_id, invite, sent.receipt, sent.content)
    )


def fill(database: Database, workers: int = 3) -> tuple[str, list[Sent]]:
    """A campaign with something in every table; its invite, and what was sent."""
    invite = f"svi_{secrets.token_urlsafe(32)}"
    with database.writing() as connection:
        stored = add_campaign(connection, "leaf", Terms("Leaf", "Oak?", POLICY), TODAY)
        number = stored.number
        set_tasks(connection, number, TASKS)
        change_campaign(connection, number, state=State.OPEN, opened_on=TODAY)
        kinds = [("open", digest(invite)), ("single", secrets.token_bytes(32))]
        for kind, hidden in kinds:
            row = {"digest": hidden, "campaign": number, "kind": kind}
            connection.execute(insert(invites), row)
        token = {"digest": secrets.token_bytes(32), "kind": "token", "name": "Ada’s laptop"}
        connection.execute(insert(tokens), {**token, "created_on": TODAY.toordinal()})
        hook = {"campaign": number, "id": "h1", "address": "https://example.org/", "secret": "s"}
        connection.execute(insert(webhooks), hook)
        result = {"campaign": number, "sequence": 1, "erasures": 0, "summary": "{}"}
        connection.execute(insert(results), {**result, "content": bytes(range(256))})
        for reason, count in (("not_open", 3), ("bad_credential", 7), ("no_credential", 1)):
            refused = {"campaign": number, "reason": reason, "count": count}
            connection.execute(insert(rejections), refused)
        note_event(connection, "opened", TODAY, "leaf")
    sent = [submission() for _ in range(workers)]
    with serving(database) as service:
        assert not any(send(service, invite, one) for one in sent)
    return invite, sent
