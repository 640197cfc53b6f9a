"""The machine: what is installed, its clock and its limits."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path

from sottovoce.cli.server.check import Check, fine, problem, warning
from sottovoce.version import __version__

__all__ = ["machine"]

EXTRAS = {
    "client": ("httpx",),
    "server": (
        "alembic",
        "fastapi",
        "fastapi_swagger",
        "httptools",
        "jinja2",
        "prometheus_client",
        "psycopg",
        "sqlalchemy",
        "uvicorn",
    ),
}
OLDEST = (3, 11)
ENOUGH_FILES = 4096
"""Each connection of a worker is an open file."""
YEARS = range(2025, 2100)


def machine(now: datetime) -> Iterator[Check]:
    """Look at it."""
    yield _python()
    yield from (_extra(name, modules) for name, modules in EXTRAS.items())
    yield _clock(now)
    yield _compiling()
    yield from _files()


def _python() -> Check:
    found = f"{sys.version_info.major}.{sys.version_info.minor}.{sys.version_info.micro}"
    if sys.version_info < OLDEST:
        return problem("Python", found, "install Python 3.11 or newer")
    return fine("Python", f"{found}, sottovoce {__version__}")


def _extra(name: str, modules: tuple[str, ...]) -> Check:
    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        found = f"{', '.join(missing)} not installed"
        return problem(f"extra {name}", found, f"pip install 'sottovoce[{name}]'")
    return fine(f"extra {name}", "installed")


def _clock(now: datetime) -> Check:
    if now.year not in YEARS:
        found = f"it says {now.date().isoformat()}"
        return problem("clock", found, "sudo timedatectl set-ntp true")
    return fine("clock", f"{now.date().isoformat()} (UTC)")


def _compiling() -> Check:
    """Large campaigns are inferred by compiled code, which numba makes only if it can keep it."""
    named = os.environ.get("NUMBA_CACHE_DIR")
    places = [Path(named)] if named else [Path(__file__).parent, Path.home() / ".cache"]
    if any(_can_be_written(place) for place in places):
        return fine("compiled code", f"is kept in {named or 'the usual place'}")
    found = "cannot be kept anywhere: large campaigns would not be inferred"
    return problem("compiled code", found, "export NUMBA_CACHE_DIR=/var/tmp/sottovoce-numba")


def _can_be_written(place: Path) -> bool:
    there = next(path for path in (place, *place.absolute().parents) if path.exists())
    return there.is_dir() and os.access(there, os.W_OK)


def _files() -> Iterator[Check]:
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < ENOUGH_FILES:
        most = "more" if hard == resource.RLIM_INFINITY or hard >= ENOUGH_FILES else f"only {hard}"
        yield warning(
            "open files",
            f"at most {soft:,}, and {most} allowed: as many connections at once, less a few",
            f"ulimit -n {ENOUGH_FILES} (systemd: LimitNOFILE={ENOUGH_FILES * 4})",
        )
    else:
        unlimited = soft == resource.RLIM_INFINITY
        yield fine("open files", "no limit" if unlimited else f"up to {soft:,}")
