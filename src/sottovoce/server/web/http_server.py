"""Runs one or several server processes: sockets, limits, and a clean shutdown.

Connections that send too slowly, or too much before they begin, are ended.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from http import HTTPStatus
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI
from prometheus_client import CollectorRegistry, start_http_server
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.flow_control import service_unavailable
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.supervisors import Multiprocess

from sottovoce.errors import Reason, Refused, UsageError
from sottovoce.server.web.app import build_app
from sottovoce.server.web.logs import LogFormat, set_up_logs
from sottovoce.server.web.metrics import FOLDER, registry_of_all
from sottovoce.server.web.problems import problem_response
from sottovoce.server.web.settings import Settings

MOST_CONNECTIONS = 8192

SPARE_FILES = 128
"""Files a process needs in addition to its connections."""

KEEP_ALIVE = 15
"""Seconds a connection may idle between two requests."""

GRACE = 8
"""Seconds to finish accepted requests when the server stops."""

STARTING = 60
"""Seconds for a process to report that it is alive: starting takes time on a busy machine."""

TURN = 0.001
"""Seconds a thread may run before it yields: other servers wait for the thread that writes.

With Python's default of 5 ms at each reply of PostgreSQL, they spent most of their time waiting.
"""

INTERRUPTED = 130


class ImpatientProtocol(HttpToolsProtocol):
    """uvicorn's HTTP/1.1 with limits for untrusted clients.

    uvicorn waits without limit for a request's first line, for the rest of its body, and for a
    reader that does not read. Each would hold a connection; an endless head would fill the memory.
    """

    LONGEST_HEAD = 32_768
    """Bytes of request line and headers."""
    HEAD_SECONDS = 15.0
    """From the first byte, or the connection, to the end of the head."""
    PAUSE_SECONDS = 20.0
    """Between two pieces of a body."""
    BODY_SECONDS = 600.0
    """For a whole request."""
    LINGER_SECONDS = 5.0
    """For the rest of a request that has been answered, so that the client reads the answer."""
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
        """Refuse a malformed request with a problem document."""
        refused = problem_response(Refused(Reason.MALFORMED, msg), status=HTTPStatus.BAD_REQUEST)
        lines = [b"HTTP/1.1 400 Bad Request", b"connection: close"]
        lines += [b"%s: %s" % header for header in refused.raw_headers]
        self.transport.write(b"\r\n".join([*lines, b"", bytes(refused.body)]))
        self.transport.close()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        # uvicorn's own reply to too many connections has another format.
        told: Any = _too_many if app is service_unavailable else app
        super()._start_asgi_task(cycle, told)

    def pause_writing(self) -> None:
        self._unread = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        self._unread = None
        super().resume_writing()

    def _check(self) -> None:
        if self.flow.read_paused:  # the server keeps the client waiting
            self._heard = self.loop.time()
        if self._is_tried(self.loop.time()):
            self.transport.abort()
        elif not self.transport.is_closing():
            self._checking = self.loop.call_later(self.CHECK_SECONDS, self._check)

    def _is_tried(self, now: float) -> bool:
        """Whether the time limit has passed."""
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
    refused = Refused(Reason.BUSY, "the server has too many connections; try again later")
    response = problem_response(refused, status=HTTPStatus.SERVICE_UNAVAILABLE)
    response.headers["Connection"] = "close"
    await response(scope, receive, send)


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """A listening socket. Connections wait until the server runs. Port 0 is any free port."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (socket.gaierror, UnicodeError):
        raise UsageError(f"this machine has no host {host!r}; try --host 127.0.0.1") from None
    with socket.socket(family, kind, protocol) as bound:
        if os.name == "posix":
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind(address)
            bound.listen(2048)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise UsageError(
                f"port {port} of {host} cannot be used ({reason}); choose another with --port"
            ) from None
        yield bound


def run(
    settings: Settings,
    bound: socket.socket,
    *,
    ready: Callable[[], None],
    processes: int = 1,
    metrics_port: int | None = None,
    log_format: LogFormat = LogFormat.json,
) -> None:
    """Serve until told to stop: finish accepted requests, write queued reports, exit.

    `ready` is called once all settings have been checked.
    """
    set_up_logs(log_format)
    sys.setswitchinterval(TURN)
    with ExitStack() as stack:
        stack.enter_context(_quiet_signals())
        if processes == 1:
            app = build_app(settings)
            stack.enter_context(_metrics_at(metrics_port, app.state.metrics.registry))
            ready()
            Server(_configured(app)).run([bound])
        else:
            folder = stack.enter_context(_shared_counts())
            stack.enter_context(_metrics_at(metrics_port, registry_of_all(folder)))
            application = partial(_application, settings, log_format)
            ready()
            Multiprocess(_configured(application, processes), [bound]).run()


class Server(uvicorn.Server):
    """uvicorn's server; a second stop signal ends it at once.

    It does not wait for long polls of keyholders.
    """

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self.should_exit and sig == signal.SIGINT:
            # Acknowledged reports are on disk already.
            os._exit(INTERRUPTED)
        super().handle_exit(sig, frame)
        if isinstance(self.config.app, FastAPI) and hasattr(self.config.app.state, "service"):
            self.config.app.state.service.attendance.end()


def _application(settings: Settings, log_format: LogFormat) -> FastAPI:
    """The application in a new process, where nothing is set up yet."""
    set_up_logs(log_format)
    sys.setswitchinterval(TURN)
    return build_app(settings)


def _configured(app: object, processes: int = 1) -> uvicorn.Config:
    return uvicorn.Config(
        app,  # type: ignore[arg-type]
        factory=processes > 1,
        workers=processes,
        http=ImpatientProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        # No forwarding header is trusted: nothing here depends on the client's address.
        proxy_headers=False,
        limit_concurrency=_most_connections(),
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=GRACE,
        timeout_worker_healthcheck=STARTING,
    )


def _most_connections() -> int:
    """As many as the system's file limit allows, up to our own limit."""
    if sys.platform == "win32":
        return MOST_CONNECTIONS
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS + SPARE_FILES
    if soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return max(64, min(MOST_CONNECTIONS, soft - SPARE_FILES))


@contextmanager
def _quiet_signals() -> Iterator[None]:
    """Swallow the signal that uvicorn raises again, so that the command exits cleanly."""
    handled = (signal.SIGINT, signal.SIGTERM)
    before = {one: signal.signal(one, lambda *_: None) for one in handled}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


@contextmanager
def _shared_counts() -> Iterator[Path]:
    """A folder in which several processes store their metrics."""
    with tempfile.TemporaryDirectory(prefix="sottovoce-counts-") as folder:
        os.environ[FOLDER] = folder
        try:
            yield Path(folder)
        finally:
            del os.environ[FOLDER]


@contextmanager
def _metrics_at(port: int | None, registry: CollectorRegistry) -> Iterator[None]:
    """Metrics on a port of this machine only, without a token."""
    if port is None:
        yield
        return
    try:
        server, thread = start_http_server(port, "127.0.0.1", registry)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(
            f"port {port} cannot be used ({reason}); choose another with --metrics-port"
        ) from None
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
