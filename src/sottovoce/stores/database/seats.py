"""Who holds a share of a sealed campaign's totals, and what the server signs with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update

from sottovoce.stores.database.tables import keyholders, signing_keys

__all__ = ["Seat", "add_signing_key", "all_seats", "find_seat", "note_seen", "set_seats",
           "signing_key"]  # fmt: skip

_COORDINATOR = "coordinator"


@dataclass(frozen=True, slots=True)
class Seat:
    """One keyholder's place in a campaign, and the day on which it was here last."""

    seat: int
    seen_on: int | None


def set_seats(connection: Connection, campaign: int, digests: Sequence[bytes]) -> None:
    """Credentials for the seats 1, 2, … instead of those there were; days stay."""
    before = {each.seat: each.seen_on for each in all_seats(connection, campaign)}
    connection.execute(delete(keyholders).where(keyholders.c.campaign == campaign))
    rows = [
        {"campaign": campaign, "seat": seat, "digest": digest, "seen_on": before.get(seat)}
        for seat, digest in enumerate(digests, 1)
    ]
    connection.execute(insert(keyholders), rows)


def all_seats(connection: Connection, campaign: int) -> list[Seat]:
    """The seats that have a credential, in their order."""
    query = (
        select(keyholders.c.seat, keyholders.c.seen_on)
        .where(keyholders.c.campaign == campaign)
        .order_by(keyholders.c.seat)
    )
    return [Seat(row.seat, row.seen_on) for row in connection.execute(query)]


def find_seat(connection: Connection, campaign: int, digest: bytes) -> Seat | None:
    """The seat of a credential."""
    query = select(keyholders.c.seat, keyholders.c.seen_on).where(
        keyholders.c.campaign == campaign, keyholders.c.digest == digest
    )
    row = connection.execute(query).one_or_none()
    return None if row is None else Seat(row.seat, row.seen_on)


def note_seen(connection: Connection, campaign: int, seat: int, day: int) -> None:
    """The day on which a keyholder was here last."""
    mine = (keyholders.c.campaign == campaign) & (keyholders.c.seat == seat)
    connection.execute(update(keyholders).where(mine).values(seen_on=day))


def signing_key(connection: Connection) -> bytes | None:
    """The server's secret key, if one was made."""
    query = select(signing_keys.c.secret).where(signing_keys.c.name == _COORDINATOR)
    return connection.execute(query).scalar_one_or_none()


def add_signing_key(connection: Connection, secret: bytes, day: int) -> bytes:
    """Keep this key unless there is one: a database has one for good. Which one it has."""
    found = signing_key(connection)
    if found is not None:
        return found
    row = {"name": _COORDINATOR, "secret": secret, "created_on": day}
    connection.execute(insert(signing_keys), row)
    return secret
