"""Invites, requesters' tokens and the setup secret, in rows: hashes only."""

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
"""The kinds of an invite: any number of workers may use it, or one."""


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


def add_token(
    connection: Connection, kind: Credential, digest: bytes, name: str, today: date
) -> None:
    """A token or a setup secret from now on."""
    row = {"digest": digest, "kind": kind.name, "name": name, "created_on": today.toordinal()}
    connection.execute(insert(tokens), row)


def has_token(connection: Connection, kind: Credential, digest: bytes) -> bool:
    """Whether this one is known: one look at the primary key."""
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
    """End every setup secret, and say which there were.

    Of two transactions that ask at the same time, one is told: the other waits for it, and then
    there is none.
    """
    query = delete(tokens).where(tokens.c.kind == Credential.SETUP.name).returning(tokens.c.digest)
    return set(connection.execute(query).scalars())


def remove_token(connection: Connection, start: bytes) -> bool:
    """End the requester's token whose digest starts like this; whether there was one."""
    rest = 32 - len(start)
    query = delete(tokens).where(
        tokens.c.kind == Credential.TOKEN.name,
        tokens.c.digest.between(start + b"\0" * rest, start + b"\xff" * rest),
    )
    return connection.execute(query).rowcount > 0
