"""The state of a sealed campaign, as a function of the stored messages."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection

from sottovoce.securesum.committee.messages import MessageKind, WorkKind
from sottovoce.server.database.sealed_campaigns import SERVER, MessageKey, message_keys

VERDICT, DEAD, AGREEMENT = "verdict", "dead", "agreement"
"""Unsigned notes of the server next to the messages: their results.

There is a verdict per batch, one note of death, and whether the shares of the total agree.
"""

NONE = -1
"""The number before the first batch."""


@dataclass(frozen=True, slots=True)
class KeyholderWork:
    """A keyholder's next step, and its batch."""

    kind: WorkKind
    number: int | None = None


@dataclass(frozen=True, slots=True)
class SealedState:
    """The stored messages of a campaign with `seats` keyholders.

    Batches are proposed one after another: the next after all have confirmed the last.
    """

    keys: frozenset[MessageKey]
    seats: int

    @classmethod
    def of(cls, connection: Connection, campaign: int, seats: int) -> SealedState:
        """The current state."""
        return cls(message_keys(connection, campaign), seats)

    def senders(self, phase: str, number: int = 0) -> set[int]:
        """The seats that have sent a message."""
        return {k.sender for k in self.keys if (k.phase, k.number) == (phase, number)}

    def has_all(self, phase: str, number: int = 0) -> bool:
        """Whether all keyholders have sent it."""
        return len(self.senders(phase, number)) == self.seats

    def has(self, phase: str, number: int = 0, sender: int = SERVER) -> bool:
        """Whether this message is stored."""
        return MessageKey(phase, sender, number) in self.keys

    @property
    def is_dead(self) -> bool:
        """Whether nothing can ever be opened."""
        return self.has(DEAD)

    @property
    def proposed(self) -> int:
        """The last proposed batch; 0 holds the deals, -1 is none."""
        return max((k.number for k in self.keys if k.phase == MessageKind.PROPOSE), default=NONE)

    @property
    def certified(self) -> int:
        """The last batch that all keyholders have confirmed; -1 if there is none."""
        last = self.proposed
        return last if last < 0 or self.has_all(MessageKind.CONFIRM, last) else last - 1

    @property
    def closing(self) -> int | None:
        """The batch whose state the server asks to open."""
        return next((k.number for k in self.keys if k.phase == MessageKind.CLOSE), None)

    @property
    def opens(self) -> set[int]:
        """The keyholders that have opened their share of the total."""
        return set() if self.closing is None else self.senders(MessageKind.OPEN, self.closing)

    def confirmed(self, seat: int) -> int | None:
        """The last batch that a keyholder has confirmed."""
        numbers = [
            k.number for k in self.keys if (k.phase, k.sender) == (MessageKind.CONFIRM, seat)
        ]
        return max(numbers, default=None)

    def work(self, seat: int) -> KeyholderWork:
        """A keyholder's next step."""
        if self.is_dead:
            return KeyholderWork(WorkKind.DEAD)
        if not self.has(MessageKind.DEAL, sender=seat):
            return KeyholderWork(WorkKind.DEAL)
        if self.closing is not None:
            if seat in self.opens:
                return KeyholderWork(WorkKind.DONE)
            return KeyholderWork(WorkKind.OPEN, self.closing)
        last = self.proposed
        if last >= 0 and not self.has(MessageKind.CHECK, last, seat):
            return KeyholderWork(WorkKind.CHECK, last)
        if self.has(VERDICT, last) and not self.has(MessageKind.CONFIRM, last, seat):
            return KeyholderWork(WorkKind.CONFIRM, last)
        return KeyholderWork(WorkKind.WAIT)
