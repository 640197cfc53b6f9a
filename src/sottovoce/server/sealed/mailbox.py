"""Keyholders' messages: next work, batches, and received messages, verified before storage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from sottovoce.errors import Reason, Refused, SealedRefused, UsageError
from sottovoce.securesum.committee import server
from sottovoce.securesum.committee.messages import MOST_IN_BATCH, Message, MessageKind
from sottovoce.securesum.committee.terms import Session
from sottovoce.securesum.envelope import unb64
from sottovoce.securesum.field import WIDTH, from_bytes
from sottovoce.securesum.hpke import OVERHEAD
from sottovoce.server.database.campaigns import the_campaign
from sottovoce.server.database.sealed_campaigns import (
    SERVER,
    MessageKey,
    add_message,
    batch_contents,
    find_message,
    messages_of,
)
from sottovoce.server.sealed.contributions import SealedAdmission
from sottovoce.server.sealed.keyholders import AuthenticatedKeyholder
from sottovoce.server.sealed.state import KeyholderWork, SealedState
from sottovoce.server.sealed.transitions import advance, verdict_of
from sottovoce.server.service import Service

ROOM = 4_096
OF_AN_ITEM = 128
"""Bytes of a check of one contribution: four numbers of 19 digits, with punctuation."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """A batch for one keyholder, each message as signed."""

    propose: bytes
    items: Sequence[bytes]
    checks: Sequence[bytes]
    confirms: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Closed:
    """The state that the server asks to open, with all confirmations."""

    close: bytes
    confirms: Sequence[bytes]


def next_work(service: Service, keyholder: AuthenticatedKeyholder) -> KeyholderWork:
    """A keyholder's next step."""
    service.attendance.see(keyholder.admission.campaign.id, keyholder.seat)
    with service.database.reading() as connection:
        the_campaign(connection, keyholder.admission.campaign.id)
        return _state(connection, keyholder.admission).work(keyholder.seat)


def batch(service: Service, keyholder: AuthenticatedKeyholder, number: int) -> Proposed:
    """A proposed batch, with this keyholder's share of every contribution."""
    admission, seat = keyholder.admission, keyholder.seat
    with service.database.reading() as connection:
        propose = find_message(
            connection, admission.number, MessageKey(MessageKind.PROPOSE, SERVER, number)
        )
        if propose is None:
            raise Refused(Reason.NOT_FOUND, f"there is no batch {number:,} yet")
        contents = (
            messages_of(connection, admission.number, MessageKind.DEAL, 0)
            if number == 0
            else batch_contents(connection, admission.number, number)
        )
        items = [server.item_for(content, seat) for content in contents]
        checks = messages_of(connection, admission.number, MessageKind.CHECK, number)
        confirms = messages_of(connection, admission.number, MessageKind.CONFIRM, number)
    return Proposed(propose, items, checks, confirms)


def closed(service: Service, keyholder: AuthenticatedKeyholder) -> Closed:
    """The state that the server asks to open, if it has asked."""
    admission = keyholder.admission
    with service.database.reading() as connection:
        number = _state(connection, admission).closing
        if number is None:
            raise Refused(Reason.NOT_FOUND, "there is nothing to open yet")
        close = find_message(
            connection, admission.number, MessageKey(MessageKind.CLOSE, SERVER, number)
        )
        assert close is not None  # noqa: S101 - its key was there
        return Closed(close, messages_of(connection, admission.number, MessageKind.CONFIRM, number))


def receive(service: Service, keyholder: AuthenticatedKeyholder, content: bytes) -> bool:
    """Store a keyholder's message and do what is then due; return whether it was stored before."""
    admission = keyholder.admission
    try:
        message = server.read_message(admission.session, content)
    except SealedRefused as refused:
        raise Refused(
            Reason.MALFORMED, f"this is not a valid message from you: {refused.reason}"
        ) from None
    if message.sender != keyholder.seat:
        raise Refused(Reason.BAD_CREDENTIAL, "the message is signed by another keyholder")
    key = MessageKey(str(message.phase), message.sender, message.number or 0)

    def work(connection: Connection) -> bool:
        the_campaign(connection, admission.campaign.id, hold=True)
        before = find_message(connection, admission.number, key)
        if before is not None:
            if before != content:
                raise Refused(
                    Reason.CONFLICT,
                    "another message of yours is stored for the same phase and number; nothing "
                    "was changed",
                )
            return True
        _check_awaited(connection, admission, keyholder.seat, message)
        add_message(connection, admission.number, key, content)
        return False

    replayed = service.change(work)
    if not replayed:
        advance(service, admission.campaign.id)
    return replayed


def largest_message(session: Session) -> int:
    """The most bytes of a keyholder's message: a deal, a check of a full batch, or an opening."""
    share = -(-(WIDTH * (session.slots + 2) + OVERHEAD) * 4 // 3) + OF_AN_ITEM
    items = max(MOST_IN_BATCH, session.sealed.seats) * OF_AN_ITEM
    return ROOM + max(session.sealed.seats * share, items)


def _state(connection: Connection, admission: SealedAdmission) -> SealedState:
    return SealedState.of(connection, admission.number, admission.session.sealed.seats)


def _check_awaited(
    connection: Connection, admission: SealedAdmission, seat: int, message: Message
) -> None:
    """Refuse messages that are out of turn or about another state.

    Therefore every stored message is one that all other keyholders would accept.
    """
    work = _state(connection, admission).work(seat)
    if (str(work.kind), work.number or 0) != (str(message.phase), message.number or 0):
        turn = "" if work.number is None else f" of batch {work.number:,}"
        raise Refused(
            Reason.NOT_OPEN,
            f"this message is not expected now; your next step is {work.kind}{turn}",
        )
    number = message.number or 0
    match message.phase:
        case MessageKind.CHECK:
            _check_batch(connection, admission, message, number)
        case MessageKind.CONFIRM | MessageKind.OPEN:
            verdict = verdict_of(connection, admission.number, number)
            if (message.body["state"], message.body["count"]) != (verdict.state, verdict.count):
                raise Refused(
                    Reason.MALFORMED,
                    "the message is about a different state than the keyholders' checks give",
                )
    if message.phase is MessageKind.OPEN:
        _check_total(message)


def _check_total(message: Message) -> None:
    try:
        from_bytes(unb64(message.body["total"]) or b"")
    except UsageError:
        raise Refused(
            Reason.MALFORMED, "the share of the total is not made of field elements"
        ) from None


def _check_batch(
    connection: Connection, admission: SealedAdmission, message: Message, number: int
) -> None:
    content = find_message(
        connection, admission.number, MessageKey(MessageKind.PROPOSE, SERVER, number)
    )
    assert content is not None  # noqa: S101 - a check of it is awaited
    propose = server.read_message(admission.session, content)
    fits = len(message.body["values"]) == len(propose.body["digests"])
    if message.body["batch"] != propose.digest or not fits:
        raise Refused(Reason.MALFORMED, "the check is not of the proposed batch")
