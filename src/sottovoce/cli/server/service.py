"""`sottovoce serve`."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import replace
from typing import Annotated

import typer

from sottovoce.cli import console
from sottovoce.cli.options import DATA_FOLDER, DatabaseUrlOption, DataOption
from sottovoce.errors import UsageError
from sottovoce.files.locks import folder_lock
from sottovoce.server.credentials import list_tokens, make_setup
from sottovoce.server.database import Database
from sottovoce.server.database.schema_version import (
    SchemaState,
    check_schema,
    schema_state,
    upgrade,
)
from sottovoce.server.service import Service
from sottovoce.server.web.http_server import listening, run
from sottovoce.server.web.logs import LogFormat
from sottovoce.server.web.settings import Settings
from sottovoce.version import __version__

ABOUT = """\
This folder contains all data of a Sottovoce server: campaigns, hashes of invites and tokens, and
the randomised reports of workers. It contains no worker's answer.

Back it up with `sottovoce backup`, which also works while the server runs; a plain copy may be
inconsistent. To move it to another machine, stop the server and copy the whole folder.
"""
PublicUrlOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="The server's public address, if it is not --host and --port: "
        "https://example.org, or https://example.org/ask behind a proxy.",
        show_default=False,
    ),
]
MetricsPortOption = Annotated[
    int | None,
    typer.Option(
        help="Also serve metrics on this port of this machine, without a token.",
        min=1,
        max=65535,
        show_default=False,
    ),
]
HttpWebhooksOption = Annotated[
    bool,
    typer.Option(
        "--allow-http-webhooks",
        help="Allow webhooks over http:// to other machines, for a private network.",
    ),
]


def serve(
    data: DataOption = DATA_FOLDER,
    database_url: DatabaseUrlOption = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(help="Port to listen on; 0 means any free port.", min=0, max=65535)
    ] = 8000,
    public_url: PublicUrlOption = None,
    processes: Annotated[
        int,
        typer.Option(
            help="Number of server processes; more than one needs PostgreSQL.", min=1, max=64
        ),
    ] = 1,
    metrics_port: MetricsPortOption = None,
    allow_http_webhooks: HttpWebhooksOption = False,
    new_admin_link: Annotated[
        bool,
        typer.Option("--new-admin-link", help="Print a new one-time login link for a requester."),
    ] = False,
    log_format: Annotated[
        str, typer.Option(metavar="json|text", help="Format of the log on standard error.")
    ] = "json",
) -> None:
    """Run the server: campaigns, reports and results on one port.

    Creates the data folder if needed. Prints a one-time link that creates the first requester's
    token; open it, or pass it to `sottovoce campaign login`. Ctrl-C and SIGTERM shut down cleanly:
    accepted reports are saved first.
    """
    os.umask(0o077)  # new files are readable by their owner only
    if log_format not in list(LogFormat):
        raise UsageError(f"--log-format takes json or text, not {log_format!r}")
    with ExitStack() as stack:
        # Check all options first; create files only afterwards.
        settings = Settings(
            data, database_url, public_url or "http://127.0.0.1", allow_http_webhooks
        )
        database = settings.database()
        stack.callback(database.close)
        if processes > 1 and database.is_sqlite:
            raise UsageError("--processes above 1 needs PostgreSQL: give --database-url")
        bound = stack.enter_context(listening(host, port))
        if public_url is None:
            settings = replace(settings, public_url=_own_address(host, bound.getsockname()[1]))
        _hold(stack, database)
        _make_ready(database)
        link = _setup_link(settings, wanted=new_admin_link)
        database.close()
        run(
            settings,
            bound,
            ready=lambda: _welcome(settings, database, host, link),
            processes=processes,
            metrics_port=metrics_port,
            log_format=LogFormat(log_format),
        )


def _own_address(host: str, port: int) -> str:
    """The server's address for a browser on this machine."""
    if host in ("0.0.0.0", "::", ""):  # noqa: S104 - compared, not bound
        host = "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _hold(stack: ExitStack, database: Database) -> None:
    """Lock SQLite's folder exclusively: two servers would not see each other's changes."""
    if database.file is not None:
        folder = database.file.parent
        is_new = not folder.exists()
        stack.enter_context(folder_lock(folder))
        if is_new:
            (folder / "README.txt").write_text(ABOUT, encoding="utf-8")


def _make_ready(database: Database) -> None:
    """Create tables in an empty database; any other must have this release's schema."""
    if schema_state(database) is SchemaState.EMPTY:
        upgrade(database)
    check_schema(database)


def _setup_link(settings: Settings, *, wanted: bool) -> str | None:
    """A one-time link if no token exists yet, or if one is requested."""
    service = Service.on(settings.database())
    try:
        if list_tokens(service) and not wanted:
            return None
        return f"{settings.public_url}/setup#{make_setup(service)}"
    finally:
        service.close()


def _place(database: Database) -> str:
    if database.file is not None:
        return str(database.file.parent.resolve())
    host = f" on {database.url.host}" if database.url.host else ""
    return f"PostgreSQL, database {database.url.database}{host}"


def _welcome(settings: Settings, database: Database, host: str, link: str | None) -> None:
    """Print the start screen. The link appears nowhere else, neither in a log nor on disk."""
    lines = [
        f"Sottovoce {__version__}",
        "",
        f"  address    {settings.public_url}",
        f"  data       {_place(database)}",
        f"  reference  {settings.public_url}/api",
        "",
    ]
    if link:
        lines += [
            "This link creates a requester's token. It works once; open it, or log in with it:",
            "",
            f"  {link}",
            "",
            f"  sottovoce campaign login '{link}'",
            "",
        ]
    else:
        lines += ["To create another token, restart with --new-admin-link.", ""]
    if not settings.is_https and host not in ("127.0.0.1", "::1", "localhost"):
        lines += [
            "Others can reach this server without TLS: anyone on the network path can read and",
            "change everything. Put a TLS proxy in front of it and set --public-url https://…",
            "",
        ]
    console.say("\n".join([*lines, "Ctrl-C stops the server."]))
