"""Check: one result of `sottovoce doctor`, with its state and remedy."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class CheckState(StrEnum):
    """The state of a check. Only a problem makes the command fail."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"
    UNKNOWN = "unknown"
    """It cannot be checked from here."""


@dataclass(frozen=True, slots=True)
class Check:
    """A check, its state, what was found, and a fix: a command to copy if there is one."""

    check: str
    state: CheckState
    found: str
    fix: str = ""


def fine(check: str, found: str) -> Check:
    """A check that passed."""
    return Check(check, CheckState.OK, found)


def warning(check: str, found: str, fix: str) -> Check:
    """A check that found something to improve."""
    return Check(check, CheckState.WARNING, found, fix)


def problem(check: str, found: str, fix: str) -> Check:
    """A check that found something broken or unsafe."""
    return Check(check, CheckState.PROBLEM, found, fix)


def unknown(check: str, found: str, fix: str) -> Check:
    """A check that a person has to do."""
    return Check(check, CheckState.UNKNOWN, found, fix)
