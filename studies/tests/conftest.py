"""Studies are tested with the data, and their command is run, as everything else is."""

from tests.cli.conftest import call
from tests.conftest import real_data

__all__ = ["call", "real_data"]
