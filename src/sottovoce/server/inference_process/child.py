"""The inference process: it reads the database and changes nothing.

A pass over a campaign reads only new reports, and starts from the last fit.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from typing import Any

from cachetools import LRUCache
from sqlalchemy import Connection

from sottovoce.api.known_truths import known_gold
from sottovoce.mechanisms.codes import code_type, names_of
from sottovoce.mechanisms.policies import mechanism_of
from sottovoce.server.child_process import Handler, answer_all
from sottovoce.server.database import Database
from sottovoce.server.database.campaigns import Stored, find_campaign, known_truths, task_names
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
"""The most bytes of cached reports; beyond this the least recently used campaign is dropped."""


class ReportCache:
    """The reports of each campaign, so that the next pass reads only new ones."""

    def __init__(self, database: Database, limit: int = LIMIT) -> None:
        self._database = database
        # A campaign's reports are removed while more are added, so sizes in here are fixed.
        self._gathered: LRUCache[str, GatheredReports] = LRUCache(limit, lambda each: each.nbytes)

    def infer(self, id: str) -> FittedResult | None:
        """A campaign's current truths; None if the campaign does not exist."""
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
        outcome = fitted(gathered, stored, before.summary if before else None, checkpoint)
        self._keep(id, gathered)  # its size has changed
        return outcome

    def _opened(self, connection: Connection, stored: Stored) -> FittedResult | None:
        """Truths from the totals of a sealed campaign; None until they are opened."""
        found = find_opened(connection, stored.number, stored.campaign.tasks)
        if found is None:
            return None
        return fitted_totals(found, stored, task_names(connection, stored.number))

    def _read(self, connection: Connection, stored: Stored) -> GatheredReports:
        """The current reports. The campaign's own count shows whether any were missed."""
        # By identifier: a number may be reused after its campaign is deleted.
        id, counts = stored.campaign.id, stored.campaign.counts
        gathered = self._gathered.pop(id, None)
        if gathered is not None and gathered.erasures == counts.erasures:
            self._add(connection, stored, gathered)
            if len(gathered) == counts.reports:
                return gathered
        names = names_of(task_names(connection, stored.number))
        known = list(known_truths(connection, stored.number).values())
        gold = known_gold(known, stored.campaign.terms.policy.domain) if known else None
        gathered = GatheredReports(names, counts.erasures, known=gold)
        self._add(connection, stored, gathered)
        return gathered

    def _add(self, connection: Connection, stored: Stored, gathered: GatheredReports) -> None:
        campaign = stored.campaign
        kind = code_type(mechanism_of(campaign.terms.policy).alphabet)
        after = gathered.sequence
        for packed in packed_after(connection, stored.number, after, kind, block=campaign.block):
            gathered.add(packed)

    def _keep(self, id: str, gathered: GatheredReports) -> None:
        with suppress(ValueError):  # too large for the cache
            self._gathered[id] = gathered


def main() -> None:
    """Answer the parent's requests until it exits."""
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
