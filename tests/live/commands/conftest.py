"""Commands of live sessions are run as all others are."""

from tests.cli.conftest import answers, call, gold, logged_in, run, server

__all__ = ["answers", "call", "gold", "logged_in", "run", "server"]
