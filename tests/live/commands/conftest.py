"""Commands of live sessions are run as all others are."""

from tests.cli.conftest import answers, call, gold, run

__all__ = ["answers", "call", "gold", "run"]
