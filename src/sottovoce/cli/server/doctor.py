"""`sottovoce doctor`, and what it looks at on the machine: what is installed, its clock, limits."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from sottovoce.cli import console
from sottovoce.cli.options import DATA_FOLDER, DatabaseUrlOption, DataOption, JsonOption
from sottovoce.cli.server.check import Check, CheckState, fine, problem, warning
from sottovoce.cli.server.database import opened
from sottovoce.cli.server.site_checks import site
from sottovoce.cli.server.storage_checks import database_findings, folder_findings
from sottovoce.errors import NotInstalled, UsageError, install_command
from sottovoce.http_client.addresses import checked_address
from sottovoce.version import __version__

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


def doctor(
    data: DataOption = DATA_FOLDER,
    database_url: DatabaseUrlOption = None,
    url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Look at the running site too, as others see it.",
            show_default=False,
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Look for what keeps a service from running well, and say how to put it right.

    Looks at this machine, the data folder or the database, and with --url at the site: its
    certificate, its headers and the proxy before it. Changes nothing. Exit code 1 if there is a
    problem.
    """
    address = checked_address(url, allow_http=True) if url is not None else None
    findings = []
    for finding in _all(data, database_url, address):
        findings.append(finding)
        if not json:
            _show(finding)
    counts = Counter(finding.state for finding in findings)
    if json:
        console.print_json(
            {"ok": not counts[CheckState.PROBLEM], "checks": [asdict(f) for f in findings]}
        )
    else:
        console.say("")
        console.say(f"{counts[CheckState.PROBLEM]} problems, {counts[CheckState.WARNING]} warnings")
    if counts[CheckState.PROBLEM]:
        raise typer.Exit(1)


def _all(data: Path, database_url: str | None, url: str | None) -> Iterator[Check]:
    now = datetime.now(UTC)
    yield from _machine(now)
    if database_url is None:
        yield from folder_findings(data)
    try:
        with opened(data, database_url) as database:
            yield from database_findings(database)
    except NotInstalled:
        return  # told above, with its fix
    except UsageError as error:
        yield problem("database", str(error), "write postgresql://user:password@host/name")
    if url is not None:
        yield from site(url, now)


def _show(finding: Check) -> None:
    console.say(f"{finding.state:<8} {finding.check}: {finding.found}")
    if finding.fix:
        console.say(f"         fix: {finding.fix}")


def _machine(now: datetime) -> Iterator[Check]:
    """Look at the machine."""
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
        return problem(f"extra {name}", found, install_command(name))
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
