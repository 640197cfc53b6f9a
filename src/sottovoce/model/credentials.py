"""Credentials: texts of 256 random bits, stored only as hashes; and webhook signatures.

The sender and the receiver of a webhook message compute its signature in the same way.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from enum import StrEnum

from sottovoce.errors import UsageError

SECRET = re.compile(r"sv[ahkilrw]_[A-Za-z0-9_-]{43}", re.ASCII)
"""A prefix that scanners for leaked secrets can know, and 256 bits in URL-safe base64."""

_PSEUDONYM = b"sottovoce-worker/1"


class Credential(StrEnum):
    """The kinds, by their prefix."""

    SETUP = "sva_"
    """Makes one requester's token, once."""
    TOKEN = "svk_"  # noqa: S105 - a prefix
    """A requester's."""
    KEYHOLDER = "svh_"
    """Lets a keyholder take its part in one sealed campaign."""
    INVITE = "svi_"
    """Lets a worker send reports to one campaign."""
    LIVE = "svl_"
    """Lets one worker, or the dealer, take part in one live session."""
    RECEIPT = "svr_"
    """A worker's own: its hash is the worker's name in one campaign."""
    WEBHOOK = "svw_"
    """Signs the messages of a webhook."""


_NAMES = {
    Credential.SETUP: "setup link",
    Credential.TOKEN: "token",
    Credential.KEYHOLDER: "keyholder link",
    Credential.INVITE: "invite link",
    Credential.LIVE: "live link",
    Credential.RECEIPT: "receipt",
    Credential.WEBHOOK: "webhook secret",
}


def check_credential(text: str, kind: Credential) -> str:
    """The text, if it has the form of this kind; an error does not quote it.

    >>> check_credential("svi_" + "A" * 43, Credential.INVITE)[:8]
    'svi_AAAA'
    """
    if not (isinstance(text, str) and text.startswith(kind) and SECRET.fullmatch(text)):
        name = _NAMES[kind]
        place = "after # " if name.endswith("link") else ""
        raise UsageError(
            f"the {name} is incomplete or changed: {place}it must have {kind} and 43 characters; "
            "copy it again"
        )
    return text


def digest(credential: str) -> bytes:
    """The hash of a credential, which the server stores.

    SHA-256 without salt or stretching is enough for 256 random bits.
    """
    return hashlib.sha256(_bytes(credential)).digest()


def pseudonym(campaign: str, receipt: str) -> str:
    """A worker's name in a campaign: 128 bits of SHA-256 over the campaign and the receipt.

    The same in all reports to one campaign; for two campaigns nobody without the receipt can tell
    that it is the same worker.

    >>> pseudonym("leaf", "svr_" + "A" * 43)
    'f96971e0a069dc35a9c598689b14bbe8'
    """
    parts = (_PSEUDONYM, _bytes(campaign), _bytes(receipt))
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:32]


def _bytes(text: str) -> bytes:
    # An error would quote the credential: whatever was shown has a hash, which nobody knows.
    return text.encode("utf-8", "surrogatepass")


def sign(secret: str, timestamp: int, body: bytes) -> str:
    """The header Sottovoce-Signature: HMAC-SHA256 of the timestamp, a full stop and the body.

    >>> sign("svw_" + "A" * 43, 1_700_000_000, b"{}")[:19]
    'v1=d6b70a3319564f25'
    """
    signed = str(timestamp).encode("ascii") + b"." + body
    return "v1=" + hmac.new(secret.encode("ascii"), signed, hashlib.sha256).hexdigest()
