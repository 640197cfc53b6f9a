"""Delivery of reports: booked once in the ledger, resent unchanged until acknowledged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sottovoce.errors import (
    AlreadyReported,
    DataError,
    Reason,
    Refused,
    SpendRefused,
    Unreachable,
    UsageError,
)
from sottovoce.http_client.connection import Connection
from sottovoce.model import Label, Submission
from sottovoce.worker.answers import spending_for
from sottovoce.worker.enrolment import Enrolment
from sottovoce.worker.ledger import Ledger
from sottovoce.worker.outbox import Outbox, Parcel, Stage

SEALED = "sealed"
"""Shown for a report that nobody can read."""

LATER = frozenset({Reason.BUSY, Reason.UNAVAILABLE})
"""Refusals because of the server's state, not because of the reports."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """An acknowledgement: the server has these reports. The worker can see and delete them.

    `reports` are the sent reports by task; `SEALED` if only keyholders together could read them.
    `replayed` means that the server already had them.
    """

    campaign: str
    report_id: str
    receipt: str = field(repr=False)
    reports: Mapping[str, Label] = field(repr=False)
    replayed: bool = False

    def __len__(self) -> int:
        return len(self.reports)


def booked(parcel: Parcel, enrolment: Enrolment, outbox: Outbox, ledger: Ledger) -> Parcel:
    """Book a parcel in the ledger; if the ledger refuses, the parcel is discarded unseen.

    After an interruption a parcel may have been booked already: the ledger then has its tasks. No
    other process books these tasks, because the campaign is locked while one is drawn.
    """
    if parcel.stage is not Stage.DRAWN:
        return parcel
    if enrolment.policy is None:
        raise DataError("reports are waiting here without their policy", file=str(enrolment.folder))
    spending = spending_for(parcel.tasks, enrolment.policy, enrolment.requester, enrolment.worker)
    try:
        ledger.spend(spending)
    except AlreadyReported:
        pass
    except (SpendRefused, UsageError):
        # The reports were drawn but nobody has seen them.
        outbox.discard(parcel.report_id)
        raise
    parcel = parcel.at(Stage.BOOKED)
    outbox.put(parcel)
    return parcel


def delivered(
    parcel: Parcel, enrolment: Enrolment, outbox: Outbox, connection: Connection, invite: str
) -> Receipt:
    """Send a booked parcel until it is acknowledged. A refused one is kept with the reason."""
    if parcel.stage is Stage.DRAWN:
        raise UsageError("reports can be sent only after their spend is booked")
    try:
        reply = connection.put(
            f"/campaigns/{enrolment.campaign}/reports/{parcel.report_id}",
            content=parcel.content,
            credential=invite,
            headers={
                "Sottovoce-Receipt": enrolment.receipt,
                **({"Sottovoce-Cut-Short": "yes"} if parcel.cut_short else {}),
            },
        )
    except Refused as refused:
        if refused.reason not in LATER:
            outbox.put(parcel.at(Stage.REFUSED, str(refused)))
        raise
    if not isinstance(reply, dict) or reply.get("report_id") != parcel.report_id:
        raise Unreachable(connection.address, reason="its acknowledgement is for other reports")
    outbox.put(parcel.at(Stage.SENT))
    return Receipt(
        enrolment.campaign,
        parcel.report_id,
        enrolment.receipt,
        _sent(parcel, enrolment),
        reply.get("replayed") is True,
    )


def _sent(parcel: Parcel, enrolment: Enrolment) -> dict[str, Label]:
    if enrolment.policy is not None and enrolment.policy.sealed:
        return dict.fromkeys(parcel.tasks, SEALED)
    submission = Submission.parse(parcel.content)
    return dict(zip(submission.tasks, submission.reports, strict=True))
