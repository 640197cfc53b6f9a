"""Fixtures of the main tests, for the studies' tests."""

from tests.cli.conftest import call
from tests.conftest import real_data

__all__ = ["call", "real_data"]
