"""The service's database: SQLite in a folder, or PostgreSQL.

Everything the service keeps is written by one thread (`Writer`) and read by any.
"""

from sottovoce.stores.database.connecting import Database
from sottovoce.stores.database.intake import Intake, Outcome
from sottovoce.stores.database.upgrading import upgrade
from sottovoce.stores.database.writer import Writer

__all__ = ["Database", "Intake", "Outcome", "Writer", "upgrade"]
