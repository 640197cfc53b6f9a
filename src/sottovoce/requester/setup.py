"""The one-time link that a new server prints, turned into a token."""

from __future__ import annotations

from sottovoce.connection import Connection, checked_address
from sottovoce.errors import UsageError
from sottovoce.model import Credential, check_credential

__all__ = ["PAUSE", "RETRIES", "parse_link", "token_from_setup"]

PAGE = "/setup"
RETRIES, PAUSE = 2, 0.25
"""Fewer and shorter than a worker's: somebody sits there and waits."""


def parse_link(link: str, *, allow_http: bool = False) -> tuple[str, str]:
    """The server's address and the secret in a link such as http://127.0.0.1:8000/setup#sva_….

    >>> parse_link("http://127.0.0.1:8000/setup#sva_" + "A" * 43)[0]
    'http://127.0.0.1:8000'
    """
    page, mark, secret = link.strip().partition("#")
    page = page.rstrip("/")
    if not mark or not page.endswith(PAGE):
        raise UsageError(
            "this is not the link that `sottovoce serve` prints: it ends in /setup#sva_ and 43 "
            "letters, and a shell needs it in quotes"
        )
    address = checked_address(page.removesuffix(PAGE), allow_http=allow_http)
    return address, check_credential(secret, Credential.SETUP)


def token_from_setup(link: str, name: str, *, allow_http: bool = False) -> tuple[str, str]:
    """The server's address and a new token, called `name`. The link works once."""
    address, secret = parse_link(link, allow_http=allow_http)
    with Connection(
        address, secret, allow_http=allow_http, retries=RETRIES, pause=PAUSE
    ) as connection:
        made = connection.post("/setup", {"name": name})
    return address, check_credential(made["token"], Credential.TOKEN)
