"""`sottovoce doctor`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from sottovoce.cli import console
from sottovoce.cli.options import DATA_FOLDER, DatabaseUrlOption, DataOption, JsonOption
from sottovoce.cli.server.check import Check, State, problem
from sottovoce.cli.server.database import opened
from sottovoce.cli.server.machine_checks import machine
from sottovoce.cli.server.site_checks import site
from sottovoce.cli.server.storage_checks import database_findings, folder_findings
from sottovoce.errors import NotInstalled, UsageError
from sottovoce.http_client.addresses import checked_address

__all__ = ["doctor"]


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
    address = _address(url) if url is not None else None
    findings = []
    for finding in _all(data, database_url, address):
        findings.append(finding)
        if not json:
            _show(finding)
    counts = Counter(finding.state for finding in findings)
    if json:
        console.print_json(
            {"ok": not counts[State.PROBLEM], "checks": [asdict(f) for f in findings]}
        )
    else:
        console.say("")
        console.say(f"{counts[State.PROBLEM]} problems, {counts[State.WARNING]} warnings")
    if counts[State.PROBLEM]:
        raise typer.Exit(1)


def _all(data: Path, database_url: str | None, url: str | None) -> Iterator[Check]:
    now = datetime.now(UTC)
    yield from machine(now)
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


def _address(url: str) -> str:
    return checked_address(url, allow_http=True)
