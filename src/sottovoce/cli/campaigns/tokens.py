"""`sottovoce campaign token`."""

from __future__ import annotations

from typing import Annotated

import typer

from sottovoce.cli import screen
from sottovoce.cli.campaigns.connecting import connected
from sottovoce.cli.campaigns.words import shown
from sottovoce.cli.options import JsonOption
from sottovoce.model import digest

__all__ = ["list_tokens", "make", "revoke"]


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
        screen.print_json(made)
    else:
        screen.say(made["token"])
    screen.note("A token is a secret. It is shown once; the server keeps only its hash.")


def list_tokens(context: typer.Context, json: JsonOption = False) -> None:
    """List all tokens by name, without the tokens themselves."""
    with connected(context) as requester:
        tokens = requester.tokens()
        own = digest(requester.token).hex()
    if json:
        screen.print_json({"tokens": tokens})
        return
    rows = [
        [each["id"], shown(each["name"]), each["created_on"], "yours" * own.startswith(each["id"])]
        for each in tokens
    ]
    screen.print_table(["id", "name", "made on", ""], rows)


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
        screen.print_json({"revoked": token})
        return
    screen.note(f"token {token} no longer works")
    if is_own:
        screen.note("It was the one you use here: log in again with sottovoce campaign login.")
