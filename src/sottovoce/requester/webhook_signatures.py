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
"""Seconds between sending and receiving: clocks differ, and networks take their time."""

_SECONDS = re.compile(r"[0-9]{1,12}", re.ASCII)


def verify_signature(
    secret: str,
    headers: Mapping[str, str],
    body: bytes,
    *,
    tolerance: float = TOLERANCE,
    now: float | None = None,
) -> None:
    """Raise `Refused` unless the message was signed with this webhook's secret, and lately.

    `headers` are the request's, in any case; `body` its bytes as they came, not JSON written anew.
    `now` is in seconds since 1970; the clock's if not given. A message may come twice, when the
    first answer was lost: `Sottovoce-Delivery` is then the same.

    >>> secret, body = "svw_" + "A" * 43, b'{"event":"campaign.closed"}'
    >>> sent = {"Sottovoce-Timestamp": "1000", "Sottovoce-Signature": sign(secret, 1000, body)}
    >>> verify_signature(secret, sent, body, now=1010)
    >>> verify_signature(secret, sent, body, now=2000)
    Traceback (most recent call last):
    sottovoce.errors.Refused: the message was signed 1,000 seconds ago, and 300 are allowed: ...
    """
    check_credential(secret, Credential.WEBHOOK)
    if not isinstance(body, bytes | bytearray | memoryview):
        raise UsageError("the body must be the bytes as they came, not text or parsed JSON")
    given = {name.lower(): value for name, value in headers.items()}
    timestamp = _timestamp(given)
    expected = sign(secret, timestamp, bytes(body)).encode("ascii")
    # Every one is compared, each in constant time: nothing tells how much of one was right.
    signatures = [each.strip().encode("utf-8") for each in given[SIGNATURE].split(",")]
    matches = [hmac.compare_digest(each, expected) for each in signatures]
    if not any(matches):
        raise Refused(
            Reason.BAD_CREDENTIAL,
            "the signature does not fit: the secret is another webhook's, or the body was changed "
            "on its way",
        )
    _check_age((time.time() if now is None else now) - timestamp, tolerance)


def _timestamp(headers: Mapping[str, str]) -> int:
    text = headers.get(TIMESTAMP)
    if text is None or headers.get(SIGNATURE) is None:
        raise Refused(
            Reason.NO_CREDENTIAL,
            "the message is not signed: Sottovoce-Timestamp and Sottovoce-Signature are not both "
            "there",
        )
    if not _SECONDS.fullmatch(text):
        raise Refused(Reason.MALFORMED, "Sottovoce-Timestamp must be whole seconds since 1970")
    return int(text)


def _check_age(age: float, tolerance: float) -> None:
    """Refuse what somebody may have kept and sent again."""
    if abs(age) > tolerance:
        when = f"{age:,.0f} seconds ago" if age > 0 else f"{-age:,.0f} seconds in the future"
        raise Refused(
            Reason.BAD_CREDENTIAL,
            f"the message was signed {when}, and {tolerance:g} are allowed: it was sent again by "
            "somebody, or a clock is wrong",
        )
