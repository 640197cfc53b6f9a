"""Keyholder: a name and two public keys, and the card that shows them."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from dataclasses import dataclass
from typing import Any, Self

from sottovoce.errors import UsageError
from sottovoce.model.campaign import LONGEST_NAME, check_text
from sottovoce.model.canonical_json import canonical
from sottovoce.model.policy import fields_of, short

CARD = "sottovoce-keyholder/1"
"""The format of a card: the file that a keyholder hands out."""

KEY_BYTES = 32


@dataclass(frozen=True, slots=True)
class Keyholder:
    """A keyholder as a policy pins it: shares are sealed to one key, messages signed by another.

    `sealing` is an X25519 and `signing` an Ed25519 public key, each of 32 bytes in URL-safe base64
    without padding.

    >>> keyholder = Keyholder("Library", "A" * 43, "B" * 42 + "A")
    >>> keyholder.fingerprint[:9]
    '6c69 215f'
    >>> Keyholder.parse_card(keyholder.card()) == keyholder
    True
    """

    name: str
    sealing: str
    signing: str

    def __post_init__(self) -> None:
        check_text("a keyholder's name", self.name, LONGEST_NAME)
        check_public_key(f"the sealing key of keyholder {short(self.name)}", self.sealing)
        check_public_key(f"the signing key of keyholder {short(self.name)}", self.signing)
        if self.sealing == self.signing:
            raise UsageError(
                f"keyholder {short(self.name)} has one key for sealing and for signing: "
                "make its keys again"
            )

    @property
    def fingerprint(self) -> str:
        """128 bits of SHA-256 of both keys, in groups: what two people compare over the phone."""
        keys = canonical({"sealing": self.sealing, "signing": self.signing})
        digits = hashlib.sha256(keys.encode("ascii")).hexdigest()[:32]
        return " ".join(digits[start : start + 4] for start in range(0, 32, 4))

    def as_json(self) -> dict[str, str]:
        """The keyholder in a policy."""
        return {"name": self.name, "sealing": self.sealing, "signing": self.signing}

    @classmethod
    def of_json(cls, document: Any) -> Self:
        """The keyholder that `as_json` wrote; anything else is refused."""
        fields = fields_of(document, "a keyholder", {"name", "sealing", "signing"})
        return cls(fields["name"], fields["sealing"], fields["signing"])

    def card(self) -> str:
        """The text of the file that a keyholder hands out: canonical JSON."""
        return canonical({"format": CARD, **self.as_json()})

    @classmethod
    def parse_card(cls, text: str | bytes) -> Self:
        """The keyholder of a card; spaces and the order of its fields do not matter."""
        try:
            document = json.loads(text)
        except ValueError:
            raise UsageError(
                "the keyholder's card is not JSON: give the file that "
                "`sottovoce keyholder init` wrote"
            ) from None
        except RecursionError:
            raise UsageError("the keyholder's card is nested too deeply") from None
        known = {"format", "name", "sealing", "signing"}
        fields = dict(fields_of(document, "the keyholder's card", known))
        if fields.pop("format") != CARD:
            raise UsageError(f"the format of the keyholder's card is not {CARD!r}")
        return cls.of_json(fields)


def check_public_key(what: str, text: object) -> None:
    """Refuse what is no public key of 32 bytes, written in the one way that is allowed."""
    if not (isinstance(text, str) and _decoded(text) is not None):
        raise UsageError(
            f"{what} must be {KEY_BYTES} bytes in URL-safe base64 without padding, "
            f"not {short(text)}"
        )


def _decoded(text: str) -> bytes | None:
    """The bytes of a key; None where another text would stand for the same ones."""
    try:
        content = base64.urlsafe_b64decode(text.encode("ascii") + b"=")
    except (ValueError, binascii.Error):
        return None
    written = base64.urlsafe_b64encode(content).rstrip(b"=").decode("ascii")
    return content if len(content) == KEY_BYTES and written == text else None
