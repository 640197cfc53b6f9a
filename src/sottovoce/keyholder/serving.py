"""Serving campaigns until they are opened, whatever the server or the line to it do."""

from __future__ import annotations

import time
from collections.abc import Callable

from sottovoce.connection.patience import Patience
from sottovoce.errors import Reason, Refused, SealedRefused, Unreachable
from sottovoce.keyholder.seat import Seat
from sottovoce.securesum.committee.messages import WorkKind

__all__ = ["serve"]

WAIT = 25
"""Seconds that the server may think before it says that there is nothing to do."""

SOONEST = 1.0
"""Seconds between two questions that were both answered with nothing to do."""

LATER = frozenset({Reason.BUSY, Reason.UNAVAILABLE, Reason.NOT_OPEN})
"""Refusals that end by themselves."""

_PATIENCE = Patience(100, 1.0)


def serve(
    seat: Seat,
    tell: Callable[[str], None],
    *,
    once: bool = False,
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """Work until the total is opened; with `once`, until there is nothing to do now.

    A server that does not answer is asked again, for as long as it takes: unless `once`.
    """
    silent = 0
    while True:
        asked = time.monotonic()
        try:
            work = seat.work(0 if once else WAIT)
        except (Refused, Unreachable) as error:
            if once or (isinstance(error, Refused) and error.reason not in LATER):
                raise
            silent += 1
            if silent == 1:
                tell(f"waiting: {error}")
            pause(_PATIENCE.before(min(silent, 7)))
            continue
        if silent:
            tell("the server answers again")
            silent = 0
        if work.kind is WorkKind.DONE:
            tell("done: nothing more is to do here")
            return
        if work.kind is WorkKind.DEAD:
            raise SealedRefused(
                "the server", "it says that nothing can be opened any more: ask the requester why"
            )
        if work.kind is WorkKind.WAIT:
            if once:
                return
            pause(max(0.0, SOONEST - (time.monotonic() - asked)))
