"""Invites in rows: hashes only."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from sqlalchemy import Connection, delete, func, select

from sottovoce.stores.database.bulk import insert_many
from sottovoce.stores.database.intake import SINGLE
from sottovoce.stores.database.tables import invites

__all__ = ["OPEN", "SINGLE", "add_invites", "count_invites", "remove_invites"]

OPEN = "open"
"""The kind of an invite that any number of workers may use."""


def add_invites(
    connection: Connection,
    number: int,
    kind: str,
    digests: Iterable[bytes],
    expires_on: date | None,
) -> None:
    """These invites to a campaign from now on."""
    last = None if expires_on is None else expires_on.toordinal()
    insert_many(
        connection,
        invites,
        ("digest", "campaign", "kind", "expires_on"),
        ((digest, number, kind, last) for digest in digests),
    )


def count_invites(connection: Connection, number: int) -> dict[str, tuple[int, int]]:
    """For each kind how many invites there are, and how many of them are a worker's."""
    query = (
        select(invites.c.kind, func.count(), func.count(invites.c.worker))
        .where(invites.c.campaign == number)
        .group_by(invites.c.kind)
    )
    return {kind: (given, used) for kind, given, used in connection.execute(query)}


def remove_invites(connection: Connection, number: int) -> int:
    """End all invites to a campaign; how many there were."""
    return connection.execute(delete(invites).where(invites.c.campaign == number)).rowcount
