"""How many devices said that their budget cut them short."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add the count; no device said so before."""
    number = sa.BigInteger().with_variant(sa.Integer, "sqlite")
    count = sa.Column("cut_short", number, nullable=False, server_default=sa.text("0"))
    op.add_column("campaigns", count)
