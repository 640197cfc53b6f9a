"""The link a worker is given: which campaign of which server, and the invite."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

from sottovoce.connection.links import parsed_link
from sottovoce.model import Credential

__all__ = ["Link"]


@dataclass(frozen=True, slots=True)
class Link:
    """A campaign at a server, and the secret that lets a worker take part.

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
        return cls(*parsed_link(link, "c", Credential.INVITE, invite, allow_http=allow_http))

    @property
    def requester(self) -> str:
        """The campaign's name in the worker's ledger."""
        return f"{self.server}/campaigns/{self.campaign}"
