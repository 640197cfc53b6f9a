"""Messages are read in one way only, and only if their sender signed them."""

from __future__ import annotations

import json
import re
import runpy
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.errors import NotInstalled, SealedRefused, install_command
from sottovoce.securesum import envelope, hpke
from sottovoce.securesum.envelope import (
    CONTEXT,
    b64,
    canonical,
    public_text,
    read_envelope,
    sha256_hex,
    signed,
    unb64,
)

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC = public_text(KEY)
BODY = {"phase": "open", "worker": "wörker", "values": [1, None, "2"]}
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), values, max_size=4))
def test_a_message_is_read_as_it_was_written(body: dict[str, Any]) -> None:
    content = signed(body, KEY, shares=["AA"])
    read = read_envelope(content, PUBLIC, culprit="w", extra={"shares"})
    assert (read.body, read.extra) == (body, {"shares": ["AA"]})
    assert read.digest == sha256_hex(canonical(body))


def test_the_signature_is_over_the_context_and_the_text() -> None:
    wire = json.loads(signed(BODY, KEY))
    signature = unb64(wire["signature"])
    assert signature is not None
    KEY.public_key().verify(signature, CONTEXT + wire["text"].encode("ascii"))
    assert wire["text"] == canonical(BODY)


def test_the_key_may_follow_from_the_body() -> None:
    body = {**BODY, "key": PUBLIC}
    read = read_envelope(signed(body, KEY), lambda said: str(said["key"]), culprit="w")
    assert read.body == body


def _signature_of(text: str) -> str:
    return b64(KEY.sign(CONTEXT + text.encode("ascii")))


def _wire(text: str, **more: Any) -> bytes:
    return canonical({"signature": _signature_of(text), "text": text, **more}).encode("ascii")


GOOD = signed(BODY, KEY)
REFUSED: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "canonical JSON"),
    "no object": (b"[]", "canonical JSON"),
    "not ASCII": (GOOD.replace(b"signature", "sïgnature".encode()), "canonical JSON"),
    "a space": (GOOD.replace(b",", b", ", 1), "canonical JSON"),
    "a line break": (GOOD + b"\n", "canonical JSON"),
    "another order": (
        json.dumps(dict(reversed(json.loads(GOOD).items())), separators=(",", ":")).encode(),
        "canonical JSON",
    ),
    "a field twice": (GOOD[:-1] + b"," + GOOD[1:], "canonical JSON"),
    "nested deeply": (b"[" * 100_000, "canonical JSON"),
    "a huge number": (b'{"signature":' + b"1" * 5000 + b',"text":""}', "canonical JSON"),
    "an unknown field": (_wire(canonical(BODY), note=1), "other fields"),
    "no signature": (canonical({"text": canonical(BODY)}).encode(), "other fields"),
    "a text that is no text": (canonical({"signature": "", "text": 1}).encode(), "canonical JSON"),
    "a text that is not canonical": (_wire('{"a": 1}'), "canonical JSON"),
    "a text with a fraction": (_wire('{"a":1.5}'), "canonical JSON"),
    "a text that is not finite": (_wire('{"a":NaN}'), "canonical JSON"),
    "a text with a field twice": (_wire('{"a":1,"a":1}'), "canonical JSON"),
    "a text that is a list": (_wire("[]"), "canonical JSON"),
    "a signature on another text": (
        canonical({"signature": _signature_of("{}"), "text": canonical(BODY)}).encode(),
        "does not hold",
    ),
    "a signature without the context": (
        canonical(
            {"signature": b64(KEY.sign(canonical(BODY).encode())), "text": canonical(BODY)}
        ).encode(),
        "does not hold",
    ),
    "a signature with padding": (
        canonical(
            {"signature": _signature_of(canonical(BODY)) + "==", "text": canonical(BODY)}
        ).encode(),
        "does not hold",
    ),
    "a signature that is no text": (
        canonical({"signature": [], "text": canonical(BODY)}).encode(),
        "does not hold",
    ),
}


@pytest.mark.parametrize(("content", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_not_written_as_it_must_be_is_refused_and_named(content: bytes, words: str) -> None:
    with pytest.raises(SealedRefused, match=words) as refusal:
        read_envelope(content, PUBLIC, culprit="keyholder 2")
    assert refusal.value.culprit == "keyholder 2"
    assert str(refusal.value).startswith("keyholder 2: ")


@pytest.mark.parametrize("key", ["", "server", PUBLIC + "=", b64(bytes(31)), b64(bytes(32))])
def test_nobody_elses_key_will_do(key: str) -> None:
    with pytest.raises(SealedRefused, match="does not hold"):
        read_envelope(GOOD, key, culprit="w")


@pytest.mark.parametrize("change", [lambda c: c[:-9] + b"A" + c[-8:], lambda c: c[:30] + c[31:]])
def test_no_byte_can_be_changed(change: Callable[[bytes], bytes]) -> None:
    with pytest.raises(SealedRefused):
        read_envelope(change(GOOD), PUBLIC, culprit="w")


@given(st.binary(max_size=50))
def test_base64_is_read_as_it_was_written_and_in_no_other_way(content: bytes) -> None:
    text = b64(content)
    assert unb64(text) == content
    assert all(unb64(other) is None for other in (text + "=", text + "\n", " " + text))


@pytest.mark.parametrize("text", ["A", "AB", "+A", "é", None, 3, b"AA"])
def test_other_texts_are_no_base64(text: object) -> None:
    assert unb64(text) is None


@pytest.mark.parametrize(
    ("module", "use"),
    [
        (envelope, lambda found: found["holds"]("A" * 43, bytes(64), "{}")),
        (hpke, lambda found: found["seal"](bytes(32), b"", b"")),
        (hpke, lambda found: found["unseal"](None, b"", b"")),
    ],
)
def test_without_cryptography_it_is_said_what_to_install(
    module: ModuleType, use: Callable[[Any], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    found = runpy.run_path(str(module.__file__))
    with pytest.raises(NotInstalled, match=re.escape(install_command("secure"))):
        use(found)
