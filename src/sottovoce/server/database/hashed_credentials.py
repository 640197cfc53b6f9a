"""Rows of invites, requesters' tokens and the setup secret: hashes only."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from sqlalchemy import Connection, delete, func, insert, select
from sqlalchemy.engine import Row

from sottovoce.model import Credential
from sottovoce.server.database.postgresql import insert_many
from sottovoce.server.database.schema import invites, tokens

OPEN, SINGLE = "open", "single"
"""The kinds of invites: for any number of workers, or for one."""


@dataclass(slots=True)
class Invite:
    """An invite of a campaign; `worker` is the one that used it, if it is for one."""

    kind: str
    expires_on: int | None
    worker: bytes | None


def find_invite(connection: Connection, campaign: int, digest: bytes) -> Invite | None:
    """The campaign's invite with this digest."""
    query = select(invites.c.kind, invites.c.expires_on, invites.c.worker).where(
        invites.c.campaign == campaign, invites.c.digest == digest
    )
    row = connection.execute(query).one_or_none()
    return None if row is None else Invite(row.kind, row.expires_on, row.worker)


def add_invites(
    connection: Connection,
    number: int,
    kind: str,
    digests: Iterable[bytes],
    expires_on: date | None,
) -> None:
    """Add invites to a campaign."""
    last = None if expires_on is None else expires_on.toordinal()
    insert_many(
        connection,
        invites,
        ("digest", "campaign", "kind", "expires_on"),
        ((digest, number, kind, last) for digest in digests),
    )


def count_invites(connection: Connection, number: int) -> dict[str, tuple[int, int]]:
    """The number of invites of each kind, and how many of them are used."""
    query = (
        select(invites.c.kind, func.count(), func.count(invites.c.worker))
        .where(invites.c.campaign == number)
        .group_by(invites.c.kind)
    )
    return {kind: (given, used) for kind, given, used in connection.execute(query)}


def remove_invites(connection: Connection, number: int) -> int:
    """Delete all invites to a campaign; return their number."""
    return connection.execute(delete(invites).where(invites.c.campaign == number)).rowcount


def add_token(
    connection: Connection, kind: Credential, digest: bytes, name: str, today: date
) -> None:
    """Add a token or a setup secret."""
    row = {"digest": digest, "kind": kind.name, "name": name, "created_on": today.toordinal()}
    connection.execute(insert(tokens), row)


def has_token(connection: Connection, kind: Credential, digest: bytes) -> bool:
    """Whether a token is known: one lookup by primary key."""
    query = select(tokens.c.kind).where(tokens.c.digest == digest)
    return connection.execute(query).scalar() == kind.name


def all_tokens(connection: Connection) -> list[Row[tuple[bytes, str, int]]]:
    """Digest, name and first day of each token, the oldest first; those of a day by name."""
    query = (
        select(tokens.c.digest, tokens.c.name, tokens.c.created_on)
        .where(tokens.c.kind == Credential.TOKEN.name)
        .order_by(tokens.c.created_on, tokens.c.name, tokens.c.digest)
    )
    return list(connection.execute(query))


def remove_setups(connection: Connection) -> set[bytes]:
    """Delete every setup secret and return them.

    Of two concurrent transactions, one gets them: the other waits and then finds none.
    """
    query = delete(tokens).where(tokens.c.kind == Credential.SETUP.name).returning(tokens.c.digest)
    return set(connection.execute(query).scalars())


def remove_token(connection: Connection, start: bytes) -> bool:
    """Delete the token whose digest starts like this; return whether there was one."""
    rest = 32 - len(start)
    query = delete(tokens).where(
        tokens.c.kind == Credential.TOKEN.name,
        tokens.c.digest.between(start + b"\0" * rest, start + b"\xff" * rest),
    )
    return connection.execute(query).rowcount > 0
