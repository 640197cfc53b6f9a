"""Signed messages with a long tail of bytes: what a vector of many integers travels in.

    signature (64 bytes) | length of the text (4 bytes) | text | payload

The text is canonical JSON, names the payload by its SHA-256 and is what is signed. Every text has
the same first fields, so that a frame serves one purpose only: it is bound to the format, the
suite, the session (and with it the roster), the round, the phase, the step in it and the sender.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sottovoce.errors import SealedRefused
from sottovoce.securesum.envelope import (
    CONTEXT,
    Ed25519PrivateKey,
    canonical,
    holds,
    parsed_object,
    sha256_hex,
)
from sottovoce.securesum.star.terms import FORMAT, StarTerms

__all__ = ["SERVER", "THE_SERVER", "Frame", "Place", "bundle", "party", "read_frame", "unbundle",
           "written"]  # fmt: skip

SERVER = 0
"""The sender of what the server says; workers are 1, 2, …"""

THE_SERVER = "the server"

_SIGNATURE, _LENGTH = 64, struct.Struct("<I")
LONGEST_TEXT = 1 << 20
_FIELDS = frozenset(
    {"fields", "format", "payload", "phase", "round", "sender", "session", "step", "suite"}
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a session a message belongs. `step` tells phases apart that come twice."""

    round: int
    phase: str
    step: int = 0


@dataclass(frozen=True, slots=True)
class Frame:
    """A message whose signature holds."""

    place: Place
    sender: int
    fields: Mapping[str, Any]
    payload: bytes
    digest: str
    content: bytes

    def __repr__(self) -> str:
        return f"Frame({self.place}, sender={self.sender}, {len(self.payload):,} bytes)"


def party(number: int) -> str:
    """How a party is named in refusals."""
    return THE_SERVER if number == SERVER else f"worker {number}"


def written(
    terms: StarTerms,
    place: Place,
    sender: int,
    key: Ed25519PrivateKey,
    fields: Mapping[str, Any] | None = None,
    payload: bytes = b"",
) -> bytes:
    """The frame with these fields and this payload."""
    text = canonical(
        {
            "fields": dict(fields or {}),
            "format": FORMAT,
            "payload": hashlib.sha256(payload).hexdigest(),
            "phase": place.phase,
            "round": place.round,
            "sender": sender,
            "session": terms.id,
            "step": place.step,
            "suite": str(terms.suite),
        }
    ).encode("ascii")
    return b"".join((key.sign(CONTEXT + text), _LENGTH.pack(len(text)), text, payload))


def read_frame(
    terms: StarTerms, content: bytes, *, sender: int | None = None, carrier: str | None = None
) -> Frame:
    """The frame in these bytes, if its sender signed it for this session.

    A refusal names the sender who is expected, or the `carrier` who handed it on, or, where
    neither is known, nobody in particular.
    """
    culprit = carrier or ("somebody" if sender is None else party(sender))
    head = _SIGNATURE + _LENGTH.size
    if len(content) < head:
        raise SealedRefused(culprit, "the message is too short")
    (length,) = _LENGTH.unpack_from(content, _SIGNATURE)
    if length > min(LONGEST_TEXT, len(content) - head):
        raise SealedRefused(culprit, "the message is shorter than it says")
    raw = content[head : head + length]
    body = parsed_object(raw, culprit)
    if body.keys() != _FIELDS or not isinstance(body["fields"], dict):
        raise SealedRefused(culprit, "the message has other fields than it must have")
    said = body["sender"]
    if type(said) is not int or not SERVER <= said <= terms.size:
        raise SealedRefused(culprit, "the message's sender is not in this session")
    if sender is not None and said != sender:
        raise SealedRefused(culprit, f"the message is from {party(said)}")
    text = raw.decode("ascii")
    if not holds(_key(terms, said), content[:_SIGNATURE], text):
        raise SealedRefused(culprit, "the message's signature does not hold")
    payload = content[head + length :]
    _check(terms, body, payload, carrier or party(said))
    place = Place(body["round"], body["phase"], body["step"])
    return Frame(place, said, body["fields"], payload, sha256_hex(text), content)


def bundle(contents: Sequence[bytes]) -> bytes:
    """Several byte strings as one, each after its length."""
    return b"".join(part for each in contents for part in (_LENGTH.pack(len(each)), each))


def unbundle(content: bytes, culprit: str) -> list[bytes]:
    """What `bundle` made one."""
    parts, at = [], 0
    while at < len(content):
        if at + _LENGTH.size > len(content):
            raise SealedRefused(culprit, "a bundle ends in the middle of a length")
        (length,) = _LENGTH.unpack_from(content, at)
        at += _LENGTH.size
        if at + length > len(content):
            raise SealedRefused(culprit, "a bundle ends in the middle of a part")
        parts.append(content[at : at + length])
        at += length
    return parts


def _key(terms: StarTerms, sender: int) -> str:
    return terms.coordinator if sender == SERVER else terms.members[sender - 1].signing


def _check(terms: StarTerms, body: Mapping[str, Any], payload: bytes, culprit: str) -> None:
    if (body["format"], body["suite"], body["session"]) != (FORMAT, str(terms.suite), terms.id):
        raise SealedRefused(culprit, "the message is for another session")
    counted = all(type(body[name]) is int and body[name] >= 0 for name in ("round", "step"))
    if not counted or not isinstance(body["phase"], str):
        raise SealedRefused(culprit, "the message says no round and phase")
    if hashlib.sha256(payload).hexdigest() != body["payload"]:
        raise SealedRefused(culprit, "the message's payload is not what was signed")
