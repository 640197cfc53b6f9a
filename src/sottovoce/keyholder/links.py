"""The link a keyholder is given: which campaign of which server, and the secret of its seat."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

from sottovoce.connection.links import parsed_link
from sottovoce.model import Credential

__all__ = ["KeyholderLink"]


@dataclass(frozen=True, slots=True)
class KeyholderLink:
    """A campaign at a server, and the secret that lets a keyholder fetch its work there.

    The secret proves nothing to anybody else: what counts are the keyholder's own keys.

    >>> KeyholderLink.parse("https://answers.example/k/leaf0#svh_" + "A" * 43)
    KeyholderLink(server='https://answers.example', campaign='leaf0')
    """

    server: str
    campaign: str
    secret: str = field(repr=False)

    @classmethod
    def parse(cls, link: str, *, allow_http: bool = False) -> Self:
        """The link in a text. Errors quote nothing of it."""
        return cls(*parsed_link(link, "k", Credential.KEYHOLDER, allow_http=allow_http))
