"""`sottovoce campaign login`, `logout` and `token`."""

from __future__ import annotations

import getpass
import platform
import sys
from typing import Annotated

import typer

from sottovoce.cli import console
from sottovoce.cli.campaign.connection import ServerChoice, connected, reached
from sottovoce.cli.campaign.description import printable_line
from sottovoce.cli.options import JsonOption, link_argument
from sottovoce.errors import UsageError
from sottovoce.http_client.addresses import checked_address
from sottovoce.model import digest
from sottovoce.requester.client import Requester
from sottovoce.requester.servers import (
    SavedServer,
    Servers,
    parse_link,
    prepare,
    servers_file,
    token_from_setup,
)

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
        bool, typer.Option("--token", help="Read a token (svk_…) from standard input, and keep it.")
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
    chosen: ServerChoice = context.obj
    if chosen.server is not None:
        raise UsageError("the link or address says which server it is: drop --server")
    file, http = servers_file(), chosen.allow_http
    servers = Servers.read(file)
    prepare(file)  # before a link that works once is used up
    if token:
        server = _known(SavedServer(checked_address(link, allow_http=http), _asked_token(), http))
    elif "#" in link or link.rstrip("/").endswith("/setup"):
        server = _new(link, name or platform.node() or "command line", http)
    else:
        server = servers.server(checked_address(link, allow_http=True))
    servers.with_current(server).write(file)
    console.note(f"logged in to {server.address}")
    console.note("next: sottovoce campaign create TASKS.csv --question … --labels … --epsilon …")


def logout(context: typer.Context) -> None:
    """Forget the token of the current server, or of --server.

    The token stays valid until `sottovoce campaign token revoke` ends it.
    """
    chosen: ServerChoice = context.obj
    servers = Servers.read(servers_file())
    address = servers.current
    if chosen.server is not None:
        address = checked_address(chosen.server, allow_http=True)
    if address is None:
        raise UsageError("not logged in to any server")
    servers.server(address)
    servers.without(address).write(servers_file())
    console.note(f"logged out of {address}")


def make(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Who or what it is for.", show_default=False)
    ],
    json: JsonOption = False,
) -> None:
    """Make a further token and print it. It may do all that yours may."""
    with connected(context) as requester:
        made = requester.make_token(name)
    if json:
        console.print_json(made)
    else:
        console.say(made["token"])
    console.note("A token is a secret. It is shown once; the server keeps only its hash.")


def list_tokens(context: typer.Context, json: JsonOption = False) -> None:
    """List all tokens by name, without the tokens themselves."""
    with connected(context) as requester:
        tokens = requester.tokens()
        own = digest(requester.token).hex()
    if json:
        console.print_json({"tokens": tokens})
        return
    rows = [
        [
            each["id"],
            printable_line(each["name"]),
            each["created_on"],
            "yours" * own.startswith(each["id"]),
        ]
        for each in tokens
    ]
    console.print_table(["id", "name", "made on", ""], rows)


def revoke(
    context: typer.Context,
    token: Annotated[
        str,
        typer.Argument(metavar="TOKEN_ID", help="As `token list` names it.", show_default=False),
    ],
    json: JsonOption = False,
) -> None:
    """End a token at once."""
    with connected(context) as requester:
        requester.revoke_token(token)
        is_own = digest(requester.token).hex()[:16] == token
    if json:
        console.print_json({"revoked": token})
        return
    console.note(f"token {token} no longer works")
    if is_own:
        console.note("It was the one you use here: log in again with sottovoce campaign login.")


def _new(link: str, name: str, allow_http: bool) -> SavedServer:
    """A new token for a link that works once."""
    with reached(parse_link(link, allow_http=allow_http)[0]):
        address, token = token_from_setup(link, name, allow_http=allow_http)
    return SavedServer(address, token, allow_http)


def _known(server: SavedServer) -> SavedServer:
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
