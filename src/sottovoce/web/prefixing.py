"""A server behind a path: https://example.org/ask/ instead of https://ask.example.org/."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["Prefixed"]


class Prefixed:
    """Finds the server's own addresses whether or not the proxy strips the prefix."""

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
