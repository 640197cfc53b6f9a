"""The files of the worker's page with their hashes, and what browsers are told not to do.

It needs no server: a client checks a server by it.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

STATIC = Path(__file__).parent / "static"

PAGE = "worker.html"
"""The worker's page itself, which is served as /c/CAMPAIGN and not as a static file."""

_NAMED = ("icon.svg", "randomize.js", "seal.js", "service-worker.js", "sottovoce.css", "worker.css")
_TYPES = ".d.ts"
"""Types are for who writes a module: no browser loads them."""

COMMON = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}

# For what is shown in a window of its own; each header of the interface costs time at each report.
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

# It asks for the page's files in the page's stead, and serves pages beside its own folder.
SERVICE_WORKER = {
    "Content-Security-Policy": "default-src 'none'; connect-src 'self'; frame-ancestors 'none'",
    "Service-Worker-Allowed": "../c/",
}


def worker_files(folder: Path = STATIC) -> tuple[str, ...]:
    """All that the worker's page may load, by their place below `static`.

    >>> "randomize.js" in worker_files()
    True
    """
    modules = (path.relative_to(folder).as_posix() for path in (folder / "worker").rglob("*.*"))
    return tuple(sorted([*_NAMED, *(name for name in modules if not name.endswith(_TYPES))]))


def fingerprint(content: bytes) -> str:
    """SHA-256 in hexadecimal: what is published, and what `sha256sum` prints."""
    return hashlib.sha256(content).hexdigest()
