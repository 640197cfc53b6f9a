"""The HTTP client of one member of a live session: asks until the server answers."""

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
"""Seconds that the server may think before it says that there is nothing new."""

SOONEST = 0.05
"""Seconds between two questions that were both answered with nothing new."""

FIRST = 5.0
"""Seconds to wait for the first word of a server, which may not be one."""

LARGEST = 1 << 28
"""Bytes of a turn: nobody fills this machine's memory."""

LATER = frozenset({Reason.BUSY, Reason.UNAVAILABLE})
"""Refusals that end by themselves."""

_PAUSES = RetryPolicy(100, 0.1)
_LONGEST_PAUSES = 6
"""After so many silent attempts pauses grow no longer: about three seconds."""

_BYTES = {"Content-Type": "application/octet-stream"}


@dataclass(frozen=True, slots=True)
class LiveLink:
    """A live session at a server, and the secret of one place in it.

    >>> LiveLink.parse("https://answers.example/l/leaf0#svl_" + "A" * 43)
    LiveLink(server='https://answers.example', session='leaf0')
    """

    server: str
    session: str
    secret: str = field(repr=False)

    @classmethod
    def parse(cls, link: str, *, allow_http: bool = False) -> Self:
        """The link in a text. Errors quote nothing of it."""
        return cls(*parsed_link(link, "l", Credential.LIVE, allow_http=allow_http))


class MemberClient:
    """What a member asks and sends. Everything may be said twice: the server knows it again.

    A server that does not answer may be about to start again: it is asked for `patience` seconds,
    and whoever listens is told once. What it refuses is refused at once.
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
        """Hang up."""
        self._connection.close()

    def offer(self) -> Any:
        """What the session is about. A link that leads nowhere is found out soon."""
        return self._with_retries(self._offer, FIRST)

    def post(self, path: str, document: Any) -> Any:
        """The JSON answer to this document."""
        return self._with_retries(lambda: self._connection.post(f"{self._path}{path}", document))

    def terms(self) -> Any:
        """The terms, once they are fixed: waits as long as it takes for others to join."""
        while (document := self._paced(self._terms)) is None:
            pass
        return document

    def _offer(self) -> Any:
        return self._connection.get(f"{self._path}/offer")

    def _terms(self) -> Any:
        """The terms; None if they are not fixed. A session that is gone has no offer either."""
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
        """What the server asks now; None if it has thought long enough and asks nothing."""
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
        """What is answered; a server that says at once that there is nothing is not pressed."""
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
                if silent == 1:  # what a long answer took before it broke does not count
                    end = time.monotonic() + min(most, self._patience)
                    self._tell(f"waiting: {error}")
                if time.monotonic() >= end:
                    raise
                time.sleep(_PAUSES.before(min(silent, _LONGEST_PAUSES)))
            else:
                if silent:
                    self._tell("the server answers again")
                return found


def invalid_reply(server: str) -> Unreachable:
    """A reply that no honest server sends."""
    return Unreachable(server, reason="what it says makes no sense")
