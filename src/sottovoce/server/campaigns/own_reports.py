"""A worker's own reports: shown at any time, deleted while the campaign is open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
from sqlalchemy import Connection

from sottovoce.errors import Reason, Refused
from sottovoce.mechanisms.codes import code_type, written_reports
from sottovoce.model import Credential, Label, pseudonym
from sottovoce.server.campaigns.offers import found_campaign
from sottovoce.server.campaigns.submissions import AnyAdmission
from sottovoce.server.credentials import checked_credential
from sottovoce.server.database.sealed_campaigns import is_batched
from sottovoce.server.database.stored_reports import (
    OwnRow,
    erase_report,
    is_erased,
    own_rows,
    owner_of,
)
from sottovoce.server.sealed.contributions import SealedAdmission
from sottovoce.server.service import Service

SEALED = "sealed"
"""Shown for an answer that only the keyholders together could read."""

BATCHED = (
    "the keyholders have begun to check this contribution together with others, so it can no "
    "longer be deleted; only the sum of all of them, with noise, will be opened"
)


@dataclass(frozen=True, slots=True)
class Returned:
    """One submission as its worker sent it, and the day it arrived.

    Sealed answers are not shown: a contribution lists its tasks, and each report is SEALED.
    """

    report_id: str
    received_on: date
    tasks: tuple[str, ...]
    reports: tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class OwnReports:
    """Everything that a campaign stores of one worker."""

    worker: str
    submissions: Sequence[Returned]


def own_reports(service: Service, id: str, receipt: str) -> OwnReports:
    """Everything that the campaign stores of the worker with this receipt; also after closing."""
    worker = pseudonym(id, checked_credential(receipt, Credential.RECEIPT))
    admission = service.reception.admission(id)
    with service.database.reading() as connection:
        stored = found_campaign(connection, id)
        rows = own_rows(connection, stored.number, bytes.fromhex(worker))
    return OwnReports(worker, [_returned(row, admission) for row in rows])


def erase(service: Service, id: str, receipt: str, report_id: str) -> None:
    """Delete a submission while the campaign is open, exactly once however often it is requested.

    Deleting it again is not an error, even after closing.
    """
    worker = bytes.fromhex(pseudonym(id, checked_credential(receipt, Credential.RECEIPT)))
    identifier = bytes.fromhex(report_id)

    def work(connection: Connection) -> None:
        stored = found_campaign(connection, id, hold=True)
        if is_erased(connection, stored.number, identifier):
            return
        if owner_of(connection, stored.number, identifier) != worker:
            raise Refused(
                Reason.NOT_FOUND, "the campaign has no report of this worker with this identifier"
            )
        if not stored.campaign.takes_reports(service.today()):
            raise Refused(
                Reason.NOT_OPEN, "the campaign is closed; reports can no longer be deleted"
            )
        if stored.campaign.terms.policy.sealed and is_batched(
            connection, stored.number, identifier
        ):
            raise Refused(Reason.NOT_OPEN, BATCHED)
        erase_report(connection, stored.number, identifier)

    service.change(work)


def _returned(row: OwnRow, admission: AnyAdmission) -> Returned:
    day = date.fromordinal(row.day)
    if isinstance(admission, SealedAdmission):
        tasks = admission.tasks_of(row.tasks)
        return Returned(row.report_id.hex(), day, tasks, (SEALED,) * len(tasks))
    alphabet = admission.mechanism.alphabet
    codes = np.frombuffer(row.codes, code_type(alphabet))
    places = np.frombuffer(row.tasks, "<u4").tolist()
    written = written_reports(codes, alphabet, admission.campaign.terms.policy.domain)
    return Returned(
        row.report_id.hex(),
        day,
        tuple(admission.names[place] for place in places),
        tuple(written),
    )
