"""Who is told what happens to a campaign, and how they can tell that it was us."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from sqlalchemy import Connection

from sottovoce.campaign.access import new_secret
from sottovoce.campaign.service import Service
from sottovoce.errors import Reason, Refused, UsageError
from sottovoce.http_client.addresses import is_this_machine
from sottovoce.model import Credential
from sottovoce.model.campaign import check_text, check_web_address
from sottovoce.server.database.campaigns import the_campaign
from sottovoce.server.database.webhooks import Webhook, add_webhook, remove_webhook, webhooks_of

__all__ = ["Registered", "list_webhooks", "register", "remove"]

LONGEST_ADDRESS = 2_000
MOST_WEBHOOKS = 10
"""Of one campaign: each is a request that the server makes at every event."""


@dataclass(frozen=True, slots=True)
class Registered:
    """A new webhook. The secret is shown this once; the server keeps it, since it signs with it."""

    id: str
    secret: str = field(repr=False)


def register(
    service: Service, campaign: str, address: str, *, allow_http: bool = False
) -> Registered:
    """Tell this address what happens to the campaign; `allow_http` for any machine."""
    _check_address(address, allow_http=allow_http)
    secret = new_secret(Credential.WEBHOOK)

    def work(connection: Connection) -> str:
        number = the_campaign(connection, campaign, hold=True).number
        if len(webhooks_of(connection, number)) >= MOST_WEBHOOKS:
            raise Refused(
                Reason.NOT_ADMITTED,
                f"a campaign has up to {MOST_WEBHOOKS} webhooks: remove one first",
            )
        return add_webhook(connection, number, address, secret)

    return Registered(service.change(work), secret)


def list_webhooks(service: Service, campaign: str) -> list[Webhook]:
    """The campaign's webhooks and what became of their newest deliveries."""
    with service.database.reading() as connection:
        return webhooks_of(connection, the_campaign(connection, campaign).number)


def remove(service: Service, campaign: str, id: str) -> None:
    """Tell it no more, not even what waits."""

    def work(connection: Connection) -> None:
        if not remove_webhook(connection, the_campaign(connection, campaign).number, id):
            raise Refused(Reason.NOT_FOUND, "the campaign has no such webhook")

    service.change(work)


def _check_address(address: str, *, allow_http: bool) -> None:
    try:
        check_text("the address", address, LONGEST_ADDRESS)
        check_web_address("the address", address)
    except UsageError as error:
        raise Refused(Reason.MALFORMED, str(error), field="address") from None
    parts = urlsplit(address)
    if any(letter.isspace() for letter in address):
        raise Refused(Reason.MALFORMED, "the address has a space in it", field="address")
    if parts.scheme != "https" and not allow_http and not is_this_machine(parts.hostname or ""):
        raise Refused(
            Reason.MALFORMED,
            "the address must start with https://: over http:// others could read and alter what "
            "is told; the server's operator can allow it",
            field="address",
        )
