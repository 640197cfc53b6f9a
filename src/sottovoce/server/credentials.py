"""Requesters' credentials: a one-time setup secret, then tokens."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from datetime import date

from sqlalchemy import Connection

from sottovoce.errors import Reason, Refused, UsageError
from sottovoce.model import Credential, check_credential, digest
from sottovoce.model.campaign import LONGEST_NAME, check_text
from sottovoce.server.database.campaigns import note_event
from sottovoce.server.database.hashed_credentials import (
    add_token,
    all_tokens,
    has_token,
    remove_setups,
    remove_token,
)
from sottovoce.server.service import Service

_ID = re.compile(r"[0-9a-f]{16}", re.ASCII)


def checked_credential(text: str, kind: Credential) -> str:
    """The credential, if it has the format of this kind."""
    try:
        return check_credential(text, kind)
    except UsageError as error:
        raise Refused(Reason.BAD_CREDENTIAL, str(error)) from None


@dataclass(frozen=True, slots=True)
class Token:
    """A requester's token without its secret, identified by its hash's first digits."""

    id: str
    name: str
    created_on: date


def new_secret(kind: Credential) -> str:
    """A new credential of this kind: its prefix and 256 random bits."""
    return kind + secrets.token_urlsafe(32)


def token_id(token: str) -> str:
    """A token's identifier in lists: the first 16 hexadecimal digits of its hash."""
    return digest(token).hex()[:16]


def make_setup(service: Service) -> str:
    """Make a secret that makes one token, once. It replaces an earlier unused secret."""
    secret = new_secret(Credential.SETUP)

    def work(connection: Connection) -> None:
        remove_setups(connection)
        add_token(connection, Credential.SETUP, digest(secret), "setup", service.today())

    service.change(work)
    return secret


def check_setup(service: Service, secret: str) -> None:
    """Refuse a setup secret that is invalid, used or replaced."""
    _check_known(service, secret, Credential.SETUP)


def redeem_setup(service: Service, secret: str, name: str) -> str:
    """Exchange the setup secret for a token. Of two concurrent requests, one succeeds."""
    check_text("the token's name", name, LONGEST_NAME)
    check_setup(service, secret)

    def work(connection: Connection) -> str:
        if digest(secret) not in remove_setups(connection):
            raise _refused(Credential.SETUP)
        return _add(connection, name, service.today())

    return service.change(work)


def make_token(service: Service, name: str) -> str:
    """Make another token. It is shown only once."""
    check_text("the token's name", name, LONGEST_NAME)
    return service.change(lambda connection: _add(connection, name, service.today()))


def list_tokens(service: Service) -> list[Token]:
    """All tokens, the oldest first."""
    with service.database.reading() as connection:
        return [
            Token(row.digest.hex()[:16], row.name, date.fromordinal(row.created_on))
            for row in all_tokens(connection)
        ]


def revoke_token(service: Service, id: str) -> None:
    """Revoke a token at once."""

    def work(connection: Connection) -> None:
        if _ID.fullmatch(id) is None or not remove_token(connection, bytes.fromhex(id)):
            raise Refused(Reason.NOT_FOUND, "the token does not exist")
        note_event(connection, "token.revoked", service.today(), None)

    service.change(work)


def check_token(service: Service, credential: str) -> str:
    """The identifier of a requester's token. One indexed lookup per request.

    It is not cached, so a revoked token stops working at once in every process.
    """
    _check_known(service, credential, Credential.TOKEN)
    return token_id(credential)


def _add(connection: Connection, name: str, today: date) -> str:
    token = new_secret(Credential.TOKEN)
    add_token(connection, Credential.TOKEN, digest(token), name, today)
    note_event(connection, "token.made", today, None)
    return token


def _check_known(service: Service, credential: str, kind: Credential) -> None:
    checked_credential(credential, kind)
    with service.database.reading() as connection:
        if not has_token(connection, kind, digest(credential)):
            raise _refused(kind)


def _refused(kind: Credential) -> Refused:
    words = {
        Credential.SETUP: "this setup link was used or replaced; make another with sottovoce "
        "serve --new-admin-link",
        Credential.TOKEN: "this token is unknown or was revoked",
    }
    return Refused(Reason.BAD_CREDENTIAL, words[kind])
