"""Frames: signed messages with a binary payload, for vectors of many integers.

    signature (64 bytes) | length of the text (4 bytes) | text | payload

The text is canonical JSON, names the payload by its SHA-256 and is signed. Every text has the same
first fields, so that a frame is valid for one purpose only: it is bound to the format, the suite,
the session (and with it the roster), the round, the phase, the step in it and the sender. Earlier
totals are sent to workers too (`totals_content`), with a hash that identifies the history
(`extended`).
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.errors import SealedRefused
from sottovoce.model.sum_rounds import Integers, OpenedSum, SumSpec
from sottovoce.securesum.envelope import (
    CONTEXT,
    Ed25519PrivateKey,
    canonical,
    holds,
    parsed_object,
    sha256_hex,
)
from sottovoce.securesum.star.terms import FORMAT, StarTerms

SERVER = 0
"""The sender number of the server; workers are 1, 2, …"""

THE_SERVER = "the server"

_SIGNATURE, _LENGTH = 64, struct.Struct("<I")
HEAD = _SIGNATURE + 32
"""Bytes of a frame's signature and of the hash of its payload."""
LONGEST_TEXT = 1 << 20
_FIELDS = frozenset(
    {"fields", "format", "payload", "phase", "round", "sender", "session", "step", "suite"}
)


@dataclass(frozen=True, slots=True)
class Place:
    """A message's position in a session. `step` distinguishes repeated phases."""

    round: int
    phase: str
    step: int = 0


@dataclass(frozen=True, slots=True)
class SignedFrame:
    """A message with a valid signature."""

    place: Place
    sender: int
    fields: Mapping[str, Any]
    digest: str
    content: bytes
    start: int
    payload_hash: str

    @property
    def payload(self) -> bytes:
        """The bytes after the text. Copied on request: a long payload is not kept twice."""
        return self.content[self.start :]

    @property
    def view(self) -> memoryview:
        """The payload in place, not copied."""
        return memoryview(self.content)[self.start :]

    @property
    def head(self) -> bytes:
        """The input of `Head` in addition to the fields."""
        return self.content[:_SIGNATURE] + bytes.fromhex(self.payload_hash)

    def __repr__(self) -> str:
        return f"Frame({self.place}, sender={self.sender}, {len(self.payload):,} bytes)"


class Head:
    """A frame without its payload, as another party shows it: its signature is not yet verified.

    Place, sender and fields are what the reader expects. With the signature and the hash of the
    payload they give the text that must have been signed.
    """

    __slots__ = ("_key", "_signature", "_text")

    def __init__(
        self, terms: StarTerms, place: Place, sender: int, fields: Mapping[str, Any], content: bytes
    ) -> None:
        self._key, self._signature = _key(terms, sender), content[:_SIGNATURE]
        self._text = _text(terms, place, sender, fields, content[_SIGNATURE:].hex())

    @property
    def digest(self) -> str:
        """The digest of the frame whose head this is."""
        return sha256_hex(self._text)

    @property
    def holds(self) -> bool:
        """Whether the sender signed it."""
        return holds(self._key, self._signature, self._text)


def party(number: int) -> str:
    """A party's name in refusals."""
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
    named = hashlib.sha256(payload).hexdigest()
    text = _text(terms, place, sender, fields or {}, named).encode("ascii")
    return b"".join((key.sign(CONTEXT + text), _LENGTH.pack(len(text)), text, payload))


def digest_of(
    terms: StarTerms, place: Place, sender: int, fields: Mapping[str, Any], payload: bytes
) -> str:
    """The digest of the frame with these fields and this payload."""
    return sha256_hex(_text(terms, place, sender, fields, hashlib.sha256(payload).hexdigest()))


def read_frame(
    terms: StarTerms, content: bytes, *, sender: int | None = None, carrier: str | None = None
) -> SignedFrame:
    """The frame in these bytes, if its sender signed it for this session.

    A refusal names the expected sender, or the `carrier` who forwarded it, or, if neither is known,
    nobody in particular.
    """
    culprit = carrier or ("someone" if sender is None else party(sender))
    head = _SIGNATURE + _LENGTH.size
    if len(content) < head:
        raise SealedRefused(culprit, "the message is too short")
    (length,) = _LENGTH.unpack_from(content, _SIGNATURE)
    if length > min(LONGEST_TEXT, len(content) - head):
        raise SealedRefused(culprit, "the message is shorter than it states")
    raw = content[head : head + length]
    body = parsed_object(raw, culprit)
    if body.keys() != _FIELDS or not isinstance(body["fields"], dict):
        raise SealedRefused(culprit, "the message does not have the required fields")
    said = body["sender"]
    if type(said) is not int or not SERVER <= said <= terms.size:
        raise SealedRefused(culprit, "the message's sender is not in this session")
    if sender is not None and said != sender:
        raise SealedRefused(culprit, f"the message is from {party(said)}")
    text = raw.decode("ascii")
    if not holds(_key(terms, said), content[:_SIGNATURE], text):
        raise SealedRefused(culprit, "the message's signature is invalid")
    start = head + length
    _check(terms, body, memoryview(content)[start:], carrier or party(said))
    place = Place(body["round"], body["phase"], body["step"])
    return SignedFrame(
        place, said, body["fields"], sha256_hex(text), content, start, body["payload"]
    )


def bundle(contents: Sequence[bytes]) -> bytes:
    """Several byte strings as one, each after its length."""
    return b"".join(part for each in contents for part in (_LENGTH.pack(len(each)), each))


def unbundle(content: bytes, culprit: str) -> list[bytes]:
    """The parts that `bundle` joined."""
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


def _text(
    terms: StarTerms, place: Place, sender: int, fields: Mapping[str, Any], payload: str
) -> str:
    """The canonical JSON of a frame, whose payload has this hash; the names are in their order."""
    return (
        f'{{"fields":{canonical(dict(fields))},"format":"{FORMAT}","payload":"{payload}",'
        f'"phase":{canonical(place.phase)},"round":{place.round},"sender":{sender},'
        f'"session":"{terms.id}","step":{place.step},"suite":"{terms.suite}"}}'
    )


def _key(terms: StarTerms, sender: int) -> str:
    return terms.coordinator if sender == SERVER else terms.members[sender - 1].signing


def _check(terms: StarTerms, body: Mapping[str, Any], payload: memoryview, culprit: str) -> None:
    if (body["format"], body["suite"], body["session"]) != (FORMAT, str(terms.suite), terms.id):
        raise SealedRefused(culprit, "the message is for another session")
    counted = all(type(body[name]) is int and body[name] >= 0 for name in ("round", "step"))
    if not counted or not isinstance(body["phase"], str):
        raise SealedRefused(culprit, "the message has no round and phase")
    if hashlib.sha256(payload).hexdigest() != body["payload"]:
        raise SealedRefused(culprit, "the message's payload is not the signed one")


BEGINNING = "0" * 64
"""The hash of an empty history."""


def totals_content(totals: Integers) -> bytes:
    """Totals as they are sent: 8 bytes each, little-endian."""
    return totals.astype("<i8").tobytes()


def read_totals(content: bytes, spec: SumSpec, workers: int) -> Integers:
    """The totals that the server sends, if they are possible for these workers.

    A worker cannot verify that they are true. It can verify that they are possible; and since their
    hash is in the confirmed set, no two workers open anything under different ones.
    """
    if len(content) != 8 * spec.values:
        raise SealedRefused(THE_SERVER, f"the last round opened {spec.values:,} totals, not these")
    totals = np.frombuffer(content, "<i8").astype(np.int64)
    if ((totals < 0) | (totals > workers * spec.greatest)).any():
        raise SealedRefused(THE_SERVER, f"a total is impossible for {workers:,} workers")
    return totals


def extended(history: str, opened: OpenedSum) -> str:
    """SHA-256 of the previous history, the number of workers and their totals."""
    head = f"{history} {opened.workers} ".encode("ascii")
    return hashlib.sha256(head + totals_content(opened.totals)).hexdigest()
