"""`sottovoce campaign login` and `logout`."""

from __future__ import annotations

import getpass
import platform
import sys
from typing import Annotated

import typer

from sottovoce.cli import screen
from sottovoce.cli.campaigns.connecting import Chosen, reached
from sottovoce.cli.options import link_argument
from sottovoce.errors import UsageError
from sottovoce.http_client import checked_address
from sottovoce.requester.client import Requester
from sottovoce.requester.servers import (
    Server,
    Servers,
    parse_link,
    prepare,
    servers_file,
    token_from_setup,
)

__all__ = ["login", "logout"]

LONGEST = 200
"""Characters of a line that could be a token."""


def login(
    context: typer.Context,
    link: Annotated[
        str,
        link_argument(
            "The one-time link that `sottovoce serve` prints, in quotes; or a server's "
            "address, with --token or to make it the current one again."
        ),
    ],
    token: Annotated[
        bool,
        typer.Option("--token", help="Read a token (svk_…) from standard input, and keep it."),
    ] = False,
    name: Annotated[
        str | None,
        typer.Option(help="What to call the new token; this machine's name if not given."),
    ] = None,
) -> None:
    """Log in to a server: its token is kept in a file that only you can read.

    Commands speak to the server you logged in to last. The file is servers.json in your settings
    folder, or in `SOTTOVOCE_HOME`.
    """
    chosen: Chosen = context.obj
    if chosen.server is not None:
        raise UsageError("the link or address says which server it is: drop --server")
    file, http = servers_file(), chosen.allow_http
    servers = Servers.read(file)
    prepare(file)  # before a link that works once is used up
    if token:
        server = _known(Server(checked_address(link, allow_http=http), _asked_token(), http))
    elif "#" in link or link.rstrip("/").endswith("/setup"):
        server = _new(link, name or platform.node() or "command line", http)
    else:
        server = servers.server(checked_address(link, allow_http=True))
    servers.with_current(server).write(file)
    screen.note(f"logged in to {server.address}")
    screen.note("next: sottovoce campaign create TASKS.csv --question … --labels … --epsilon …")


def logout(context: typer.Context) -> None:
    """Forget the token of the current server, or of --server.

    The token stays valid until `sottovoce campaign token revoke` ends it.
    """
    chosen: Chosen = context.obj
    servers = Servers.read(servers_file())
    address = servers.current
    if chosen.server is not None:
        address = checked_address(chosen.server, allow_http=True)
    if address is None:
        raise UsageError("not logged in to any server")
    servers.server(address)
    servers.without(address).write(servers_file())
    screen.note(f"logged out of {address}")


def _new(link: str, name: str, allow_http: bool) -> Server:
    """A new token for a link that works once."""
    with reached(parse_link(link, allow_http=allow_http)[0]):
        address, token = token_from_setup(link, name, allow_http=allow_http)
    return Server(address, token, allow_http)


def _known(server: Server) -> Server:
    """The server, if it knows the token."""
    with reached(server.address):
        with Requester(server.address, server.token, allow_http=server.allow_http) as requester:
            requester.tokens()
    return server


def _asked_token() -> str:
    """A token from standard input; typed ones are not shown."""
    if sys.stdin.isatty():
        return getpass.getpass("Token: ").strip()
    return sys.stdin.readline(LONGEST).strip()
