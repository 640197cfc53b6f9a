"""The running service and its parts."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Protocol, TypeVar, cast

from sqlalchemy import Connection

from sottovoce.server.background_jobs import ExportLimit, SampleRunLimit
from sottovoce.server.campaigns.forecasts import Forecaster
from sottovoce.server.campaigns.needs import NeedCache
from sottovoce.server.campaigns.result_cache import ResultCache
from sottovoce.server.campaigns.submissions import Reception, Rejections
from sottovoce.server.database import Database, Writer
from sottovoce.server.sealed.attendance import Attendance

T = TypeVar("T")


class FeaturePart(Protocol):
    """A feature's state in memory while the service runs."""

    def close(self) -> None:
        """Finish pending work, and stop."""


P = TypeVar("P", bound=FeaturePart)


class FeatureParts:
    """The features' parts, one per class."""

    def __init__(self, *made: FeaturePart) -> None:
        self._made: dict[type[FeaturePart], FeaturePart] = {type(each): each for each in made}
        self._lock = threading.Lock()

    def of(self, kind: type[P]) -> P:
        """The part of this class, made on first use."""
        with self._lock:
            if kind not in self._made:
                self._made[kind] = kind()
            return cast(P, self._made[kind])

    def close(self) -> None:
        """Close them all."""
        for each in list(self._made.values()):
            each.close()


def _today() -> date:
    return datetime.now(UTC).date()


@dataclass(frozen=True, slots=True)
class Service:
    """The context of use cases: the database, the writer, and the current day."""

    database: Database
    writer: Writer
    reception: Reception
    today: Callable[[], date]
    result_cache: ResultCache = field(default_factory=ResultCache)
    need_cache: NeedCache = field(default_factory=NeedCache)
    exports: ExportLimit = field(default_factory=ExportLimit)
    rejections: Rejections = field(default_factory=Rejections)
    rehearsals: SampleRunLimit = field(default_factory=SampleRunLimit)
    forecaster: Forecaster = field(default_factory=Forecaster)
    attendance: Attendance = field(default_factory=Attendance)
    parts: FeatureParts = field(default_factory=FeatureParts)

    @classmethod
    def on(cls, database: Database, *, today: Callable[[], date] = _today) -> Service:
        """A service on a database whose schema is this release's."""
        writer = Writer(database)
        return cls(database, writer, Reception(database, writer, today), today)

    def change(self, work: Callable[[Connection], T]) -> T:
        """The outcome of work in a transaction, once durable. Blocks: not for event loops."""
        future: Future[T] = self.writer.change(work)
        return future.result()

    def close(self) -> None:
        """Write pending changes, stop simulations, and close the database."""
        self.parts.close()
        self.forecaster.close()
        self.rehearsals.close()
        self.writer.close()
        self.database.close()
