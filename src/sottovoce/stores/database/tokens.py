"""Requesters' tokens and the setup secret, in rows: hashes only."""

from __future__ import annotations

from datetime import date

from sqlalchemy import Connection, delete, insert, select
from sqlalchemy.engine import Row

from sottovoce.model import Credential
from sottovoce.stores.database.tables import tokens

__all__ = ["add_token", "all_tokens", "has_token", "remove_setups", "remove_token"]


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
