"""The files of the worker's page with their hashes, and its security headers.

It does not need the server's dependencies: clients use it to check a server.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

STATIC = Path(__file__).parent / "static"

PAGE = "worker.html"
"""The worker's page itself, which is served as /c/CAMPAIGN and not as a static file."""

_NAMED = ("icon.svg", "randomize.js", "seal.js", "service-worker.js", "sottovoce.css", "worker.css")
_TYPES = ".d.ts"
"""Type declarations are for developers: no browser loads them."""

COMMON = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}

# For pages only; on the API each header would cost time at each report.
SHOWN = {
    **COMMON,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}

PAGE_RULES = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types sottovoce"
)

NOTHING = "default-src 'none'; frame-ancestors 'none'"

# The service worker fetches the page's files, and serves pages outside its own folder.
SERVICE_WORKER = {
    "Content-Security-Policy": "default-src 'none'; connect-src 'self'; frame-ancestors 'none'",
    "Service-Worker-Allowed": "../c/",
}


def worker_files(folder: Path = STATIC) -> tuple[str, ...]:
    """All files that the worker's page may load, by their path below `static`.

    >>> "randomize.js" in worker_files()
    True
    """
    modules = (path.relative_to(folder).as_posix() for path in (folder / "worker").rglob("*.*"))
    return tuple(sorted([*_NAMED, *(name for name in modules if not name.endswith(_TYPES))]))


def fingerprint(content: bytes) -> str:
    """The SHA-256 in hexadecimal, as published and as `sha256sum` prints it."""
    return hashlib.sha256(content).hexdigest()
