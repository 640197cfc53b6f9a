"""An end to patience with connections that send too slowly, or too much before they begin."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any

from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.flow_control import service_unavailable
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from sottovoce.errors import Reason, Refused
from sottovoce.web.problems import problem_response

__all__ = ["ImpatientProtocol"]


class ImpatientProtocol(HttpToolsProtocol):
    """HTTP/1.1 as uvicorn speaks it, for strangers.

    uvicorn waits for ever: for a request's first line, for the rest of its body, for a reader that
    does not read. Each would hold a connection; a head without end would fill the memory.
    """

    LONGEST_HEAD = 32_768
    """Bytes of request line and headers."""
    HEAD_SECONDS = 15.0
    """From the first byte, or the connection, to the end of the head."""
    PAUSE_SECONDS = 20.0
    """Between two pieces of a body."""
    BODY_SECONDS = 600.0
    """For a whole request, however steadily it drips."""
    LINGER_SECONDS = 5.0
    """For the rest of a request that is answered already, so that the answer is read."""
    UNREAD_SECONDS = 60.0
    """For a reader to go on reading."""
    CHECK_SECONDS = 5.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._began: float | None = self.loop.time()
        self._heard = self._began
        self._head_bytes: int | None = 0
        self._answered: float | None = None
        self._unread: float | None = None
        self._checking = self.loop.call_later(self.CHECK_SECONDS, self._check)

    def connection_lost(self, exc: Exception | None) -> None:
        self._checking.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._heard = self.loop.time()
        super().data_received(data)
        if self._head_bytes is not None and not self.transport.is_closing():
            self._head_bytes += len(data)
            if self._head_bytes > self.LONGEST_HEAD:
                self.send_400_response("The request's head is too long.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._began, self._head_bytes, self._answered = self.loop.time(), 0, None

    def on_headers_complete(self) -> None:
        self._head_bytes, self._answered = None, None
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._began = None
        super().on_message_complete()

    def on_response_complete(self) -> None:
        if self._began is not None and self.cycle.response_complete:
            self._answered = self.loop.time()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request, in the one shape."""
        refused = problem_response(Refused(Reason.MALFORMED, msg), status=HTTPStatus.BAD_REQUEST)
        lines = [b"HTTP/1.1 400 Bad Request", b"connection: close"]
        lines += [b"%s: %s" % header for header in refused.raw_headers]
        self.transport.write(b"\r\n".join([*lines, b"", bytes(refused.body)]))
        self.transport.close()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        # What uvicorn says where there are too many connections has another shape.
        told: Any = _too_many if app is service_unavailable else app
        super()._start_asgi_task(cycle, told)

    def pause_writing(self) -> None:
        self._unread = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        self._unread = None
        super().resume_writing()

    def _check(self) -> None:
        if self.flow.read_paused:  # it is our side that lets the other wait
            self._heard = self.loop.time()
        if self._is_tried(self.loop.time()):
            self.transport.abort()
        elif not self.transport.is_closing():
            self._checking = self.loop.call_later(self.CHECK_SECONDS, self._check)

    def _is_tried(self, now: float) -> bool:
        """Whether patience has ended."""
        if self._unread is not None and now - self._unread > self.UNREAD_SECONDS:
            return True
        if self._began is None:
            return False
        if self._answered is not None:
            return now - self._answered > self.LINGER_SECONDS
        if self._head_bytes is not None:
            return now - self._began > self.HEAD_SECONDS
        return now - self._heard > self.PAUSE_SECONDS or now - self._began > self.BODY_SECONDS


async def _too_many(scope: Scope, receive: Receive, send: Send) -> None:
    refused = Refused(Reason.BUSY, "the server has too many connections: try again later")
    response = problem_response(refused, status=HTTPStatus.SERVICE_UNAVAILABLE)
    response.headers["Connection"] = "close"
    await response(scope, receive, send)
