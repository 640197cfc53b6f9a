"""Receivers of a webhook's message can verify its sender."""

from __future__ import annotations

import subprocess
import sys

import pytest

from sottovoce import UsageError, verify_signature
from sottovoce.errors import Reason, Refused
from sottovoce.model.credentials import sign

SECRET = "svw_" + "A" * 43
BODY = b'{"event":"campaign.closed","campaign":"leaf0"}'
NOW = 1_800_000_000


def signed(timestamp: int = NOW, *, secret: str = SECRET, body: bytes = BODY) -> dict[str, str]:
    return {
        "Sottovoce-Timestamp": str(timestamp),
        "Sottovoce-Signature": sign(secret, timestamp, body),
    }


def refusal(headers: dict[str, str], body: bytes = BODY, secret: str = SECRET) -> Refused:
    with pytest.raises(Refused) as caught:
        verify_signature(secret, headers, body, now=NOW)
    assert SECRET[4:] not in str(caught.value)
    return caught.value


@pytest.mark.parametrize("age", [-300, 0, 300])
def test_a_message_that_was_signed_lately_is_taken(age: int) -> None:
    verify_signature(SECRET, signed(NOW - age), BODY, now=NOW)


def test_names_of_headers_are_taken_in_any_case() -> None:
    headers = {name.upper(): value for name, value in signed().items()}
    verify_signature(SECRET, headers, BODY, now=NOW)


def test_one_of_several_signatures_may_fit() -> None:
    headers = signed()
    headers["Sottovoce-Signature"] = f"v1={'0' * 64}, {headers['Sottovoce-Signature']}"
    verify_signature(SECRET, headers, BODY, now=NOW)


def test_another_secret_does_not_fit() -> None:
    refused = refusal(signed(secret="svw_" + "B" * 43))
    assert refused.reason is Reason.BAD_CREDENTIAL
    assert "another webhook's, or the body was changed" in str(refused)


def test_a_changed_body_does_not_fit() -> None:
    assert "signature is wrong" in str(refusal(signed(), BODY + b" "))


def test_a_timestamp_that_was_changed_does_not_fit() -> None:
    headers = signed(NOW - 1000) | {"Sottovoce-Timestamp": str(NOW)}
    assert "signature is wrong" in str(refusal(headers))


def test_an_old_message_is_refused_however_well_it_is_signed() -> None:
    assert "signed 301 seconds ago, and 300 are allowed" in str(refusal(signed(NOW - 301)))


def test_a_message_from_the_future_is_refused() -> None:
    assert "signed 301 seconds in the future" in str(refusal(signed(NOW + 301)))


@pytest.mark.parametrize("missing", ["Sottovoce-Timestamp", "Sottovoce-Signature"])
def test_a_message_that_is_not_signed_is_refused(missing: str) -> None:
    headers = signed()
    del headers[missing]
    assert refusal(headers).reason is Reason.NO_CREDENTIAL


@pytest.mark.parametrize("timestamp", ["", "now", "-5", "1e9", "٣", "1" * 40])
def test_a_timestamp_that_is_none_is_refused(timestamp: str) -> None:
    refused = refusal(signed() | {"Sottovoce-Timestamp": timestamp})
    assert refused.reason is Reason.MALFORMED


@pytest.mark.parametrize("signature", ["", "v1=", "v2=00", "é", "v1=" + "0" * 64])
def test_a_signature_that_is_none_is_refused(signature: str) -> None:
    refused = refusal(signed() | {"Sottovoce-Signature": signature})
    assert refused.reason is Reason.BAD_CREDENTIAL


def test_text_in_place_of_the_bytes_is_bad_usage() -> None:
    with pytest.raises(UsageError, match="the received bytes"):
        verify_signature(SECRET, signed(), BODY.decode(), now=NOW)  # type: ignore[arg-type]


def test_a_token_in_place_of_the_secret_is_bad_usage() -> None:
    with pytest.raises(UsageError, match="the webhook secret is incomplete"):
        verify_signature("svk_" + "A" * 43, signed(), BODY, now=NOW)


def test_receivers_need_no_library_to_talk_to_a_server() -> None:
    code = "import sys; sys.modules['httpx'] = None; import sottovoce; sottovoce.verify_signature"
    subprocess.run([sys.executable, "-c", code], check=True)
