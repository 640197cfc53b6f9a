"""The process in which the service infers: it reads the database and changes nothing.

A pass over a campaign reads only what is new.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from typing import Any

from cachetools import LRUCache
from sqlalchemy import Connection

from sottovoce.mechanisms.codes import code_type, names_of
from sottovoce.mechanisms.policies import mechanism_of
from sottovoce.server.child_process import Handler, answer_all
from sottovoce.server.database import Database
from sottovoce.server.database.campaigns import Stored, find_campaign, task_names
from sottovoce.server.database.results import Columns, find_content, find_result
from sottovoce.server.database.sealed_campaigns import find_opened
from sottovoce.server.database.stored_reports import packed_after
from sottovoce.server.inference_process.fit import (
    FittedResult,
    GatheredReports,
    fitted,
    fitted_totals,
)

LIMIT = 512 << 20
"""Bytes of reports that are remembered; beyond it, who waited longest is read again in full."""


class ReportCache:
    """What was read of each campaign, so that the next pass reads only what came since."""

    def __init__(self, database: Database, limit: int = LIMIT) -> None:
        self._database = database
        # A campaign's reports are taken out while more are added: their size in here is fixed.
        self._gathered: LRUCache[str, GatheredReports] = LRUCache(limit, lambda each: each.nbytes)

    def infer(self, id: str) -> FittedResult | None:
        """A campaign's truths as of now; None when there is no such campaign."""
        with self._database.reading() as connection:
            stored = find_campaign(connection, id)
            if stored is None:
                self._gathered.pop(id, None)
                return None
            if stored.campaign.terms.policy.sealed:
                return self._opened(connection, stored)
            gathered = self._read(connection, stored)
            before = find_result(connection, stored.number)
            checkpoint = find_content(connection, stored.number) or Columns.none()
        return fitted(gathered, stored, before.summary if before else None, checkpoint)

    def _opened(self, connection: Connection, stored: Stored) -> FittedResult | None:
        """Truths from the totals of a sealed campaign; None until they are opened."""
        found = find_opened(connection, stored.number, stored.campaign.tasks)
        if found is None:
            return None
        return fitted_totals(found, stored, task_names(connection, stored.number))

    def _read(self, connection: Connection, stored: Stored) -> GatheredReports:
        """What there is now. The campaign's own count says whether something was missed."""
        # By identifier: a number may be given again once its campaign is deleted.
        id, counts = stored.campaign.id, stored.campaign.counts
        gathered = self._gathered.pop(id, None)
        if gathered is not None and gathered.erasures == counts.erasures:
            self._add(connection, stored, gathered)
            if len(gathered) == counts.reports:
                self._keep(id, gathered)
                return gathered
        names = names_of(task_names(connection, stored.number))
        gathered = GatheredReports(names, counts.erasures)
        self._add(connection, stored, gathered)
        self._keep(id, gathered)
        return gathered

    def _add(self, connection: Connection, stored: Stored, gathered: GatheredReports) -> None:
        campaign = stored.campaign
        kind = code_type(mechanism_of(campaign.terms.policy).alphabet)
        after = gathered.sequence
        for packed in packed_after(connection, stored.number, after, kind, block=campaign.block):
            gathered.add(packed)

    def _keep(self, id: str, gathered: GatheredReports) -> None:
        with suppress(ValueError):  # more than fits into all of the memory
            self._gathered[id] = gathered


def main() -> None:
    """Infer what the parent asks for, until it goes."""
    answer_all(_inferring)


def _inferring(settings: dict[str, Any]) -> Handler:
    cache = ReportCache(Database.at(settings["database"]))

    def answer(asked: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        outcome = cache.infer(asked["campaign"])
        if outcome is None:
            return {}, b""
        found = outcome.found
        header = {
            "sequence": found.sequence,
            "erasures": found.erasures,
            "summary": asdict(found.summary),
        }
        return header, outcome.content

    return answer
