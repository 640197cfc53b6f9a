"""Operators' commands: the server, its database, backups and the checks of `doctor`."""
