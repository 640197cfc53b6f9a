"""Middleware: counts and times of requests, security headers, and a server behind a path.

Unexpected errors become problem documents. A server may be reached at
https://example.org/ask/ instead of https://ask.example.org/.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sottovoce.server.web.metrics import CUT_OFF, REPLAYED, STORED, Metrics
from sottovoce.server.web.problems import REASON, unexpected_problem
from sottovoce.server.web.settings import Settings
from sottovoce.server.web.worker_page import COMMON, NOTHING, PAGE_RULES, SERVICE_WORKER, SHOWN

# Swagger UI sets innerHTML, which trusted types forbid; inline scripts are still blocked.
REFERENCE = PAGE_RULES.partition("; require-trusted-types-for")[0]
TWO_YEARS = "max-age=63072000"


Headers = list[tuple[bytes, bytes]]

log = logging.getLogger("sottovoce.web")

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})

GONE = 499
"""The status of a request whose client disconnected, in metrics only."""


class SecurityHeaders:
    """Adds security headers to responses: API, reference, static file or page."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        secure = {"Strict-Transport-Security": TWO_YEARS} if settings.is_https else {}
        unkept = {"Cache-Control": "no-store"}
        self._interface = _raw(COMMON, secure, unkept, {"Content-Security-Policy": NOTHING})
        self._reference = _raw(SHOWN, secure, unkept, {"Content-Security-Policy": REFERENCE})
        # Browsers revalidate files each time, so that a new release shows at once.
        renewed = {"Cache-Control": "no-cache"}
        self._static = _raw(COMMON, secure, renewed, {"Content-Security-Policy": NOTHING})
        self._service_worker = _raw(COMMON, secure, renewed, SERVICE_WORKER)
        self._page = _raw(SHOWN, secure, unkept, {"Content-Security-Policy": PAGE_RULES})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        added = self._for(scope["path"][len(scope.get("root_path", "")) :])

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *added]
            await send(message)

        await self._app(scope, receive, send_with_headers)

    def _for(self, path: str) -> Headers:
        if path.startswith("/api/"):
            return self._interface
        if path == "/api":
            return self._reference
        if path == "/static/service-worker.js":
            return self._service_worker
        return self._static if path.startswith("/static/") else self._page


def _raw(*parts: dict[str, str]) -> Headers:
    return [
        (name.lower().encode("ascii"), value.encode("ascii"))
        for part in parts
        for name, value in part.items()
    ]


@dataclass(frozen=True, slots=True)
class ObservedRoute:
    """How requests of a route are logged: by its template; not at all if workers use it."""

    template: str
    is_quiet: bool = False
    takes_reports: bool = False


ELSEWHERE = ObservedRoute("none")


class RequestObserver:
    """Counts and logs requests. Workers' are not logged: a time could be linked to a report."""

    def __init__(self, app: ASGIApp, metrics: Metrics, routes: Mapping[Any, ObservedRoute]) -> None:
        self._app, self._metrics, self._routes = app, metrics, routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status = time.perf_counter(), 0

        async def observed_send(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, observed_send)
        except ClientDisconnect:
            status = GONE
        except Exception as error:
            log.error("unexpected error", exc_info=error)
            if (
                status
            ):  # half of the response has been sent: cutting it off shows that it is incomplete
                raise
            await unexpected_problem()(scope, receive, observed_send)
        finally:
            self._note(scope, status or GONE, time.perf_counter() - start)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = self._routes.get(scope.get("endpoint"), ELSEWHERE)
        method = scope["method"] if scope["method"] in METHODS else "other"
        self._metrics.count_request(route.template, method, status, seconds)
        if route.takes_reports:
            self._metrics.count_report(_outcome(scope, status))
        if not route.is_quiet or status >= 500:
            fields = {"method": method, "route": route.template, "status": status}
            log.info("request", extra={**fields, "milliseconds": round(seconds * 1000, 1)})


def _outcome(scope: Scope, status: int) -> str:
    if status == 201:
        return STORED
    if status == 200:
        return REPLAYED
    return CUT_OFF if status == GONE else str(scope.get(REASON, "unavailable"))


class Prefixed:
    """Removes the path prefix, whether or not the proxy strips it."""

    def __init__(self, app: ASGIApp, prefix: str) -> None:
        self._app, self._prefix = app, prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._prefix and scope["type"] == "http":
            path, prefix = scope["path"], self._prefix
            if path == prefix:
                path += "/"
            elif not path.startswith(f"{prefix}/"):
                path = prefix + path
            scope["path"], scope["root_path"] = path, prefix
        await self._app(scope, receive, send)
