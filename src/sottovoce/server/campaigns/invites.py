"""Invites: links that let workers take part, and their QR codes.

Secrets are shown once and stored as hashes. A QR code is an SVG path.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from itertools import groupby

from sqlalchemy import Connection

from sottovoce.errors import NotInstalled, Reason, Refused
from sottovoce.model import Credential, State, digest
from sottovoce.server.credentials import new_secret
from sottovoce.server.database import hashed_credentials as rows
from sottovoce.server.database.campaigns import note_event, the_campaign
from sottovoce.server.service import Service

MOST_INVITES = 100_000
"""The most links per request."""

MOST_CODES = 1000
"""The most QR codes per request: each takes some milliseconds."""


class InviteKind(StrEnum):
    """Whether a link is for any number of workers or for one."""

    OPEN = rows.OPEN
    SINGLE = rows.SINGLE


@dataclass(frozen=True, slots=True)
class InviteCounts:
    """Open links, links for one worker, and how many of the latter were used."""

    open: int
    single: int
    used: int


def invite(
    service: Service,
    id: str,
    kind: InviteKind,
    *,
    public_url: str,
    count: int = 1,
    expires_on: date | None = None,
) -> list[str]:
    """New links to a campaign. The secret is after the #, which browsers do not send.

    `expires_on` is the first day (UTC) on which a link no longer works.
    """
    _check(kind, count, expires_on, service.today())
    secrets = [new_secret(Credential.INVITE) for _ in range(count)]
    digests = [digest(secret) for secret in secrets]  # computed before, to keep the writer free

    def work(connection: Connection) -> None:
        stored = the_campaign(connection, id, hold=True)
        if stored.campaign.state is State.CLOSED:
            raise Refused(Reason.NOT_OPEN, "the campaign is closed; nobody can be invited to it")
        if stored.campaign.simulated:
            raise Refused(
                Reason.SIMULATED, "the campaign is simulated; nobody can be invited to it"
            )
        rows.add_invites(connection, stored.number, kind, digests, expires_on)

    service.change(work)
    page = f"{public_url.rstrip('/')}/c/{id}"
    return [f"{page}#{secret}" for secret in secrets]


def count_invites(service: Service, id: str) -> InviteCounts:
    """Count the links, and those that are used."""
    with service.database.reading() as connection:
        counts = rows.count_invites(connection, the_campaign(connection, id).number)
    single, used = counts.get(rows.SINGLE, (0, 0))
    return InviteCounts(counts.get(rows.OPEN, (0, 0))[0], single, used)


def revoke_invites(service: Service, id: str) -> int:
    """Revoke all links to a campaign, including used ones; return their number. Reports stay."""

    def work(connection: Connection) -> int:
        stored = the_campaign(connection, id, hold=True)
        note_event(connection, "invites.revoked", service.today(), id)
        return rows.remove_invites(connection, stored.number)

    return service.change(work)


def _check(kind: InviteKind, count: int, expires_on: date | None, today: date) -> None:
    if not 1 <= count <= MOST_INVITES:
        raise Refused(
            Reason.MALFORMED, f"request 1 to {MOST_INVITES:,} links at once", field="count"
        )
    if kind is InviteKind.OPEN and count != 1:
        raise Refused(
            Reason.MALFORMED,
            "one open link serves all workers; request 1, or links of the kind single",
            field="count",
        )
    if expires_on is not None and expires_on <= today:
        raise Refused(
            Reason.MALFORMED,
            f"links that expire on {expires_on} would never work; choose a later day",
            field="expires_on",
        )


@dataclass(frozen=True, slots=True)
class QrCode:
    """A square QR code: its modules per side, and the dark ones as an SVG path in module units.

    The quiet zone is not included: leave a light border of four modules.
    """

    size: int
    path: str


def qr_code(text: str) -> QrCode:
    """The QR code of a text, with error correction M: readable with up to 15 % damage.

    >>> code = qr_code("https://answers.example/c/k7f3q2mzab#svi_secret")
    >>> code.size, code.path[:20]
    (33, 'M0 0h7v1h-7zM8 0h1v1')
    """
    try:
        import segno
    except ModuleNotFoundError:
        raise NotInstalled("segno", purpose="a QR code", extra="server") from None

    matrix = segno.make_qr(text, error="m", boost_error=False).matrix
    rows = (_runs(y, row) for y, row in enumerate(matrix))
    return QrCode(len(matrix), "".join(path for row in rows for path in row))


def _runs(y: int, row: Sequence[int]) -> Iterator[str]:
    """Each run of dark modules in a row as a rectangle."""
    x = 0
    for is_dark, run in groupby(row):
        length = len(list(run))
        if is_dark:
            yield f"M{x} {y}h{length}v1h-{length}z"
        x += length
