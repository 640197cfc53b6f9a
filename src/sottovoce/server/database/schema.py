"""The tables of the service. `migrations` has their changes by release.

Days are integers (`date.toordinal`): no time of a report is stored more exactly than the day. Rows
of `reports` are in order of arrival, which background inference needs to read only new rows;
nothing that leaves the server is in that order.
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

# SQLite numbers rows itself only in an INTEGER column. Without `sqlite_autoincrement` it would
# reuse the number of a deleted row: a deleted campaign's number must not return, and later reports
# must have larger numbers.
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
    Column("cut_short", _Number, nullable=False, server_default=text("0")),
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
    Column("known", Text),
)
"""`known` is the truth that the requester knows. Code for workers does not read it."""

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
"""On PostgreSQL each opened campaign has its own partition (see `partitions`). A row without a
partition is impossible, which replaces the foreign key."""

# A unique key of a partitioned table must include the partition's key.
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

# PostgreSQL would sort texts by locale; a backup sorts them as bytes.
_Word = Text(collation="C").with_variant(Text(), "sqlite")

rejections = Table(
    "rejections",
    METADATA,
    Column("campaign", _Number, _of_campaign(), primary_key=True),
    Column("reason", _Word, primary_key=True),
    Column("count", _Number, nullable=False),
)
"""Counts of refused reports by reason, without workers or times."""

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
"""The keyholders of sealed campaigns: the hash of each credential, and its last day."""

messages = Table(
    "messages",
    METADATA,
    Column("campaign", _Number, _of_campaign(), primary_key=True),
    Column("phase", _Word, primary_key=True),
    Column("sender", Integer, primary_key=True, autoincrement=False),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("content", LargeBinary, nullable=False),
)
"""The signed messages of sealed campaigns; sender 0 is the server."""

batched = Table(
    "batched",
    METADATA,
    Column("campaign", _Number, _of_campaign(), primary_key=True),
    Column("report_id", LargeBinary, primary_key=True),
    Column("number", Integer, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Index("batched_by_number", "campaign", "number", "digest"),
)
"""The contributions proposed to the keyholders, with their batches."""

opened = Table(
    "opened",
    METADATA,
    Column("campaign", _Number, _of_campaign(), primary_key=True),
    Column("state", Text, nullable=False),
    Column("workers", Integer, nullable=False),
    Column("totals", LargeBinary, nullable=False),
    Column("answered", LargeBinary),
)
"""The noisy totals of sealed campaigns: everything that was opened."""

signing_keys = Table(
    "signing_keys",
    METADATA,
    Column("name", _Word, primary_key=True),
    Column("secret", LargeBinary, nullable=False),
    Column("created_on", Integer, nullable=False),
)
"""The server's signing key: one per database, pinned by the policies it made."""

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
"""Live sessions. `sequence` counts events; `secret` opens the server's share of a
dealt key."""


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
"""The seats of live sessions: a link's hash, and the member who joined with it. Seat 0 deals."""

live_events = Table(
    "live_events",
    METADATA,
    Column("session", _Number, _of_session(), primary_key=True),
    Column("sequence", Integer, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("member", Integer),
    Column("content", LargeBinary),
)
"""The events of the current round: signed replies, and ends of phases."""

live_rounds = Table(
    "live_rounds",
    METADATA,
    Column("session", _Number, _of_session(), primary_key=True),
    Column("round", Integer, primary_key=True, autoincrement=False),
    Column("totals", LargeBinary, nullable=False),
    Column("contributors", Text, nullable=False),
    Column("excluded", Text, nullable=False),
)
"""Finished rounds: the opened totals, their members, and excluded members."""

events = Table(
    "events",
    METADATA,
    Column("number", _Number, primary_key=True),
    Column("day", Integer, nullable=False),
    Column("event", Text, nullable=False),
    Column("campaign", Text),
    sqlite_autoincrement=True,
)
"""The log of requesters' actions: opened, closed, deleted, token made or revoked. No workers."""
