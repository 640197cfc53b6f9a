"""The service's database: SQLite in a folder, or PostgreSQL.

Everything the service keeps is written by one thread (`Writer`) and read by any.
"""

from sottovoce.server.database.connection import Database
from sottovoce.server.database.intake import Intake, IntakeOutcome
from sottovoce.server.database.schema_version import upgrade
from sottovoce.server.database.writer import Writer

__all__ = ["Database", "Intake", "IntakeOutcome", "Writer", "upgrade"]
