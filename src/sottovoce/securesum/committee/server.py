"""The server's side, without I/O: it relays messages, proposes batches and combines openings.

It is not trusted with any answer. It can leave contributions out, and it can stop; it cannot have
two sums opened, or one of too few contributions, or one without noise (`state_chain`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sottovoce.errors import SealedRefused, UsageError
from sottovoce.securesum.codec import decode_total
from sottovoce.securesum.committee import messages
from sottovoce.securesum.committee.contribution import Admission, Contribution
from sottovoce.securesum.committee.messages import (
    SERVER,
    THE_SERVER,
    Message,
    MessageKind,
    party,
    written,
)
from sottovoce.securesum.committee.noise import check_shares
from sottovoce.securesum.committee.state_chain import (
    Certified,
    Verdicts,
    by_seat,
    certified,
    judged,
)
from sottovoce.securesum.committee.terms import Session
from sottovoce.securesum.envelope import Ed25519PrivateKey, canonical, unb64
from sottovoce.securesum.field import Elements, from_bytes
from sottovoce.securesum.shamir import interpolate, lies_on

__all__ = [
    "certified",
    "close",
    "item_for",
    "opened_total",
    "propose",
    "read_contribution",
    "read_message",
    "verdicts",
]

_SPARE = 2
"""Noise is accepted up to this many times its reach at a probability of 10⁻¹⁵."""


def read_contribution(session: Session, content: bytes) -> Contribution:
    """An upload, if it is admissible; use `Admission(session).whole` for many of them."""
    return Admission(session).whole(content)


def read_message(session: Session, content: bytes) -> Message:
    """A keyholder's message, with the shares of a deal checked against its signature."""
    message = messages.read_message(session, content)
    if message.phase is MessageKind.DEAL:
        check_shares(session, message)
    return message


def item_for(content: bytes, seat: int) -> bytes:
    """One keyholder's part of a deal or contribution that was read: the text and its share."""
    wire = json.loads(content)
    return canonical(
        {"share": wire["shares"][seat - 1], "signature": wire["signature"], "text": wire["text"]}
    ).encode("ascii")


def propose(
    session: Session, key: Ed25519PrivateKey, number: int, previous: str, digests: Sequence[str]
) -> bytes:
    """The next batch: number 0 is the deals by seat, all others are contributions, sorted here."""
    listed = list(digests) if number == 0 else sorted(digests)
    fields = {"number": number, "previous": previous, "digests": listed}
    return written(session, MessageKind.PROPOSE, SERVER, fields, key)


def verdicts(session: Session, propose: bytes, checks: Sequence[bytes]) -> Verdicts:
    """The verdicts on a batch from the checks of all keyholders, which compute the same."""
    proposed = messages.read_message(session, propose, MessageKind.PROPOSE, carrier=THE_SERVER)
    return judged(session, proposed, by_seat(session, checks, MessageKind.CHECK))


def close(session: Session, key: Ed25519PrivateKey, state: Certified) -> bytes:
    """The request to open a certified state."""
    fields = {"number": state.number, "state": state.state, "count": state.count}
    return written(session, MessageKind.CLOSE, SERVER, fields, key)


def opened_total(session: Session, opens: Sequence[bytes], count: int) -> npt.NDArray[np.int64]:
    """The noised sums (tasks, slots), from the openings of t + 1 keyholders or more.

    With more than t + 1 all of them must lie on one polynomial. If there are enough to identify a
    false one, it is named.
    """
    read = sorted(
        (messages.read_message(session, content, MessageKind.OPEN) for content in opens),
        key=lambda message: message.sender,
    )
    _refuse_different(session, read, count)
    points = [message.sender for message in read]
    shares = np.stack([_total(session, message) for message in read])
    _refuse_off_line(session, points, shares)
    values = interpolate(points, shares).reshape(len(session.names), session.ballot.slots)
    reach = [_SPARE * far for _, far in session.sealed.noise_laws()]
    ballot = session.ballot
    return decode_total(values, count, ballot.least, ballot.most, reach)


def _refuse_different(session: Session, opens: Sequence[Message], count: int) -> None:
    needed = session.sealed.degree + 1
    if len({message.sender for message in opens}) != len(opens):
        raise UsageError("a keyholder's opening is repeated")
    if len(opens) < needed:
        raise UsageError(f"an opening needs {needed} keyholders, but {len(opens)} are present")
    first = opens[0].body
    for message in opens:
        said = (message.body["number"], message.body["state"], message.body["count"])
        if said != (first["number"], first["state"], count):
            raise SealedRefused(party(session, message.sender), "it has opened a different state")


def _total(session: Session, message: Message) -> Elements:
    try:
        return from_bytes(unb64(message.body["total"]) or b"")
    except UsageError:
        raise SealedRefused(
            party(session, message.sender), "its share of the total is not a list of field elements"
        ) from None


def _refuse_off_line(session: Session, points: Sequence[int], shares: Elements) -> None:
    """One false opening among t + 3 or more can be identified: the others agree without it."""
    degree = session.sealed.degree
    if lies_on(degree, points, shares):
        return
    culprits = [
        seat
        for place, seat in enumerate(points)
        if len(points) > degree + 2
        and lies_on(degree, [*points[:place], *points[place + 1 :]], np.delete(shares, place, 0))
    ]
    if len(culprits) == 1:
        raise SealedRefused(party(session, culprits[0]), "its share of the total is false")
    named = ", ".join(party(session, seat) for seat in points)
    raise SealedRefused("the committee", f"a share of the total is false: one of {named}")
