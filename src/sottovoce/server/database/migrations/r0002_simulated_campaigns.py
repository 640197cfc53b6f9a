"""Simulated campaigns, and counts of refused reports by reason."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_Number = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_Word = sa.Text(collation="C").with_variant(sa.Text(), "sqlite")


def upgrade() -> None:
    """Existing campaigns are real and have no counts of refusals."""
    # Added in place: a new table would lose SQLite's record of used campaign numbers.
    simulated = sa.Column("simulated", sa.Integer, nullable=False, server_default=sa.text("0"))
    op.add_column("campaigns", simulated)
    of_campaign = sa.ForeignKey("campaigns.number", ondelete="CASCADE")
    op.create_table(
        "rejections",
        sa.Column("campaign", _Number, of_campaign, primary_key=True),
        sa.Column("reason", _Word, primary_key=True),
        sa.Column("count", _Number, nullable=False),
    )
