"""The settings of a server."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from sottovoce.errors import UsageError
from sottovoce.server.database import Database

OWN_NAMES = frozenset(
    {"api", "c", "campaigns", "healthz", "k", "l", "lab", "metrics", "readyz", "setup", "static"}
)
"""First parts of the server's own addresses. A prefix must not have the same name."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of `sottovoce serve`.

    `public_url` is how people reach the server, path prefix included; links are made with it.
    `allow_http_webhooks` allows webhooks over http:// to other machines, for private networks.

    >>> Settings(Path("data"), public_url="https://example.org/ask/").prefix
    '/ask'
    """

    data: Path
    database_url: str | None = field(default=None, repr=False)
    public_url: str = "http://127.0.0.1:8000"
    allow_http_webhooks: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "public_url", _checked(self.public_url))

    @property
    def prefix(self) -> str:
        """The path under which people reach the server: empty, or starts with a slash."""
        return urlsplit(self.public_url).path

    @property
    def is_https(self) -> bool:
        """Whether people reach the server over TLS."""
        return self.public_url.startswith("https://")

    def database(self) -> Database:
        """The database these settings name."""
        return Database.at(self.database_url or self.data)


def _checked(url: str) -> str:
    """The address without a final slash, if links can be made with it."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise UsageError("the public URL must start with https:// or http://, without a password")
    if parts.query or parts.fragment or not url.isascii() or "//" in parts.path or " " in url:
        raise UsageError(
            "the public URL must be a host and an optional path, such as https://x.org/ask"
        )
    path = parts.path.rstrip("/")
    if path.split("/")[1:2] and path.split("/")[1] in OWN_NAMES:
        raise UsageError(f"the public URL's path cannot start with {path}: the server uses it")
    return f"{parts.scheme}://{parts.netloc}{path}"
