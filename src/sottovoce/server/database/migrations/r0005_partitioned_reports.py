"""On PostgreSQL, the reports of each campaign are in their own table."""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Move existing rows. SQLite's table stays unchanged."""
    connection = op.get_bind()
    if connection.dialect.name == "sqlite":
        return
    for statement in _REPLACING:
        op.execute(statement)
    opened = "SELECT number FROM campaigns WHERE state <> 'draft' ORDER BY number"
    for number in connection.exec_driver_sql(opened).scalars().all():
        op.execute(f"CREATE TABLE reports_{number:d} (LIKE reports INCLUDING ALL)")
        op.execute(
            f"ALTER TABLE reports ATTACH PARTITION reports_{number:d} FOR VALUES IN ({number:d})"
        )
    op.execute(_MOVING)
    op.execute("DROP TABLE reports_before")


# The sequence continues: later rows must have larger numbers.
_REPLACING = (
    """
    ALTER TABLE reports
        DROP CONSTRAINT reports_campaign_fkey,
        DROP CONSTRAINT reports_campaign_report_id_key,
        DROP CONSTRAINT reports_pkey
    """,
    "DROP INDEX reports_by_worker",
    "ALTER TABLE reports RENAME TO reports_before",
    """
    CREATE TABLE reports (
        sequence BIGINT NOT NULL DEFAULT nextval('reports_sequence_seq'),
        campaign BIGINT NOT NULL,
        report_id BYTEA NOT NULL,
        worker BYTEA NOT NULL,
        day INTEGER NOT NULL,
        digest BYTEA NOT NULL,
        tasks BYTEA NOT NULL,
        codes BYTEA NOT NULL,
        PRIMARY KEY (sequence, campaign),
        UNIQUE (campaign, report_id)
    ) PARTITION BY LIST (campaign)
    """,
    "CREATE INDEX reports_by_worker ON reports (campaign, worker)",
    "ALTER SEQUENCE reports_sequence_seq OWNED BY reports.sequence",
)
_MOVING = """
    INSERT INTO reports (sequence, campaign, report_id, worker, day, digest, tasks, codes)
    SELECT sequence, campaign, report_id, worker, day, digest, tasks, codes FROM reports_before
"""
