"""The link a worker is given: which campaign of which server, and the invite."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Self

from sottovoce.connection import checked_address
from sottovoce.errors import UsageError
from sottovoce.model import Credential, check_credential
from sottovoce.model.campaign import CAMPAIGN_ID

__all__ = ["Link"]

_CAMPAIGN = re.compile(r"(?P<server>.+?)/c/(?P<campaign>[^/]+)/?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Link:
    """A campaign at a server, and the secret that lets a worker take part.

    The invite stands behind the #, the part of an address that no browser sends to a server.

    >>> link = Link.parse("https://answers.example/lab/c/leaf0#svi_" + "A" * 43)
    >>> link
    Link(server='https://answers.example/lab', campaign='leaf0')
    """

    server: str
    campaign: str
    invite: str = field(repr=False)

    @classmethod
    def parse(cls, link: str, invite: str | None = None, *, allow_http: bool = False) -> Self:
        """A link with its invite, or one without and the invite beside it. Nothing is quoted."""
        if not isinstance(link, str):
            raise UsageError("the link must be a text")
        address, _, fragment = link.strip().partition("#")
        if fragment and invite is not None and fragment != invite:
            raise UsageError("the link has an invite already, and another is given beside it")
        secret = fragment or invite
        if not secret:
            raise UsageError(
                "the link has no invite: it ends in #svi_…, and must be given in quotes"
            )
        found = _CAMPAIGN.fullmatch(address)
        if found is None or CAMPAIGN_ID.fullmatch(found["campaign"]) is None:
            raise UsageError(
                "this is no link to a campaign: one is like https://host/c/leaf0#svi_…"
            )
        return cls(
            checked_address(found["server"], allow_http=allow_http),
            found["campaign"],
            check_credential(secret, Credential.INVITE),
        )

    @property
    def requester(self) -> str:
        """The campaign's name in the worker's ledger."""
        return f"{self.server}/campaigns/{self.campaign}"
