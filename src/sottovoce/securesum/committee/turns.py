"""Whose turn it is, as the server tells a keyholder."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["WorkKind"]


class WorkKind(StrEnum):
    """What a keyholder shall do next."""

    DEAL = "deal"
    CHECK = "check"
    CONFIRM = "confirm"
    OPEN = "open"
    WAIT = "wait"
    DONE = "done"
    DEAD = "dead"
