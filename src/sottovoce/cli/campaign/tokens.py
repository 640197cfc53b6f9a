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
"""Largest length of a token's line."""


def login(
    context: typer.Context,
    link: Annotated[
        str,
        link_argument(
            "The one-time link that `sottovoce serve` prints, in quotes; or a server's address, "
            "with --token or to switch back to that server."
        ),
    ],
    token: Annotated[
        bool, typer.Option("--token", help="Read a token (svk_…) from standard input and save it.")
    ] = False,
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Name of the new token. Default: this machine's name."),
    ] = None,
) -> None:
    """Log in to a server; the token is saved in a file that only you can read.

    Commands use the server of your last login. The file is servers.json in your settings folder or
    in `SOTTOVOCE_HOME`.
    """
    chosen: ServerChoice = context.obj
    if chosen.server is not None:
        raise UsageError("the link or address already names the server: drop --server")
    file, http = servers_file(), chosen.allow_http
    servers = Servers.read(file)
    prepare(file)  # before the one-time link is used
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
    """Delete the saved token of the current server, or of --server.

    The token itself stays valid until `sottovoce campaign token revoke`.
    """
    chosen: ServerChoice = context.obj
    servers = Servers.read(servers_file())
    address = servers.current
    if chosen.server is not None:
        address = checked_address(chosen.server, allow_http=True)
    if address is None:
        raise UsageError("you are not logged in to any server")
    servers.server(address)
    servers.without(address).write(servers_file())
    console.note(f"logged out of {address}")


def make(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="The person or program that will use the token.",
            show_default=False,
        ),
    ],
    json: JsonOption = False,
) -> None:
    """Create another token and print it; it has the same rights as yours."""
    with connected(context) as requester:
        made = requester.make_token(name)
    if json:
        console.print_json(made)
    else:
        console.say(made["token"])
    console.note("A token is a secret. It is shown only once; the server stores its hash.")


def list_tokens(context: typer.Context, json: JsonOption = False) -> None:
    """List all tokens by name; the tokens themselves are not shown."""
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
    console.print_table(["id", "name", "created on", ""], rows)


def revoke(
    context: typer.Context,
    token: Annotated[
        str,
        typer.Argument(
            metavar="TOKEN_ID", help="The ID from `campaign token list`.", show_default=False
        ),
    ],
    json: JsonOption = False,
) -> None:
    """Revoke a token immediately."""
    with connected(context) as requester:
        requester.revoke_token(token)
        is_own = digest(requester.token).hex()[:16] == token
    if json:
        console.print_json({"revoked": token})
        return
    console.note(f"token {token} no longer works")
    if is_own:
        console.note("This was your own token: log in again with sottovoce campaign login.")


def _new(link: str, name: str, allow_http: bool) -> SavedServer:
    """A server with a new token, from a one-time link."""
    with reached(parse_link(link, allow_http=allow_http)[0]):
        address, token = token_from_setup(link, name, allow_http=allow_http)
    return SavedServer(address, token, allow_http)


def _known(server: SavedServer) -> SavedServer:
    """The server, after a check that it accepts the token."""
    with reached(server.address):
        with Requester(server.address, server.token, allow_http=server.allow_http) as requester:
            requester.tokens()
    return server


def _asked_token() -> str:
    """A token from standard input, not echoed if typed."""
    if sys.stdin.isatty():
        return getpass.getpass("Token: ").strip()
    return sys.stdin.readline(LONGEST).strip()
