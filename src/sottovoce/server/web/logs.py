"""The server's logs: structured lines that contain nothing that was sent.

A line has a time, a level, an event and fields from a fixed list. Events are constant texts from
the source code. Errors are logged by type and place, because a message could quote what was sent.
Addresses are logged as templates, without identifiers.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
import time
import traceback
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

FIELDS = (
    "method", "route", "status", "milliseconds", "reason", "error", "place", "seconds", "count",
)  # fmt: skip
"""The allowed fields of a line, in addition to time, level and event."""

LONGEST = 200
ERROR_FRAMES = 4


class LogFormat(StrEnum):
    """Lines for programs, or for people."""

    json = "json"
    text = "text"


class _Lines(logging.Formatter):
    """One line per record. Parts that could contain sent values are left out."""

    def fields(self, record: logging.LogRecord) -> dict[str, Any]:
        found: dict[str, Any] = {"event": _event(record)}
        for name in FIELDS:
            value = record.__dict__.get(name)
            if isinstance(value, int | float):
                found[name] = value
            elif isinstance(value, str):
                found[name] = value[:LONGEST]
        if record.exc_info and record.exc_info[1] is not None:
            found.update(described(record.exc_info[1]))
        return found


class JsonLines(_Lines):
    """One JSON object per record."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        return json.dumps(
            {"time": at.replace("+00:00", "Z"), "level": record.levelname.lower()}
            | self.fields(record)
        )


class TextLines(_Lines):
    """A readable line, in local time."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        fields = self.fields(record)
        event = fields.pop("event")
        rest = " ".join(f"{name}={value}" for name, value in fields.items())
        return f"{at} {record.levelname.lower():<7} {event}{'  ' + rest if rest else ''}"


class WholeLines(logging.StreamHandler[TextIO]):
    """Starts a new line after one that a full disk cut off."""

    is_torn = False

    def emit(self, record: logging.LogRecord) -> None:
        try:
            if self.is_torn:
                self.stream.write(self.terminator)
                self.flush()
                self.is_torn = False
        except (OSError, ValueError):
            return  # still full: this line is lost, and the server goes on
        super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the library's name
        self.is_torn = True
        super().handleError(record)


class RateLimitFilter(logging.Filter):
    """Limits each line of another library to one per second, against floods."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if _is_ours(record):
            return True
        key, now = f"{record.name} {record.levelno} {record.lineno}", time.monotonic()
        seldom = now - self._last.get(key, -1.0) >= 1
        if seldom:
            self._last[key] = now
        return seldom


def set_up_logs(format: LogFormat, stream: TextIO | None = None) -> None:
    """Send all lines of this process to standard error, in this format."""
    handler = WholeLines(stream or sys.stderr)
    handler.setFormatter(JsonLines() if format is LogFormat.json else TextLines())
    handler.addFilter(RateLimitFilter())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("sottovoce").setLevel(logging.INFO)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [], name != "uvicorn.access"
        logger.setLevel(logging.WARNING)
    # Python itself would print these with all values: a failed line, an error that ends a thread.
    logging.raiseExceptions = False
    logging.captureWarnings(True)
    threading.excepthook = lambda ended: _unexpected(
        "a thread was ended by an error", ended.exc_value, ended.exc_traceback
    )


def described(error: BaseException) -> dict[str, str]:
    """An error's type and traceback places, without its message."""
    frames = traceback.extract_tb(error.__traceback__)[-ERROR_FRAMES:]
    places = [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]
    return {"error": type(error).__name__, "place": " > ".join(places)}


def _unexpected(event: str, error: BaseException | None, at: TracebackType | None) -> None:
    if error is not None:
        logging.getLogger("sottovoce").error(event, exc_info=(type(error), error, at))


def _is_ours(record: logging.LogRecord) -> bool:
    return record.name == "sottovoce" or record.name.startswith("sottovoce.")


def _event(record: logging.LogRecord) -> str:
    """The record's constant text. Of other libraries, only uvicorn's texts are kept."""
    if not isinstance(record.msg, str):
        return f"{record.name}: {type(record.msg).__name__}"
    if _is_ours(record):
        return record.msg
    if record.name.startswith("uvicorn"):
        arguments = record.args if isinstance(record.args, tuple) else ()
        filled = bool(arguments) and all(isinstance(one, int) for one in arguments)
        lines = (record.getMessage() if filled else record.msg).splitlines()
        return lines[0] if lines else record.name
    return f"{record.name} says something"
