"""The messages of sealed campaigns, in rows: each is there once, as it was signed."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, insert, select

from sottovoce.stores.database.tables import messages

__all__ = ["SERVER", "Key", "add_message", "find_message", "message_keys", "messages_of",
           "series"]  # fmt: skip

SERVER = 0
"""The sender of what the server says; keyholders are 1, 2, …"""


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """What a message is about: of one key there is one message."""

    phase: str
    sender: int
    number: int


def add_message(connection: Connection, campaign: int, key: Key, content: bytes) -> None:
    """Store a message, whose key must be free. The campaign must be held."""
    row = {"phase": key.phase, "sender": key.sender, "number": key.number, "content": content}
    connection.execute(insert(messages), {"campaign": campaign, **row})


def find_message(connection: Connection, campaign: int, key: Key) -> bytes | None:
    """The message of a key."""
    query = select(messages.c.content).where(
        messages.c.campaign == campaign,
        messages.c.phase == key.phase,
        messages.c.sender == key.sender,
        messages.c.number == key.number,
    )
    return connection.execute(query).scalar_one_or_none()


def messages_of(connection: Connection, campaign: int, phase: str, number: int) -> list[bytes]:
    """The messages of a phase about one batch, by sender."""
    query = (
        select(messages.c.content)
        .where(
            messages.c.campaign == campaign,
            messages.c.phase == phase,
            messages.c.number == number,
        )
        .order_by(messages.c.sender)
    )
    return list(connection.execute(query).scalars())


def series(connection: Connection, campaign: int, phase: str, upto: int) -> list[bytes]:
    """What the server said in a phase about all batches up to a number, in their order."""
    query = (
        select(messages.c.content)
        .where(
            messages.c.campaign == campaign,
            messages.c.phase == phase,
            messages.c.sender == SERVER,
            messages.c.number <= upto,
        )
        .order_by(messages.c.number)
    )
    return list(connection.execute(query).scalars())


def message_keys(connection: Connection, campaign: int) -> frozenset[Key]:
    """Which messages there are, without reading them."""
    columns = (messages.c.phase, messages.c.sender, messages.c.number)
    rows = connection.execute(select(*columns).where(messages.c.campaign == campaign))
    return frozenset(Key(*row) for row in rows)
