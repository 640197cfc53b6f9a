"""Live sessions: their members, events and opened totals."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_Number = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Create the tables; there were no sessions before."""
    op.create_table(
        "live_sessions",
        sa.Column("number", _Number, primary_key=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("offer", sa.Text, nullable=False),
        sa.Column("sequence", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("terms", sa.Text),
        sa.Column("secret", sa.LargeBinary),
        sa.Column("deal", sa.LargeBinary),
        sa.Column("ending", sa.LargeBinary),
        sa.Column("outcome", sa.Text),
        sa.Column("result", sa.Text),
        sa.Column("created_on", sa.Integer, nullable=False),
        sqlite_autoincrement=True,
    )
    _add_members()
    _add_rounds()


def _add_members() -> None:
    op.create_table(
        "live_members",
        sa.Column("session", _Number, _of_session(), primary_key=True),
        sa.Column("seat", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("digest", sa.LargeBinary, nullable=False, unique=True),
        sa.Column("number", sa.Integer),
        sa.Column("signing", sa.Text),
        sa.Column("sealing", sa.Text),
        sa.Column("replied", sa.LargeBinary),
        sa.Column("ending", sa.LargeBinary),
        sa.UniqueConstraint("session", "number"),
    )


def _add_rounds() -> None:
    op.create_table(
        "live_events",
        sa.Column("session", _Number, _of_session(), primary_key=True),
        sa.Column("sequence", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("member", sa.Integer),
        sa.Column("content", sa.LargeBinary),
    )
    op.create_table(
        "live_rounds",
        sa.Column("session", _Number, _of_session(), primary_key=True),
        sa.Column("round", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("totals", sa.LargeBinary, nullable=False),
        sa.Column("contributors", sa.Text, nullable=False),
        sa.Column("excluded", sa.Text, nullable=False),
    )


def _of_session() -> sa.ForeignKey:
    return sa.ForeignKey("live_sessions.number", ondelete="CASCADE")
