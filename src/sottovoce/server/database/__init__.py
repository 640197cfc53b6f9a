"""The service's database: SQLite in a folder, or PostgreSQL.

One thread (`Writer`) writes everything; any thread may read.
"""

from sottovoce.server.database.connection import Database
from sottovoce.server.database.intake import Intake, IntakeOutcome
from sottovoce.server.database.schema_version import upgrade
from sottovoce.server.database.writer import Writer

__all__ = ["Database", "Intake", "IntakeOutcome", "Writer", "upgrade"]
