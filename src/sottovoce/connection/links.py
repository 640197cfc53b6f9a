"""Links with a secret behind the #, the part of an address that no browser sends to a server."""

from __future__ import annotations

import re

from sottovoce.connection.addresses import checked_address
from sottovoce.errors import UsageError
from sottovoce.model import Credential, check_credential
from sottovoce.model.campaign import CAMPAIGN_ID

__all__ = ["page_address", "parsed_link"]


def parsed_link(
    link: object, page: str, kind: Credential, beside: str | None = None, *, allow_http: bool
) -> tuple[str, str, str]:
    """The server, the campaign and the secret of a link. Errors quote nothing of it.

    The link is to the `page` of a campaign, or of a live session, and has its secret, or it is
    given beside it.

    >>> link = "https://answers.example/lab/c/leaf0#svi_" + "A" * 43
    >>> parsed_link(link, "c", Credential.INVITE, allow_http=False)[:2]
    ('https://answers.example/lab', 'leaf0')
    """
    if not isinstance(link, str):
        raise UsageError("the link must be a text")
    address, _, fragment = link.strip().partition("#")
    secret = _secret(fragment, beside, kind)
    what = "a live session" if kind is Credential.LIVE else "a campaign"
    place = page_address(address, page, what, f"#{kind}…", allow_http=allow_http)
    return *place, check_credential(secret, kind)


def page_address(
    address: str, page: str, what: str = "a campaign", ending: str = "", *, allow_http: bool
) -> tuple[str, str]:
    """The server and the campaign of a link up to its #. Errors quote nothing of it."""
    found = re.fullmatch(f"(?P<server>.+?)/{page}/(?P<campaign>[^/]+)/?", address, re.DOTALL)
    if found is None or CAMPAIGN_ID.fullmatch(found["campaign"]) is None:
        raise UsageError(
            f"this is no link to {what}: one is like https://host/{page}/leaf0{ending}"
        )
    return checked_address(found["server"], allow_http=allow_http), found["campaign"]


def _secret(fragment: str, beside: str | None, kind: Credential) -> str:
    name = "invite" if kind is Credential.INVITE else "secret"
    if fragment and beside is not None and fragment != beside:
        raise UsageError(f"the link has its {name} already, and another is given beside it")
    secret = fragment or beside
    if not secret:
        raise UsageError(
            f"the link has no {name}: it ends in #{kind}…, and must be given in quotes"
        )
    return secret
