"""What a driver raises, as a refusal that says nothing about what is stored."""

from __future__ import annotations

import logging

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as NoConnection

from sottovoce.errors import Reason, Refused

__all__ = ["STORAGE_ERRORS", "unavailable"]

STORAGE_ERRORS = (DBAPIError, NoConnection)
"""A full disk, a server that went away, no connection left: nothing was changed."""

log = logging.getLogger("sottovoce.stores")


def unavailable(error: BaseException) -> Refused:
    """The refusal; whoever runs the server finds the driver's own name for the failure in the log.

    The driver's message may hold what was to be stored, so it is in neither.
    """
    cause = getattr(error, "orig", error)
    name = getattr(cause, "sqlite_errorname", None) or getattr(cause, "sqlstate", None)
    log.error("storage failed", extra={"error": name or type(cause).__name__})
    return Refused(Reason.UNAVAILABLE, "the server's storage does not answer: try again later")
