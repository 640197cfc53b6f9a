"""Keyholders: names, keys, fingerprints and cards."""

from __future__ import annotations

import base64
import hashlib
import json

import pytest

from sottovoce.errors import UsageError
from sottovoce.model import Keyholder

SEALING = base64.urlsafe_b64encode(bytes(range(32))).decode().rstrip("=")
SIGNING = base64.urlsafe_b64encode(bytes(range(224, 256))).decode().rstrip("=")


def test_a_fingerprint_is_of_both_keys_and_not_of_the_name() -> None:
    text = f'{{"sealing":"{SEALING}","signing":"{SIGNING}"}}'
    digits = hashlib.sha256(text.encode()).hexdigest()
    found = Keyholder("Library", SEALING, SIGNING).fingerprint
    assert found.replace(" ", "") == digits[:32]
    assert [len(group) for group in found.split()] == [4] * 8
    assert Keyholder("Museum", SEALING, SIGNING).fingerprint == found


def test_a_card_is_canonical_and_read_back() -> None:
    keyholder = Keyholder("Bücherei", SEALING, SIGNING)
    card = keyholder.card()
    document = json.loads(card)
    assert document.pop("format") == "sottovoce-keyholder/1"
    assert document == keyholder.as_json()
    assert card == json.dumps(json.loads(card), sort_keys=True, separators=(",", ":"))
    assert Keyholder.parse_card(card.encode()) == keyholder
    assert Keyholder.of_json(keyholder.as_json()) == keyholder


@pytest.mark.parametrize(
    "key",
    [
        "", "A" * 42, "A" * 44, "A" * 42 + "B", SEALING + "=", SEALING + "\n", " " + SEALING,
        SIGNING.replace("-", "+").replace("_", "/"), "é" * 43, None, 7,
    ],
)  # fmt: skip
def test_a_key_is_written_in_one_way(key: object) -> None:
    with pytest.raises(UsageError, match="must be 32 bytes in URL-safe base64 without padding"):
        Keyholder("Library", key, SIGNING)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["", "  ", "a" * 201, "bell\a", 5])
def test_a_name_is_a_text(name: object) -> None:
    with pytest.raises(UsageError, match="a keyholder's name"):
        Keyholder(name, SEALING, SIGNING)  # type: ignore[arg-type]


def test_one_key_is_not_for_both() -> None:
    with pytest.raises(UsageError, match="one key for sealing and for signing"):
        Keyholder("Library", SEALING, SEALING)


@pytest.mark.parametrize(
    ("card", "wrong"),
    [
        ("-----BEGIN PUBLIC KEY-----", "not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("[]", "must be a JSON object"),
        ("{}", "lacks format, name, sealing, signing"),
        (
            json.dumps({"format": "x", "name": "a", "sealing": SEALING, "signing": SIGNING}),
            "the format of the keyholder's card is not 'sottovoce-keyholder/1'",
        ),
        (Keyholder("a", SEALING, SIGNING).card()[:-1] + ',"secret":"x"}', "unknown fields"),
    ],
)
def test_what_is_no_card_is_refused(card: str | bytes, wrong: str) -> None:
    with pytest.raises(UsageError, match=wrong):
        Keyholder.parse_card(card)
