"""Verification of webhook signatures."""

from __future__ import annotations

import hmac
import re
import time
from collections.abc import Mapping

from sottovoce.errors import Reason, Refused, UsageError
from sottovoce.model import Credential, check_credential
from sottovoce.model.credentials import sign

TIMESTAMP, SIGNATURE = "sottovoce-timestamp", "sottovoce-signature"
TOLERANCE = 300
"""The most seconds between sending and receiving, for clock differences and slow networks."""

_SECONDS = re.compile(r"[0-9]{1,12}", re.ASCII)


def verify_signature(
    secret: str,
    headers: Mapping[str, str],
    body: bytes,
    *,
    tolerance: float = TOLERANCE,
    now: float | None = None,
) -> None:
    """Raise `Refused` unless the message was signed recently with this webhook's secret.

    `headers` are the request's, in any letter case; `body` is the received bytes, not rewritten
    JSON. `now` is in seconds since 1970 (default: the clock). A message may arrive twice if the
    first response was lost: `Sottovoce-Delivery` is then the same.

    >>> secret, body = "svw_" + "A" * 43, b'{"event":"campaign.closed"}'
    >>> sent = {"Sottovoce-Timestamp": "1000", "Sottovoce-Signature": sign(secret, 1000, body)}
    >>> verify_signature(secret, sent, body, now=1010)
    >>> verify_signature(secret, sent, body, now=2000)
    Traceback (most recent call last):
    sottovoce.errors.Refused: the message was signed 1,000 seconds ago, and 300 are allowed; ...
    """
    check_credential(secret, Credential.WEBHOOK)
    if not isinstance(body, bytes | bytearray | memoryview):
        raise UsageError("the body must be the received bytes, not text or parsed JSON")
    given = {name.lower(): value for name, value in headers.items()}
    timestamp = _timestamp(given)
    expected = sign(secret, timestamp, bytes(body)).encode("ascii")
    # All are compared in constant time, so timing does not reveal how much was right.
    signatures = [each.strip().encode("utf-8") for each in given[SIGNATURE].split(",")]
    matches = [hmac.compare_digest(each, expected) for each in signatures]
    if not any(matches):
        raise Refused(
            Reason.BAD_CREDENTIAL,
            "the signature is wrong: the secret is another webhook's, or the body was changed on "
            "the way",
        )
    _check_age((time.time() if now is None else now) - timestamp, tolerance)


def _timestamp(headers: Mapping[str, str]) -> int:
    text = headers.get(TIMESTAMP)
    if text is None or headers.get(SIGNATURE) is None:
        raise Refused(
            Reason.NO_CREDENTIAL,
            "the message is not signed: Sottovoce-Timestamp or Sottovoce-Signature is missing",
        )
    if not _SECONDS.fullmatch(text):
        raise Refused(Reason.MALFORMED, "Sottovoce-Timestamp must be whole seconds since 1970")
    return int(text)


def _check_age(age: float, tolerance: float) -> None:
    """Refuse an old message, which could be a replay."""
    if abs(age) > tolerance:
        when = f"{age:,.0f} seconds ago" if age > 0 else f"{-age:,.0f} seconds in the future"
        raise Refused(
            Reason.BAD_CREDENTIAL,
            f"the message was signed {when}, and {tolerance:g} are allowed; it is a replay, or a "
            "clock is wrong",
        )
