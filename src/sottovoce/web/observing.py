"""Every request is timed and counted, and an error nobody expected becomes an answer."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sottovoce.web.metrics import CUT_OFF, REPLAYED, STORED, Metrics
from sottovoce.web.problems import REASON, unexpected_problem

__all__ = ["Observed", "Observing"]

log = logging.getLogger("sottovoce.web")

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})
GONE = 499
"""The status of a request whose sender went away, in counts only."""


@dataclass(frozen=True, slots=True)
class Observed:
    """How the requests of one route are told: by its template, and quietly if workers use it."""

    template: str
    is_quiet: bool = False
    takes_reports: bool = False


ELSEWHERE = Observed("none")


class Observing:
    """Wraps the application. Requests of workers leave no line: a time would be beside a report."""

    def __init__(self, app: ASGIApp, metrics: Metrics, routes: Mapping[Any, Observed]) -> None:
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
            if status:  # half an answer is out: only cutting it off says that it is not whole
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
