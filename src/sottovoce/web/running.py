"""A server process, or several: sockets, limits, and an end that loses nothing."""

from __future__ import annotations

import os
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from types import FrameType

import uvicorn
from fastapi import FastAPI
from prometheus_client import CollectorRegistry, start_http_server
from uvicorn.supervisors import Multiprocess

from sottovoce.errors import UsageError
from sottovoce.web.app import build_app
from sottovoce.web.connections import ImpatientProtocol
from sottovoce.web.logs import LogFormat, set_up_logs
from sottovoce.web.metrics import FOLDER, registry_of_all
from sottovoce.web.settings import Settings

__all__ = ["listening", "run"]

MOST_CONNECTIONS = 8192
SPARE_FILES = 128
"""Files a process needs besides its connections."""
KEEP_ALIVE = 15
"""Seconds a connection may idle between two requests."""
GRACE = 8
"""Seconds for what was taken to be finished when the server stops."""
STARTING = 60
"""Seconds for a process to say that it lives: on a busy machine it takes some to start."""
TURN = 0.001
"""Seconds a thread may keep others waiting: what the one that writes holds, other servers wait for.

Python's own 5 ms, each time PostgreSQL answers, made them wait for most of their time.
"""
INTERRUPTED = 130


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """A socket that takes connections, which wait until the server runs. Port 0: any free one."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (socket.gaierror, UnicodeError):
        raise UsageError(f"there is no host {host!r} here: try --host 127.0.0.1") from None
    with socket.socket(family, kind, protocol) as bound:
        if os.name == "posix":
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind(address)
            bound.listen(2048)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise UsageError(
                f"port {port} of {host} cannot be used ({reason}): choose another with --port"
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
    """Serve until told to stop: finish what was taken, write what waits, end.

    `ready` is called when nothing is left that could be wrong with what was asked.
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
    """uvicorn's server; who asks twice that it ends is not kept waiting.

    Nor does it wait for keyholders that wait for work.
    """

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self.should_exit and sig == signal.SIGINT:
            # What was acknowledged is on the disk, and nothing else was promised.
            os._exit(INTERRUPTED)
        super().handle_exit(sig, frame)
        if isinstance(self.config.app, FastAPI) and hasattr(self.config.app.state, "service"):
            self.config.app.state.service.attendance.end()


def _application(settings: Settings, log_format: LogFormat) -> FastAPI:
    """The application in a process of its own, where nothing is set up yet."""
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
        # Nothing here depends on who connects or over what: no header is believed.
        proxy_headers=False,
        limit_concurrency=_most_connections(),
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=GRACE,
        timeout_worker_healthcheck=STARTING,
    )


def _most_connections() -> int:
    """As many as the system gives files for, up to our own limit."""
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
    """uvicorn repeats the signal that stopped it; here the command goes on and ends well."""
    handled = (signal.SIGINT, signal.SIGTERM)
    before = {one: signal.signal(one, lambda *_: None) for one in handled}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


@contextmanager
def _shared_counts() -> Iterator[Path]:
    """A folder in which several processes keep their counts."""
    with tempfile.TemporaryDirectory(prefix="sottovoce-counts-") as folder:
        os.environ[FOLDER] = folder
        try:
            yield Path(folder)
        finally:
            del os.environ[FOLDER]


@contextmanager
def _metrics_at(port: int | None, registry: CollectorRegistry) -> Iterator[None]:
    """The counts on a port of this machine only, where no token is asked for."""
    if port is None:
        yield
        return
    try:
        server, thread = start_http_server(port, "127.0.0.1", registry)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(
            f"port {port} cannot be used ({reason}): choose another with --metrics-port"
        ) from None
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
