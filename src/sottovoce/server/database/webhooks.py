"""Rows of webhooks and their queued deliveries."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from sottovoce.server.database.schema import deliveries, webhooks

KEPT = 20
"""The most finished deliveries kept per webhook."""

LEASE = 60
"""Seconds after which a delivery whose sender died can be claimed again."""


class DeliveryState(StrEnum):
    """The state of a delivery."""

    WAITING = "waiting"
    SENDING = "sending"
    DONE = "done"
    GIVEN_UP = "given_up"


OVER = (DeliveryState.DONE, DeliveryState.GIVEN_UP)


@dataclass(frozen=True, slots=True)
class Delivery:
    """One event for one webhook. The id lets a receiver drop duplicates."""

    number: int
    id: str
    event: str
    state: DeliveryState
    attempts: int
    address: str
    body: str
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Webhook:
    """A webhook and its deliveries, newest first."""

    id: str
    address: str
    deliveries: tuple[Delivery, ...] = ()


_delivery = select(
    deliveries.c.number,
    deliveries.c.id,
    deliveries.c.event,
    deliveries.c.state,
    deliveries.c.attempts,
    webhooks.c.address,
    deliveries.c.body,
    webhooks.c.secret,
).join(webhooks, webhooks.c.number == deliveries.c.webhook)


def add_webhook(connection: Connection, campaign: int, address: str, secret: str) -> str:
    """Add a webhook; return its identifier."""
    id = secrets.token_hex(8)
    row = {"campaign": campaign, "id": id, "address": address, "secret": secret}
    connection.execute(insert(webhooks), row)
    return id


def webhooks_of(connection: Connection, campaign: int) -> list[Webhook]:
    """A campaign's webhooks, the oldest first."""
    query = select(webhooks).where(webhooks.c.campaign == campaign).order_by(webhooks.c.number)
    return [
        Webhook(row.id, row.address, tuple(_latest(connection, row.number)))
        for row in connection.execute(query).all()
    ]


def remove_webhook(connection: Connection, campaign: int, id: str) -> bool:
    """Remove a webhook and its waiting deliveries; return whether it existed."""
    chosen = delete(webhooks).where(webhooks.c.campaign == campaign, webhooks.c.id == id)
    return connection.execute(chosen).rowcount > 0


def book(
    connection: Connection, campaign: int, event: str, content: Mapping[str, Any], now: int
) -> int:
    """Queue a delivery for each webhook of the campaign; return their number."""
    chosen = select(webhooks.c.number).where(webhooks.c.campaign == campaign)
    numbers = connection.execute(chosen.order_by(webhooks.c.number)).scalars().all()
    for number in numbers:
        id = secrets.token_hex(16)
        row = {
            "webhook": number,
            "event": event,
            "id": id,
            "body": json.dumps({"event": event, "id": id, **content}),
            "attempts": 0,
            "due": now,
            "state": DeliveryState.WAITING,
        }
        connection.execute(insert(deliveries), row)
        _forget_old(connection, number)
    return len(numbers)


def claim(connection: Connection, now: int, most: int) -> list[Delivery]:
    """Claim due deliveries until the lease ends.

    Servers that share a PostgreSQL skip deliveries that another is claiming.
    """
    due = (
        _delivery.where(deliveries.c.state.not_in(OVER), deliveries.c.due <= now)
        .order_by(deliveries.c.due, deliveries.c.number)
        .limit(most)
        .with_for_update(skip_locked=True, of=deliveries)
    )
    claimed = [_read(row) for row in connection.execute(due)]
    if claimed:
        numbers = [delivery.number for delivery in claimed]
        _set(connection, numbers, state=DeliveryState.SENDING, due=now + LEASE)
    return claimed


def next_due(connection: Connection) -> int | None:
    """When the next delivery is due, in seconds since 1970."""
    chosen = select(func.min(deliveries.c.due)).where(deliveries.c.state.not_in(OVER))
    due: int | None = connection.execute(chosen).scalar_one()
    return due


def settle(
    connection: Connection, number: int, attempts: int, state: DeliveryState, due: int = 0
) -> None:
    """Store the outcome of an attempt. The time of a finished delivery is not kept."""
    _set(connection, [number], attempts=attempts, state=state, due=due)


def put_back(connection: Connection, now: int, numbers: Iterable[int] | None = None) -> None:
    """Make claimed deliveries due again after sending was stopped.

    All of them if none are named: for the only server on a database.
    """
    chosen = update(deliveries).where(deliveries.c.state == DeliveryState.SENDING)
    if numbers is not None:
        chosen = chosen.where(deliveries.c.number.in_(list(numbers)))
    connection.execute(chosen.values(state=DeliveryState.WAITING, due=now))


def _latest(connection: Connection, webhook: int) -> list[Delivery]:
    query = _delivery.where(deliveries.c.webhook == webhook)
    newest = query.order_by(deliveries.c.number.desc()).limit(KEPT)
    return [_read(row) for row in connection.execute(newest)]


def _forget_old(connection: Connection, webhook: int) -> None:
    over = select(deliveries.c.number).where(
        deliveries.c.webhook == webhook, deliveries.c.state.in_(OVER)
    )
    old = connection.execute(over.order_by(deliveries.c.number.desc()).offset(KEPT - 1)).scalars()
    connection.execute(delete(deliveries).where(deliveries.c.number.in_(list(old))))


def _set(connection: Connection, numbers: list[int], **values: Any) -> None:
    connection.execute(update(deliveries).where(deliveries.c.number.in_(numbers)).values(**values))


def _read(row: Any) -> Delivery:
    number, id, event, state, *rest = row
    return Delivery(number, id, event, DeliveryState(state), *rest)
