"""Check: one result of `sottovoce doctor`, with its state and remedy."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class CheckState(StrEnum):
    """How it is. Only a problem makes the command fail."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"
    UNKNOWN = "unknown"
    """It cannot be told from here."""


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at, how it is, and what to do: a line to copy, where there is one."""

    check: str
    state: CheckState
    found: str
    fix: str = ""


def fine(check: str, found: str) -> Check:
    """All is well."""
    return Check(check, CheckState.OK, found)


def warning(check: str, found: str, fix: str) -> Check:
    """It works, and could be better."""
    return Check(check, CheckState.WARNING, found, fix)


def problem(check: str, found: str, fix: str) -> Check:
    """It does not work, or is not safe."""
    return Check(check, CheckState.PROBLEM, found, fix)


def unknown(check: str, found: str, fix: str) -> Check:
    """Somebody has to look."""
    return Check(check, CheckState.UNKNOWN, found, fix)
