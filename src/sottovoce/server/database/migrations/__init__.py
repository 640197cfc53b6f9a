"""What each release changed in the tables, one file for each change.

A file's number is its revision. It has `upgrade()`, which works through Alembic's `op` in the one
transaction that `schema_version` opens, on SQLite with foreign keys off: tables may be made anew.
There is no way down; restore the backup that an upgrade makes.
"""
