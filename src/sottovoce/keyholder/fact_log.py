"""A keyholder's append-only log of one campaign, one line per fact."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sottovoce.errors import DataError, LedgerDamaged, LedgerUnwritable
from sottovoce.files.hash_chained_log import ORIGIN, LockedLog, chained, locked, verified

FORMAT = "sottovoce-keyholder-log/1"
PATIENCE = 30.0
"""Seconds to wait for another process that reads."""


class LogDamaged(DataError):  # noqa: N818 - reads as the fact it states
    """A damaged log: this keyholder's confirmations are no longer known."""

    def __init__(self, path: str, *, line: int, fault: str) -> None:
        super().__init__(
            f"line {line:,}: {fault}; this keyholder's confirmations and openings are no longer "
            "known, so it must not continue in this campaign; tell the others",
            file=path,
        )
        self.line, self.fault = line, fault


@dataclass(frozen=True, slots=True)
class Logged:
    """A fact, and when it was recorded (UTC)."""

    at: str
    fact: Mapping[str, Any]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class FactLog:
    """A hash-chained file. Each fact is durable before the keyholder acts on it.

    A keyholder without a record of its confirmations could open two totals, whose difference can be
    one worker's answers. So each use reads and verifies the whole file. A line cut short by a crash
    was never acted upon and is removed. A file that lost lines is refused
    (`files/hash_chained_log`).
    """

    def __init__(self, path: Path, *, now: Callable[[], str] = _now) -> None:
        self._path, self._now = path, now

    def facts(self) -> list[Logged]:
        """All facts, oldest first."""
        with self._held() as lines:
            return self._read(lines)[0]

    def add(self, fact: Mapping[str, Any]) -> None:
        """Record a fact; it is on disk when this returns."""
        with self._held() as lines:
            _, digests = self._read(lines)
            if not digests:
                digests = [self._append(lines, {"format": FORMAT}, [])]
            self._append(lines, {"fact": dict(fact)}, digests)

    @contextmanager
    def _held(self) -> Iterator[LockedLog]:
        path = str(self._path)
        try:
            with locked(path, PATIENCE) as lines:
                yield lines
        except LedgerDamaged as error:
            raise LogDamaged(path, line=error.line, fault=error.fault) from None
        except LedgerUnwritable as error:
            raise DataError(
                f"the log cannot be written ({error.reason}); nothing is sent", file=error.path
            ) from None

    def _read(self, lines: LockedLog) -> tuple[list[Logged], list[str]]:
        whole, rest = lines.read()
        found, digests = [], [ORIGIN]
        for number, line in enumerate(whole):
            body, digest = verified(line, digests[-1]) or (None, "")
            if body is None or not _is_sound(body, number):
                raise LogDamaged(
                    str(self._path), line=number + 1, fault="this line was changed or damaged"
                )
            digests.append(digest)
            if number:
                found.append(Logged(str(body["at"]), body["fact"]))
        # Check the head first: an acknowledged line that is torn is damage, not a crash.
        lines.check_head(tuple(digests[1:]))
        if rest:
            lines.cut(rest)
        return found, digests[1:]

    def _append(self, lines: LockedLog, body: dict[str, Any], digests: list[str]) -> str:
        number = len(digests)
        line, digest = chained(
            {**body, "sequence": number, "at": self._now()}, digests[-1] if digests else ORIGIN
        )
        lines.append(line, number, digest)
        return digest


def _is_sound(body: Mapping[str, Any], number: int) -> bool:
    if body.get("sequence") != number or not isinstance(body.get("at"), str):
        return False
    return isinstance(body.get("fact"), dict) if number else body.get("format") == FORMAT
