"""Messages of a committee: signed, and bound to session, round and phase.

    deal      a keyholder's noise, sealed to the others
    propose   the server's next batch of contributions; batch 0 is the deals
    check     what a keyholder opens of each contribution in a batch to check it
    confirm   which state a keyholder reached: whose contributions are in the total so far
    close     the state that the server asks to open
    open      a keyholder's share of the total in that state

Keyholders are senders 1 … N by their seats, the server is sender 0. Reading a message makes all
checks that do not need earlier messages. `WorkKind` is how the server tells a keyholder its next
step.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sottovoce.errors import SealedRefused
from sottovoce.securesum.committee.terms import SUITE, Session
from sottovoce.securesum.envelope import Ed25519PrivateKey, Envelope, read_envelope, signed, unb64
from sottovoce.securesum.field import WIDTH, P

FORMAT = "sottovoce-message/1"
SERVER = 0
"""The server's number as a sender."""
THE_SERVER = "the server"
"""Its name in errors."""
MOST_IN_BATCH = 1000
"""The most contributions in one batch."""

_MOST = 1 << 31
_SEALED = ("share", "shares")
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
_DECIMAL = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII)


class MessageKind(StrEnum):
    """The phase of a message."""

    DEAL = "deal"
    PROPOSE = "propose"
    CHECK = "check"
    CONFIRM = "confirm"
    CLOSE = "close"
    OPEN = "open"


_BY_SERVER = (MessageKind.PROPOSE, MessageKind.CLOSE)


@dataclass(frozen=True, slots=True)
class Message:
    """A message that its sender signed for this session. Deals have no number."""

    phase: MessageKind
    sender: int
    number: int | None
    digest: str
    body: Mapping[str, Any]
    extra: Mapping[str, Any]


def party(session: Session, sender: int) -> str:
    """A sender's name in errors."""
    if sender == SERVER:
        return THE_SERVER
    return f"keyholder {sender} ({session.sealed.keyholders[sender - 1].name})"


def written(
    session: Session,
    phase: MessageKind,
    sender: int,
    fields: Mapping[str, Any],
    key: Ed25519PrivateKey,
    **extra: Any,
) -> bytes:
    """The message of one phase with these fields."""
    return signed({**_header(session, phase, sender), **fields}, key, **extra)


def read_message(
    session: Session, content: bytes, phase: MessageKind | None = None, *, carrier: str = "a sender"
) -> Message:
    """The message in these bytes, if its sender signed it for this session and it is complete.

    `phase` is the required one; `carrier` is named if the bytes are not a message. A deal also
    carries sealed shares, or one of them: the reader of a share checks it.
    """
    beside = [name for name in _SEALED if content.startswith(f'{{"{name}":'.encode())]
    envelope = read_envelope(
        content, lambda body: _key(session, body, carrier), culprit=carrier, extra=beside
    )
    message = _checked(session, envelope, phase)
    if bool(beside) != (message.phase is MessageKind.DEAL):
        raise SealedRefused(
            carrier, ("sealed shares come with deals only, and deals with sealed shares")
        )
    return message


def _header(session: Session, phase: MessageKind, sender: int) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "phase": str(phase),
        "round": session.round,
        "sender": sender,
        "session": session.id,
        "suite": SUITE,
    }


def _key(session: Session, body: Mapping[str, Any], carrier: str) -> str:
    """The pinned key of the sender that the body names."""
    sender = body.get("sender")
    if type(sender) is not int or not 0 <= sender <= session.sealed.seats:
        raise SealedRefused(carrier, "the message's sender has no seat here")
    if sender == SERVER:
        return session.sealed.coordinator
    return session.sealed.keyholders[sender - 1].signing


def _checked(session: Session, envelope: Envelope, phase: MessageKind | None) -> Message:
    """From here on the sender has signed the fault, and is named."""
    body = envelope.body
    sender = body["sender"]
    culprit = party(session, sender)
    said = body.get("phase")
    if said not in list(MessageKind) or (phase is not None and said != phase):
        raise SealedRefused(culprit, f"the message is not of the phase {phase or 'it should be'}")
    header, shapes = _header(session, MessageKind(said), sender), _SHAPES[MessageKind(said)]
    if any(
        body.get(name) != value or type(body[name]) is not type(value)
        for name, value in header.items()
    ):
        raise SealedRefused(culprit, "the message is for another session, round or suite")
    if (sender == SERVER) != (said in _BY_SERVER):
        raise SealedRefused(culprit, f"the phase {said} is not for this sender")
    if body.keys() != header.keys() | shapes.keys():
        raise SealedRefused(culprit, f"the message does not have the fields of phase {said}")
    for name, fits in shapes.items():
        if not fits(session, body[name], body):
            raise SealedRefused(culprit, f"the field {name} of its {said} message is malformed")
    return Message(
        MessageKind(said), sender, body.get("number"), envelope.digest, body, envelope.extra
    )


Shape = Callable[[Session, Any, Mapping[str, Any]], bool]


def _is_count(_: Session, value: Any, __: Mapping[str, Any]) -> bool:
    return type(value) is int and 0 <= value < _MOST


def _is_digest(_: Session, value: Any, __: Mapping[str, Any]) -> bool:
    return isinstance(value, str) and _DIGEST.fullmatch(value) is not None


def _are_digests(session: Session, value: Any, body: Mapping[str, Any]) -> bool:
    """The deals by seat, or contributions in order, each once."""
    if not isinstance(value, list) or not all(_is_digest(session, each, body) for each in value):
        return False
    if body.get("number", 0) == 0:
        return len(value) == session.sealed.seats == len(set(value))
    return 1 <= len(value) <= MOST_IN_BATCH and value == sorted(set(value))


def _are_values(_: Session, value: Any, body: Mapping[str, Any]) -> bool:
    """For each contribution its opened check values, or null."""
    wanted = 2 if body.get("number") == 0 else 4
    return isinstance(value, list) and all(
        opened is None
        or (isinstance(opened, list) and len(opened) == wanted and all(map(_is_element, opened)))
        for opened in value
    )


def _is_element(text: Any) -> bool:
    return isinstance(text, str) and _DECIMAL.fullmatch(text) is not None and int(text) < P


def _is_total(session: Session, value: Any, _: Mapping[str, Any]) -> bool:
    content = unb64(value)
    return content is not None and len(content) == WIDTH * session.slots


_STATE: dict[str, Shape] = {"number": _is_count, "state": _is_digest, "count": _is_count}
_SHAPES: dict[MessageKind, dict[str, Shape]] = {
    MessageKind.DEAL: {"shares": _are_digests},
    MessageKind.PROPOSE: {"number": _is_count, "previous": _is_digest, "digests": _are_digests},
    MessageKind.CHECK: {"number": _is_count, "batch": _is_digest, "values": _are_values},
    MessageKind.CONFIRM: _STATE,
    MessageKind.CLOSE: _STATE,
    MessageKind.OPEN: {**_STATE, "total": _is_total},
}


class WorkKind(StrEnum):
    """A keyholder's next step."""

    DEAL = "deal"
    CHECK = "check"
    CONFIRM = "confirm"
    OPEN = "open"
    WAIT = "wait"
    DONE = "done"
    DEAD = "dead"
