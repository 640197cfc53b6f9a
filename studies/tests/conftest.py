"""Fixtures of the main tests, for the studies' tests."""

from tests.cli.conftest import answers, call
from tests.conftest import real_data
from tests.datasets.conftest import cache, make_folder

__all__ = ["answers", "cache", "call", "make_folder", "real_data"]
