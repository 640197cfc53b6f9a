"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_Number = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Create the tables."""
    _campaigns()
    _reports()
    _requesters()


def _of_campaign() -> sa.ForeignKey:
    return sa.ForeignKey("campaigns.number", ondelete="CASCADE")


def _campaigns() -> None:
    op.create_table(
        "campaigns",
        sa.Column("number", _Number, primary_key=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("terms", sa.Text, nullable=False),
        sa.Column("quota", sa.Integer),
        sa.Column("closes_on", sa.Integer),
        sa.Column("tasks", sa.Integer, nullable=False),
        sa.Column("workers", _Number, nullable=False),
        sa.Column("submissions", _Number, nullable=False),
        sa.Column("reports", _Number, nullable=False),
        sa.Column("erasures", _Number, nullable=False),
        sa.Column("created_on", sa.Integer, nullable=False),
        sa.Column("opened_on", sa.Integer),
        sa.Column("closed_on", sa.Integer),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "tasks",
        sa.Column("campaign", _Number, _of_campaign(), primary_key=True),
        sa.Column("place", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("image", sa.Text),
    )
    op.create_table(
        "results",
        sa.Column("campaign", _Number, _of_campaign(), primary_key=True),
        sa.Column("sequence", _Number, nullable=False),
        sa.Column("erasures", _Number, nullable=False),
        sa.Column("summary", sa.Text, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )


def _reports() -> None:
    op.create_table(
        "invites",
        sa.Column("digest", sa.LargeBinary, primary_key=True),
        sa.Column("campaign", _Number, _of_campaign(), nullable=False, index=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("expires_on", sa.Integer),
        sa.Column("worker", sa.LargeBinary),
    )
    op.create_table(
        "reports",
        sa.Column("sequence", _Number, primary_key=True),
        sa.Column("campaign", _Number, _of_campaign(), nullable=False),
        sa.Column("report_id", sa.LargeBinary, nullable=False),
        sa.Column("worker", sa.LargeBinary, nullable=False),
        sa.Column("day", sa.Integer, nullable=False),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.Column("tasks", sa.LargeBinary, nullable=False),
        sa.Column("codes", sa.LargeBinary, nullable=False),
        sa.UniqueConstraint("campaign", "report_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("reports_by_worker", "reports", ["campaign", "worker"])
    op.create_table(
        "erased",
        sa.Column("campaign", _Number, _of_campaign(), primary_key=True),
        sa.Column("report_id", sa.LargeBinary, primary_key=True),
    )


def _requesters() -> None:
    op.create_table(
        "tokens",
        sa.Column("digest", sa.LargeBinary, primary_key=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("created_on", sa.Integer, nullable=False),
    )
    op.create_table(
        "webhooks",
        sa.Column("number", _Number, primary_key=True),
        sa.Column("campaign", _Number, _of_campaign(), nullable=False, index=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sa.Column("address", sa.Text, nullable=False),
        sa.Column("secret", sa.Text, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "deliveries",
        sa.Column("number", _Number, primary_key=True),
        sa.Column(
            "webhook", _Number, sa.ForeignKey("webhooks.number", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("event", sa.Text, nullable=False),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("due", _Number, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "events",
        sa.Column("number", _Number, primary_key=True),
        sa.Column("day", sa.Integer, nullable=False),
        sa.Column("event", sa.Text, nullable=False),
        sa.Column("campaign", sa.Text),
        sqlite_autoincrement=True,
    )
