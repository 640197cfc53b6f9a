"""Addresses of servers and links. Addresses to which secrets would be sent in clear are refused.

A link has its secret after the #, a part that browsers do not send to the server.
"""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import SplitResult, urlsplit

from sottovoce.errors import UsageError
from sottovoce.model import Credential, check_credential
from sottovoce.model.campaign import CAMPAIGN_ID

LONGEST = 2_000
DEFAULT_PORTS = {"https": 443, "http": 80}


def checked_address(url: object, *, allow_http: bool = False) -> str:
    """A server's address in normal form, with its path prefix. Errors do not quote it.

    >>> checked_address("HTTPS://Answers.example:443/lab/")
    'https://answers.example/lab'
    """
    parts = _parts(url)
    host = parts.hostname or ""
    if parts.scheme not in DEFAULT_PORTS or not host:
        raise UsageError("give the server's address as https://host or https://host/path")
    if parts.username is not None or parts.query or parts.fragment:
        raise UsageError(
            "the server's address contains a user name, a question mark or a #; give only the "
            "part like https://host/path"
        )
    if parts.scheme == "http" and not (allow_http or is_this_machine(host)):
        raise UsageError(
            f"{host} is reached over plain http, where anyone on the way can read and change "
            "everything; use https, or pass allow_http=True"
        )
    return f"{parts.scheme}://{_place(host, parts.port, parts.scheme)}{parts.path.rstrip('/')}"


def is_to_this_machine(address: str) -> bool:
    """Whether a checked address is plain http to this machine."""
    parts = urlsplit(address)
    return parts.scheme == "http" and is_this_machine(parts.hostname or "")


def _parts(url: object) -> SplitResult:
    wrong = UsageError("the server's address is invalid; write it as https://host/path")
    if not isinstance(url, str) or len(url) > LONGEST or not url.isascii() or not url.isprintable():
        raise wrong
    if " " in url or "\\" in url or "/../" in f"{url}/" or "%" in url:
        raise wrong
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise wrong from None
    return parts


def _place(host: str, port: int | None, scheme: str) -> str:
    name = f"[{host}]" if ":" in host else host
    return name if port in (None, DEFAULT_PORTS[scheme]) else f"{name}:{port}"


def is_this_machine(host: str) -> bool:
    """Whether the host is this machine, by its name or number."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def parsed_link(
    link: object, page: str, kind: Credential, beside: str | None = None, *, allow_http: bool
) -> tuple[str, str, str]:
    """Parse a link into server, campaign and secret. Errors quote nothing of it.

    The link is to the `page` of a campaign or a live session, and contains the secret, unless that
    is given separately.

    >>> link = "https://answers.example/lab/c/leaf0#svi_" + "A" * 43
    >>> parsed_link(link, "c", Credential.INVITE, allow_http=False)[:2]
    ('https://answers.example/lab', 'leaf0')
    """
    if not isinstance(link, str):
        raise UsageError("the link must be a text")
    address, _, fragment = link.strip().partition("#")
    secret = _secret(fragment, beside, kind, page)
    what = "a live session" if kind is Credential.LIVE else "a campaign"
    place = page_address(address, page, what, f"#{kind}…", allow_http=allow_http)
    return *place, check_credential(secret, kind)


def page_address(
    address: str, page: str, what: str = "a campaign", ending: str = "", *, allow_http: bool
) -> tuple[str, str]:
    """Parse the part of a link before the # into server and campaign. Errors quote nothing."""
    found = re.fullmatch(f"(?P<server>.+?)/{page}/(?P<campaign>[^/]+)/?", address, re.DOTALL)
    if found is None or CAMPAIGN_ID.fullmatch(found["campaign"]) is None:
        raise UsageError(
            f"this is not a link to {what}, which is like https://host/{page}/leaf0{ending}"
        )
    return checked_address(found["server"], allow_http=allow_http), found["campaign"]


def _secret(fragment: str, beside: str | None, kind: Credential, page: str) -> str:
    name = "invite" if kind is Credential.INVITE else "secret"
    if fragment and beside is not None and fragment != beside:
        raise UsageError(f"the link already has its {name}, and another is given separately")
    secret = fragment or beside
    if not secret:
        what = "an invite link" if kind is Credential.INVITE else f"a {kind.name.lower()} link"
        raise UsageError(f"this is not {what}, which looks like https://host/{page}/leaf0#{kind}…")
    return secret
