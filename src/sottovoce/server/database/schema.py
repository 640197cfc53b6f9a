"""The tables of the service. What they are at each release stands in `migrations`.

Days are integers (`date.toordinal`): nothing about a report is kept to the hour. Rows of `reports`
are in the order of arrival, which background inference needs to read only what is new; nothing that
leaves the server is in that order.
"""

from __future__ import annotations

from sqlalchemy import (
    DDL,
    BigInteger,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    event,
    text,
)

METADATA = MetaData()

# SQLite numbers rows itself only in an INTEGER column. It would give the number of a deleted row to
# the next one where it is not told `sqlite_autoincrement`: a campaign that was deleted must not
# come back as another, and what is after a report must be newer.
_Number = BigInteger().with_variant(Integer, "sqlite")

campaigns = Table(
    "campaigns",
    METADATA,
    Column("number", _Number, primary_key=True),
    Column("id", Text, nullable=False, unique=True),
    Column("state", Text, nullable=False),
    Column("terms", Text, nullable=False),
    Column("quota", Integer),
    Column("closes_on", Integer),
    Column("tasks", Integer, nullable=False, default=0),
    Column("workers", _Number, nullable=False, default=0),
    Column("submissions", _Number, nullable=False, default=0),
    Column("reports", _Number, nullable=False, default=0),
    Column("erasures", _Number, nullable=False, default=0),
    Column("created_on", Integer, nullable=False),
    Column("opened_on", Integer),
    Column("closed_on", Integer),
    Column("simulated", Integer, nullable=False, server_default=text("0")),
    Column("sealed", Integer, nullable=False, server_default=text("0")),
    Column("published", Integer, nullable=False, server_default=text("0")),
    sqlite_autoincrement=True,
)


def _of_campaign() -> ForeignKey:
    return ForeignKey("campaigns.number", ondelete="CASCADE")


tasks = Table(
    "tasks",
    METADATA,
    Column("campaign", _Number, _of_campaign(), primary_key=True),
    Column("place", Integer, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("image", Text),
)

invites = Table(
    "invites",
    METADATA,
    Column("digest", LargeBinary, primary_key=True),
    Column("campaign", _Number, _of_campaign(), nullable=False, index=True),
    Column("kind", Text, nullable=False),
    Column("expires_on", Integer),
    Column("worker", LargeBinary),
)

reports = Table(
    "reports",
    METADATA,
    Column("sequence", _Number),
    Column("campaign", _Number, nullable=False),
    Column("report_id", LargeBinary, nullable=False),
    Column("worker", LargeBinary, nullable=False),
    Column("day", Integer, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("tasks", LargeBinary, nullable=False),
    Column("codes", LargeBinary, nullable=False),
    PrimaryKeyConstraint("sequence").ddl_if(dialect="sqlite"),
    UniqueConstraint("campaign", "report_id"),
    ForeignKeyConstraint(["campaign"], ["campaigns.number"], ondelete="CASCADE").ddl_if(
        dialect="sqlite"
    ),
    Index("reports_by_worker", "campaign", "worker"),
    sqlite_autoincrement=True,
    postgresql_partition_by="LIST (campaign)",
)
"""On PostgreSQL each campaign that was opened has a partition of its own (see `partitions`), and a
row without one cannot be: that stands for the foreign key."""

# What is unique in a table with partitions says in which one it is.
_KEY = DDL(  # type: ignore[no-untyped-call]
    "ALTER TABLE reports ADD PRIMARY KEY (sequence, campaign)"
)
event.listen(reports, "after_create", _KEY.execute_if(dialect="postgresql"))

erased = Table(
    "erased",
    METADATA,
    Column("campaign", _Number, _of_campaign(), primary_key=True),
    Column("report_id", LargeBinary, primary_key=True),
)

# PostgreSQL would put texts in the order of some language; a backup has them in that of bytes.
_Word = Text(collation="C").with_variant(Text(), "sqlite")

rejections = Table(
    "rejections",
    METADATA,
    Column("campaign", _Number, _of_campaign(), primary_key=True),
    Column("reason", _Word, primary_key=True),
    Column("count", _Number, nullable=False),
)
"""How many reports were refused, and why. No worker is in it, and no time."""

results = Table(
    "results",
    METADATA,
    Column("campaign", _Number, _of_campaign(), primary_key=True),
    Column("sequence", _Number, nullable=False),
    Column("erasures", _Number, nullable=False),
    Column("summary", Text, nullable=False),
    Column("content", LargeBinary, nullable=False),
)

tokens = Table(
    "tokens",
    METADATA,
    Column("digest", LargeBinary, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("created_on", Integer, nullable=False),
)

webhooks = Table(
    "webhooks",
    METADATA,
    Column("number", _Number, primary_key=True),
    Column("campaign", _Number, _of_campaign(), nullable=False, index=True),
    Column("id", Text, nullable=False, unique=True),
    Column("address", Text, nullable=False),
    Column("secret", Text, nullable=False),
    sqlite_autoincrement=True,
)

deliveries = Table(
    "deliveries",
    METADATA,
    Column("number", _Number, primary_key=True),
    Column("webhook", _Number, ForeignKey("webhooks.number", ondelete="CASCADE"), nullable=False),
    Column("event", Text, nullable=False),
    Column("id", Text, nullable=False, unique=True),
    Column("body", Text, nullable=False),
    Column("attempts", Integer, nullable=False, default=0),
    Column("due", _Number, nullable=False),
    Column("state", Text, nullable=False),
    sqlite_autoincrement=True,
)

keyholders = Table(
    "keyholders",
    METADATA,
    Column("campaign", _Number, _of_campaign(), primary_key=True),
    Column("seat", Integer, primary_key=True, autoincrement=False),
    Column("digest", LargeBinary, nullable=False, unique=True),
    Column("seen_on", Integer),
)
"""Who holds a share of a sealed campaign's totals: the hash of its credential, and its last day."""

messages = Table(
    "messages",
    METADATA,
    Column("campaign", _Number, _of_campaign(), primary_key=True),
    Column("phase", _Word, primary_key=True),
    Column("sender", Integer, primary_key=True, autoincrement=False),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("content", LargeBinary, nullable=False),
)
"""The protocol of a sealed campaign, as it was signed; sender 0 is the server."""

batched = Table(
    "batched",
    METADATA,
    Column("campaign", _Number, _of_campaign(), primary_key=True),
    Column("report_id", LargeBinary, primary_key=True),
    Column("number", Integer, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Index("batched_by_number", "campaign", "number", "digest"),
)
"""Which contributions were proposed to the keyholders, and in which batch."""

opened = Table(
    "opened",
    METADATA,
    Column("campaign", _Number, _of_campaign(), primary_key=True),
    Column("state", Text, nullable=False),
    Column("workers", Integer, nullable=False),
    Column("totals", LargeBinary, nullable=False),
    Column("answered", LargeBinary),
)
"""The noised totals of a sealed campaign: all that was ever opened."""

signing_keys = Table(
    "signing_keys",
    METADATA,
    Column("name", _Word, primary_key=True),
    Column("secret", LargeBinary, nullable=False),
    Column("created_on", Integer, nullable=False),
)
"""What the server signs with: one key for each database, pinned by the policies it made."""

live_sessions = Table(
    "live_sessions",
    METADATA,
    Column("number", _Number, primary_key=True),
    Column("id", Text, nullable=False, unique=True),
    Column("state", Text, nullable=False),
    Column("offer", Text, nullable=False),
    Column("sequence", Integer, nullable=False, server_default=text("0")),
    Column("terms", Text),
    Column("secret", LargeBinary),
    Column("deal", LargeBinary),
    Column("ending", LargeBinary),
    Column("outcome", Text),
    Column("result", Text),
    Column("created_on", Integer, nullable=False),
    sqlite_autoincrement=True,
)
"""Sums of workers who are all there. `sequence` counts what has happened; `secret` opens the
server's share of a key that somebody dealt."""


def _of_session() -> ForeignKey:
    return ForeignKey("live_sessions.number", ondelete="CASCADE")


live_members = Table(
    "live_members",
    METADATA,
    Column("session", _Number, _of_session(), primary_key=True),
    Column("seat", Integer, primary_key=True, autoincrement=False),
    Column("digest", LargeBinary, nullable=False, unique=True),
    Column("number", Integer),
    Column("signing", Text),
    Column("sealing", Text),
    Column("replied", LargeBinary),
    Column("ending", LargeBinary),
    UniqueConstraint("session", "number"),
)
"""Who may take part in a live session: a link's hash, and whoever joined by it. Seat 0 deals."""

live_events = Table(
    "live_events",
    METADATA,
    Column("session", _Number, _of_session(), primary_key=True),
    Column("sequence", Integer, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("member", Integer),
    Column("content", LargeBinary),
)
"""What has happened in the round that is on: replies as they were signed, and ends of phases."""

live_rounds = Table(
    "live_rounds",
    METADATA,
    Column("session", _Number, _of_session(), primary_key=True),
    Column("round", Integer, primary_key=True, autoincrement=False),
    Column("totals", LargeBinary, nullable=False),
    Column("contributors", Text, nullable=False),
    Column("excluded", Text, nullable=False),
)
"""The rounds that are over: what was opened, of whom, and who was excluded by then."""

events = Table(
    "events",
    METADATA,
    Column("number", _Number, primary_key=True),
    Column("day", Integer, nullable=False),
    Column("event", Text, nullable=False),
    Column("campaign", Text),
    sqlite_autoincrement=True,
)
"""What requesters did: opened, closed, deleted, made or revoked a token. No worker is in it."""
