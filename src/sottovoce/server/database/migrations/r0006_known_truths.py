"""Known truths of tasks."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the column; no truth was known before."""
    op.add_column("tasks", sa.Column("known", sa.Text))
