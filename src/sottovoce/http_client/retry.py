"""How often to try again, and how long to wait before."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from sottovoce.errors import UsageError

__all__ = ["RetryPolicy"]

LONGEST_PAUSE = 60.0
"""Seconds. A server may ask for more, and is then tried too early."""

_chance = secrets.SystemRandom()


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Up to so many retries, each after about twice as long as the one before.

    The pause is drawn between half of that and all of it, so that clients that were turned away
    together do not come back together. What the server asks for in Retry-After is the least.
    """

    retries: int = 4
    pause: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.retries <= 100 or not 0 <= self.pause <= LONGEST_PAUSE:
            raise UsageError("retries are from 0 to 100, and the first pause from 0 to 60 seconds")

    def before(self, retry: int, asked: str | None = None) -> float:
        """Seconds to wait before this retry, counted from 1."""
        full = self.pause * 2.0 ** (retry - 1)
        drawn = full / 2 + _chance.random() * full / 2
        return min(LONGEST_PAUSE, max(drawn, _seconds(asked)))


def _seconds(asked: str | None) -> float:
    """What Retry-After says: seconds, or a moment; 0 for what cannot be read."""
    if asked is None:
        return 0.0
    text = asked.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return 0.0
    if moment.tzinfo is None:
        return 0.0
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
