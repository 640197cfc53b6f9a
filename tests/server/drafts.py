"""Services on a chosen day, and terms to draft campaigns with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date

from sottovoce.mechanisms.policies import Target
from sottovoce.model import Campaign, Domain, Task, Terms
from sottovoce.server.campaigns.drafts import create_draft
from sottovoce.server.campaigns.guarantees import calibrated_policy
from sottovoce.server.database import Database
from sottovoce.server.service import Service

TODAY = date(2031, 5, 7)
LABELS = Domain.categorical(["oak", "birch", "lime"])
TASKS = (Task("t1", "Which tree?"), Task("t2", "And this?"))


@dataclass
class Calendar:
    """A day that tests can change."""

    today: date = TODAY

    def __call__(self) -> date:
        return self.today


@contextmanager
def running(database: Database, calendar: Calendar | None = None) -> Iterator[Service]:
    """A service whose writer ends with the block; the database is its owner's."""
    service = Service.on(database, today=calendar or Calendar())
    yield service
    service.parts.close()
    service.forecaster.close()
    service.writer.close()


def terms(
    *, quota: int | None = None, closes_on: date | None = None, title: str = "Leaves"
) -> Terms:
    policy = calibrated_policy(LABELS, Target(1.0, answers=5))
    return Terms(title, "Which tree is it?", policy, None, quota, closes_on)


def draft(service: Service, *, closes_on: date | None = None) -> Campaign:
    return create_draft(service, terms(closes_on=closes_on), TASKS)
