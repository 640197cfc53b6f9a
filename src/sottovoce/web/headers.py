"""What browsers are told not to do."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sottovoce.web.header_values import (
    COMMON,
    NOTHING,
    PAGE,
    REFERENCE,
    SERVICE_WORKER,
    SHOWN,
    TWO_YEARS,
)
from sottovoce.web.settings import Settings

__all__ = ["PAGE", "SecurityHeaders"]

Headers = list[tuple[bytes, bytes]]


class SecurityHeaders:
    """Adds to every answer what its kind needs: interface, reference, static file or page."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        secure = {"Strict-Transport-Security": TWO_YEARS} if settings.is_https else {}
        unkept = {"Cache-Control": "no-store"}
        self._interface = _raw(COMMON, secure, unkept, {"Content-Security-Policy": NOTHING})
        self._reference = _raw(SHOWN, secure, unkept, {"Content-Security-Policy": REFERENCE})
        # A browser asks each time whether a file has changed: a new release shows at once.
        renewed = {"Cache-Control": "no-cache"}
        self._static = _raw(COMMON, secure, renewed, {"Content-Security-Policy": NOTHING})
        self._service_worker = _raw(COMMON, secure, renewed, SERVICE_WORKER)
        self._page = _raw(SHOWN, secure, unkept, {"Content-Security-Policy": PAGE})

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
