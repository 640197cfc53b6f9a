"""A command that was stopped and has something to say about it."""

from __future__ import annotations

from sottovoce.errors import SottovoceError

__all__ = ["Stopped"]


class Stopped(SottovoceError):  # noqa: N818 - reads as the fact it states
    """Ctrl-C, with what is left of the work; the exit code is that of an interrupt."""
