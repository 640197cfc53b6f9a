"""The command line: one file per command group."""

from sottovoce.cli.app import main

__all__ = ["main"]
