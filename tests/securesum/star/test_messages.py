"""Frames: written ones are read, and nothing else is."""

from __future__ import annotations

import json
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.securesum.masked.stars import COORDINATOR, keys, terms_of

from sottovoce.errors import SealedRefused
from sottovoce.securesum.envelope import CONTEXT, canonical
from sottovoce.securesum.star.messages import (
    HEAD,
    SERVER,
    Head,
    Place,
    bundle,
    digest_of,
    party,
    read_frame,
    unbundle,
    written,
)

TERMS = terms_of(5, 4)
PLACE = Place(3, "share", 1)


def crafted(**changes: Any) -> bytes:
    """A frame of the server with other fields in its text, signed."""
    honest = written(TERMS, PLACE, SERVER, COORDINATOR)
    text = canonical({**json.loads(honest[68:]), **changes}).encode("ascii")
    return COORDINATOR.sign(CONTEXT + text) + struct.pack("<I", len(text)) + text


@given(
    fields=st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), max_size=3),
    payload=st.binary(max_size=50),
    sender=st.integers(0, 5),
)
def test_what_is_written_is_read(fields: dict[str, Any], payload: bytes, sender: int) -> None:
    key = COORDINATOR if sender == SERVER else keys(5)[sender - 1]
    content = written(TERMS, PLACE, sender, key, fields, payload)
    frame = read_frame(TERMS, content, sender=sender)
    assert (frame.place, frame.sender, frame.fields, frame.payload) == (
        PLACE, sender, fields, payload,
    )  # fmt: skip
    assert frame.content == content
    assert frame.digest == digest_of(TERMS, PLACE, sender, fields, payload)


def test_the_head_of_a_frame_says_who_signed_what() -> None:
    content = written(TERMS, PLACE, 2, keys(5)[1], {"key": "k"}, b"payload")
    frame = read_frame(TERMS, content)
    assert len(frame.head) == HEAD
    assert bytes(frame.view) == b"payload"
    head = Head(TERMS, PLACE, 2, {"key": "k"}, frame.head)
    assert head.holds
    assert head.digest == frame.digest


def test_the_head_of_a_frame_holds_for_nothing_else() -> None:
    content = written(TERMS, PLACE, 2, keys(5)[1], {"key": "k"}, b"payload")
    head = read_frame(TERMS, content).head
    fields = {"key": "k"}
    others = [
        Head(terms_of(5, 5), PLACE, 2, fields, head),
        Head(TERMS, Place(4, "share", 1), 2, fields, head),
        Head(TERMS, Place(3, "confirm", 1), 2, fields, head),
        Head(TERMS, Place(3, "share"), 2, fields, head),
        Head(TERMS, PLACE, 3, fields, head),
        Head(TERMS, PLACE, 2, {"key": "K"}, head),
        *(
            Head(TERMS, PLACE, 2, fields, head[:at] + bytes([head[at] ^ 1]) + head[at + 1 :])
            for at in (0, 63, 64, 95)
        ),
        Head(TERMS, PLACE, 2, fields, head[:-1]),
        Head(TERMS, PLACE, 2, fields, b""),
    ]
    assert [other.holds for other in others] == [False] * len(others)


@pytest.mark.parametrize(("changes", "reason"), [
    ({"format": "sottovoce-star/2"}, "another session"),
    ({"suite": "damgard_jurik"}, "another session"),
    ({"session": "0" * 64}, "another session"),
    ({"round": -1}, "no round and phase"),
    ({"round": True}, "no round and phase"),
    ({"step": "1"}, "no round and phase"),
    ({"phase": 3}, "no round and phase"),
    ({"payload": "0" * 64}, "payload is not the signed one"),
    ({"payload": None}, "payload is not the signed one"),
    ({"fields": []}, "the required fields"),
    ({"more": 1}, "the required fields"),
    ({"sender": 6}, "not in this session"),
    ({"sender": False}, "not in this session"),
    ({"sender": None}, "not in this session"),
    ({"sender": 1}, "is from worker 1"),
])  # fmt: skip
def test_a_frame_that_is_signed_but_for_something_else_is_refused(
    changes: dict[str, Any], reason: str
) -> None:
    with pytest.raises(SealedRefused, match=reason) as caught:
        read_frame(TERMS, crafted(**changes), sender=SERVER)
    assert caught.value.culprit == "the server"


def test_a_refusal_names_who_handed_a_frame_on() -> None:
    content = written(TERMS, PLACE, 2, keys(5)[2])
    with pytest.raises(SealedRefused, match="the server: the message's signature is invalid"):
        read_frame(TERMS, content, carrier="the server")
    with pytest.raises(SealedRefused, match="someone: the message's signature"):
        read_frame(TERMS, content)


def test_a_text_longer_than_the_frame_is_refused() -> None:
    content = bytes(64) + struct.pack("<I", 2**32 - 1) + b"{}"
    with pytest.raises(SealedRefused, match="worker 2: the message is shorter than it states"):
        read_frame(TERMS, content, sender=2)


@given(parts=st.lists(st.binary(max_size=20), max_size=6))
def test_a_bundle_is_taken_apart_again(parts: list[bytes]) -> None:
    assert unbundle(bundle(parts), "someone") == parts


@pytest.mark.parametrize("content", [b"\1", b"\1\0\0", b"\2\0\0\0x", b"\xff\xff\xff\xffx"])
def test_a_bundle_that_ends_too_early_is_refused(content: bytes) -> None:
    with pytest.raises(SealedRefused, match="worker 1: a bundle ends in the middle"):
        unbundle(bundle([b"whole"]) + content, party(1))
