"""Sealed campaigns: keyholders, their messages, and the opened totals."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_Number = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_Word = sa.Text(collation="C").with_variant(sa.Text(), "sqlite")


def upgrade() -> None:
    """Existing campaigns are not sealed and have no published truths."""
    for name in ("sealed", "published"):
        column = sa.Column(name, sa.Integer, nullable=False, server_default=sa.text("0"))
        op.add_column("campaigns", column)
    _add_keyholders()
    _add_messages()
    op.create_table(
        "opened",
        sa.Column("campaign", _Number, _of_campaign(), primary_key=True),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("workers", sa.Integer, nullable=False),
        sa.Column("totals", sa.LargeBinary, nullable=False),
        sa.Column("answered", sa.LargeBinary),
    )
    op.create_table(
        "signing_keys",
        sa.Column("name", _Word, primary_key=True),
        sa.Column("secret", sa.LargeBinary, nullable=False),
        sa.Column("created_on", sa.Integer, nullable=False),
    )


def _add_keyholders() -> None:
    op.create_table(
        "keyholders",
        sa.Column("campaign", _Number, _of_campaign(), primary_key=True),
        sa.Column("seat", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("digest", sa.LargeBinary, nullable=False, unique=True),
        sa.Column("seen_on", sa.Integer),
    )


def _add_messages() -> None:
    op.create_table(
        "messages",
        sa.Column("campaign", _Number, _of_campaign(), primary_key=True),
        sa.Column("phase", _Word, primary_key=True),
        sa.Column("sender", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "batched",
        sa.Column("campaign", _Number, _of_campaign(), primary_key=True),
        sa.Column("report_id", sa.LargeBinary, primary_key=True),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("digest", sa.LargeBinary, nullable=False),
    )
    op.create_index("batched_by_number", "batched", ["campaign", "number", "digest"])


def _of_campaign() -> sa.ForeignKey:
    return sa.ForeignKey("campaigns.number", ondelete="CASCADE")
