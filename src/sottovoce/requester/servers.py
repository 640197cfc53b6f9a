"""The servers a requester has a token for, in a file for its owner only.

The first token comes from the one-time link that a new server prints.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from sottovoce.errors import DataError, UsageError
from sottovoce.files.atomic_output import check_target, durable_file
from sottovoce.files.user_folders import settings_folder
from sottovoce.http_client.addresses import checked_address
from sottovoce.http_client.connection import Connection
from sottovoce.model import Credential, check_credential

FORMAT = "sottovoce-servers/1"

LOGIN = (
    "sottovoce campaign login LINK, with the one-time link that `sottovoce serve` prints; or "
    "login ADDRESS --token"
)

PAGE = "/setup"

RETRIES, PAUSE = 2, 0.25
"""Fewer and shorter retries than a worker's, because a person is waiting."""


def servers_file() -> Path:
    """The file's path: in `SOTTOVOCE_HOME`, or in sottovoce in the user's settings folder."""
    if chosen := os.environ.get("SOTTOVOCE_HOME"):
        return Path(chosen).expanduser() / "servers.json"
    return settings_folder() / "servers.json"


@dataclass(frozen=True, slots=True)
class SavedServer:
    """A server and its token, which is not in the repr."""

    address: str
    token: str = field(repr=False)
    allow_http: bool = False

    def __post_init__(self) -> None:
        check_credential(self.token, Credential.TOKEN)


@dataclass(frozen=True, slots=True)
class Servers:
    """All servers by address, and the current one."""

    known: Mapping[str, SavedServer] = field(default_factory=dict)
    current: str | None = None

    @classmethod
    def read(cls, path: Path) -> Servers:
        """Read the servers in a file; none if there is no file."""
        try:
            return cls._of_json(json.loads(path.read_bytes()))
        except FileNotFoundError:
            return cls()
        except (ValueError, KeyError, TypeError, UsageError):
            fault = "the file was changed or damaged; delete it and log in again"
            raise DataError(fault, file=str(path)) from None

    @classmethod
    def _of_json(cls, document: Any) -> Servers:
        if document["format"] != FORMAT:
            raise ValueError("another format")
        listed = [
            SavedServer(str(each["address"]), each["token"], each["allow_http"] is True)
            for each in document["servers"]
        ]
        known = {server.address: server for server in listed}
        return cls(known, document["current"] if document["current"] in known else None)

    def write(self, path: Path) -> None:
        """Write the file atomically, readable by its owner only."""
        document = {
            "format": FORMAT,
            "current": self.current,
            "servers": [asdict(server) for server in self.known.values()],
        }
        prepare(path)
        with durable_file(path) as file:
            file.write(json.dumps(document, indent=2).encode())

    def with_current(self, server: SavedServer) -> Servers:
        """Add a server and make it the current one."""
        return Servers({**self.known, server.address: server}, server.address)

    def without(self, address: str) -> Servers:
        """Remove a server. If it was the current one and one is left, that becomes current."""
        left = {each: server for each, server in self.known.items() if each != address}
        if self.current != address:
            return Servers(left, self.current)
        return Servers(left, next(iter(left)) if len(left) == 1 else None)

    def server(self, address: str) -> SavedServer:
        """The server at an address."""
        if address not in self.known:
            others = f", only to {', '.join(self.known)}" if self.known else ""
            raise UsageError(f"not logged in to {address}{others}: {LOGIN}")
        return self.known[address]


def prepare(path: Path) -> None:
    """Make the folder; refuse one that is not writable."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    check_target(path, force=True)
    if not os.access(path.parent, os.W_OK):
        raise UsageError(f"cannot write in {path.parent}; set SOTTOVOCE_HOME to another folder")


def chosen_server(address: str | None = None, *, allow_http: bool = False) -> SavedServer:
    """The server to use.

    Its address is the given one, otherwise `SOTTOVOCE_URL`, otherwise the current one. Its token is
    `SOTTOVOCE_TOKEN`, otherwise the one saved for the address.
    """
    servers = Servers.read(servers_file())
    address = address or os.environ.get("SOTTOVOCE_URL") or servers.current
    if address is None:
        raise UsageError(f"not logged in to any server: {LOGIN}")
    allowed = {each for each, server in servers.known.items() if server.allow_http}
    is_allowed = allow_http or address.rstrip("/") in allowed
    address = checked_address(address, allow_http=is_allowed)
    if token := os.environ.get("SOTTOVOCE_TOKEN"):
        return SavedServer(address, token, is_allowed)
    return replace(servers.server(address), allow_http=is_allowed)


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
    """The server's address and a new token named `name`. The link works once."""
    address, secret = parse_link(link, allow_http=allow_http)
    with Connection(
        address, secret, allow_http=allow_http, retries=RETRIES, pause=PAUSE
    ) as connection:
        made = connection.post("/setup", {"name": name})
    return address, check_credential(made["token"], Credential.TOKEN)
