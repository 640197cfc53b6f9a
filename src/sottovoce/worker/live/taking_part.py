"""Turn after turn until the end: the server asks, the worker's session answers once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from sottovoce.errors import Reason, Refused
from sottovoce.securesum.star.worker import Ended, WorkerSession

__all__ = ["Line", "take_part"]


class Line(Protocol):
    """What a session needs of the line to its server."""

    def turn(self) -> bytes | None:
        """What the server asks now; None if it has thought long enough and asks nothing."""
        ...

    def reply(self, content: bytes) -> None:
        """Send a reply; the server has it when this returns."""
        ...


def take_part(session: WorkerSession, line: Line, tell: Callable[[str], None]) -> Ended:
    """How the session ended. `SealedRefused` ends it too, and names who broke what.

    What can be prepared is prepared when a reply has left, while others work on theirs.
    """
    session.prepare()
    while session.ended is None:
        turn = line.turn()
        if turn is None:
            continue
        opened = len(session.opened)
        reply = session.on(turn)
        if len(session.opened) > opened:
            tell(f"round {opened} is opened: {session.opened[-1].workers:,} workers are in it")
        if reply is not None:
            _send(reply, line)
            session.prepare()
    return session.ended


def _send(reply: bytes, line: Line) -> None:
    """A reply that comes too late is not taken: the next turn says what that means."""
    try:
        line.reply(reply)
    except Refused as refused:
        if refused.reason is not Reason.NOT_OPEN:
            raise
