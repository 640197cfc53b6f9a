"""The HTTP client of one member of a live session, with retries."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

from sottovoce.errors import Reason, Refused, Unreachable
from sottovoce.http_client.addresses import parsed_link
from sottovoce.http_client.connection import Connection, RetryPolicy
from sottovoce.model import Credential

T = TypeVar("T")

WAIT = 25
"""Seconds that the server may wait before it replies that there is nothing new."""

SOONEST = 0.05
"""Seconds between two requests if there is nothing new."""

FIRST = 5.0
"""Seconds to wait for the first reply: the address may not be a server's."""

LARGEST = 1 << 28
"""The most bytes of a turn."""

LATER = frozenset({Reason.BUSY, Reason.UNAVAILABLE})
"""Temporary refusals."""

_PAUSES = RetryPolicy(100, 0.1)
_LONGEST_PAUSES = 6
"""After this many failed attempts the pause stays at about three seconds."""

_BYTES = {"Content-Type": "application/octet-stream"}


@dataclass(frozen=True, slots=True)
class LiveLink:
    """A live session on a server, and the secret of one seat in it.

    >>> LiveLink.parse("https://answers.example/l/leaf0#svl_" + "A" * 43)
    LiveLink(server='https://answers.example', session='leaf0')
    """

    server: str
    session: str
    secret: str = field(repr=False)

    @classmethod
    def parse(cls, link: str, *, allow_http: bool = False) -> Self:
        """Parse a link. Errors quote nothing of it."""
        return cls(*parsed_link(link, "l", Credential.LIVE, allow_http=allow_http))


class MemberClient:
    """A member's requests. All are idempotent: the server recognises repeats.

    A server that does not respond may be restarting: it is retried for `patience` seconds, with one
    message to the listener. Refusals are raised at once.
    """

    def __init__(
        self,
        link: LiveLink,
        *,
        patience: float,
        tell: Callable[[str], None] = lambda _: None,
        allow_http: bool = False,
    ) -> None:
        self.link, self._patience, self._tell = link, patience, tell
        self._path = f"/live/{link.session}"
        self._connection = Connection(
            link.server, link.secret, retries=0, allow_http=allow_http, timeout=2 * WAIT
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def offer(self) -> Any:
        """The session's offer. A dead link is detected early."""
        return self._with_retries(self._offer, FIRST)

    def post(self, path: str, document: Any) -> Any:
        """The JSON response to this document."""
        return self._with_retries(lambda: self._connection.post(f"{self._path}{path}", document))

    def terms(self) -> Any:
        """The terms; waits without limit until they are fixed."""
        while (document := self._paced(self._terms)) is None:
            pass
        return document

    def _offer(self) -> Any:
        return self._connection.get(f"{self._path}/offer")

    def _terms(self) -> Any:
        """The terms; None if they are not fixed. A deleted session has no offer either."""
        try:
            return self._with_retries(
                lambda: self._connection.get(f"{self._path}/terms?wait={WAIT}")
            )
        except Refused as refused:
            if refused.reason is not Reason.NOT_FOUND:
                raise
            self._with_retries(self._offer)
            return None

    def turn(self) -> bytes | None:
        """The current turn; None if there is none after a long poll."""
        return self._paced(lambda: self._with_retries(self._fetched)) or None

    def reply(self, content: bytes) -> None:
        """Send a reply; the server has it, durably, when this returns."""
        self._with_retries(
            lambda: self._connection.post(f"{self._path}/replies", content=content, headers=_BYTES)
        )

    def _fetched(self) -> bytes:
        pieces, size = [], 0
        with self._connection.stream(f"{self._path}/turn?wait={WAIT}") as download:
            for piece in download:
                size += len(piece)
                if size > LARGEST:
                    raise invalid_reply(self.link.server)
                pieces.append(piece)
        return b"".join(pieces)

    def _paced(self, ask: Callable[[], T]) -> T:
        """The reply, with a pause if the server replied at once that there is nothing new."""
        asked = time.monotonic()
        found = ask()
        if not found:
            time.sleep(max(0.0, SOONEST - (time.monotonic() - asked)))
        return found

    def _with_retries(self, attempt: Callable[[], T], most: float = math.inf) -> T:
        silent, end = 0, math.inf
        while True:
            try:
                found = attempt()
            except (Refused, Unreachable) as error:
                if isinstance(error, Refused) and error.reason not in LATER:
                    raise
                silent += 1
                if silent == 1:  # the time of an interrupted long reply does not count
                    end = time.monotonic() + min(most, self._patience)
                    self._tell(f"waiting: {error}")
                if time.monotonic() >= end:
                    raise
                time.sleep(_PAUSES.before(min(silent, _LONGEST_PAUSES)))
            else:
                if silent:
                    self._tell("the server responds again")
                return found


def invalid_reply(server: str) -> Unreachable:
    """The error for a reply that no honest server sends."""
    return Unreachable(server, reason="its reply is invalid")
