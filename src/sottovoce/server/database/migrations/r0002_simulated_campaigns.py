"""Campaigns may be simulated, and refused reports are counted by reason."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_Number = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_Word = sa.Text(collation="C").with_variant(sa.Text(), "sqlite")


def upgrade() -> None:
    """Those that were there before asked people, and counted no refusals."""
    # Added in place: SQLite would forget which numbers of campaigns were used before.
    simulated = sa.Column("simulated", sa.Integer, nullable=False, server_default=sa.text("0"))
    op.add_column("campaigns", simulated)
    of_campaign = sa.ForeignKey("campaigns.number", ondelete="CASCADE")
    op.create_table(
        "rejections",
        sa.Column("campaign", _Number, of_campaign, primary_key=True),
        sa.Column("reason", _Word, primary_key=True),
        sa.Column("count", _Number, nullable=False),
    )
