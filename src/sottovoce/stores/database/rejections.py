"""Refused reports in rows: how many of each campaign, by reason."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection, insert, select, update

from sottovoce.errors import Reason
from sottovoce.stores.database.tables import campaigns, rejections

__all__ = ["add_rejections", "find_rejections"]


def add_rejections(connection: Connection, counts: Mapping[tuple[int, Reason], int]) -> None:
    """Add to what was counted before; what is of campaigns that have gone goes with them."""
    numbers = sorted({campaign for campaign, _ in counts})
    # Held, so that servers that count for one campaign take turns, and none is deleted meanwhile.
    held = select(campaigns.c.number).where(campaigns.c.number.in_(numbers))
    there = set(connection.execute(held.order_by(campaigns.c.number).with_for_update()).scalars())
    for (campaign, reason), count in counts.items():
        if campaign in there:
            _add(connection, campaign, reason, count)


def find_rejections(connection: Connection, campaign: int) -> dict[Reason, int]:
    """How often each reason was given, the most frequent first; those alike by name."""
    query = (
        select(rejections.c.reason, rejections.c.count)
        .where(rejections.c.campaign == campaign)
        .order_by(rejections.c.count.desc(), rejections.c.reason)
    )
    return {Reason(row.reason): row[1] for row in connection.execute(query)}


def _add(connection: Connection, campaign: int, reason: Reason, count: int) -> None:
    one = (rejections.c.campaign == campaign) & (rejections.c.reason == str(reason))
    more = update(rejections).where(one).values(count=rejections.c.count + count)
    if connection.execute(more).rowcount == 0:
        row = {"campaign": campaign, "reason": str(reason), "count": count}
        connection.execute(insert(rejections), row)
