"""The parts of a running service, put together."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import TypeVar

from sqlalchemy import Connection

from sottovoce.campaign.forecasting import Forecaster
from sottovoce.campaign.live.desks import LiveDesks
from sottovoce.campaign.receiving import Reception
from sottovoce.campaign.rehearsals import Rehearsals
from sottovoce.campaign.rejections import Rejections
from sottovoce.campaign.sealed.attending import Attendance
from sottovoce.campaign.shelf import Shelf
from sottovoce.campaign.slots import Slots
from sottovoce.stores.database import Database, Writer

__all__ = ["Service"]

T = TypeVar("T")


def _today() -> date:
    return datetime.now(UTC).date()


@dataclass(frozen=True, slots=True)
class Service:
    """What use cases need: where everything is kept, who writes, and what day it is."""

    database: Database
    writer: Writer
    reception: Reception
    today: Callable[[], date]
    shelf: Shelf = field(default_factory=Shelf)
    exports: Slots = field(default_factory=Slots)
    rejections: Rejections = field(default_factory=Rejections)
    rehearsals: Rehearsals = field(default_factory=Rehearsals)
    forecaster: Forecaster = field(default_factory=Forecaster)
    attendance: Attendance = field(default_factory=Attendance)
    live: LiveDesks = field(default_factory=LiveDesks)

    @classmethod
    def on(cls, database: Database, *, today: Callable[[], date] = _today) -> Service:
        """A service on a database whose schema is this release's."""
        writer = Writer(database)
        return cls(database, writer, Reception(database, writer, today), today)

    def change(self, work: Callable[[Connection], T]) -> T:
        """The outcome of work in a transaction, once it is durable. Waits: not for event loops."""
        future: Future[T] = self.writer.change(work)
        return future.result()

    def close(self) -> None:
        """Write what waits, end what is simulated, and let go of the database."""
        self.live.close()
        self.forecaster.close()
        self.rehearsals.close()
        self.writer.close()
        self.database.close()
