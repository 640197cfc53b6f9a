"""Migrations of the tables, one file per change.

A file's number is its revision. It has `upgrade()`, which works through Alembic's `op` in the one
transaction that `schema_version` opens, on SQLite with foreign keys off: tables may be recreated.
There are no downgrades; restore the backup that an upgrade makes.
"""
