"""Distributed noise: each keyholder draws a share and secret-shares it with all.

Each draws a Polya vector of shape 1/(N − t) and deals it like a contribution. Shapes add up: any N
− t honest keyholders together have dealt discrete Laplace noise, independent of the other t
(Goryczka & Xiong 2017). All N deals are in the total or nothing is opened. If all are honest the
opened noise is the difference of two negative binomials of shape N/(N − t).

Adding noise to one's own share instead would be wrong: opening multiplies shares by weights.
"""

from __future__ import annotations

import hashlib

import numpy as np

from sottovoce.errors import SealedRefused, UsageError
from sottovoce.seams import Randomness
from sottovoce.securesum.committee.messages import Message, MessageKind, party, written
from sottovoce.securesum.committee.terms import CHECKS, Session, sealing_info
from sottovoce.securesum.envelope import Ed25519PrivateKey, b64, unb64
from sottovoce.securesum.field import WIDTH, Elements, elements, from_bytes, to_bytes
from sottovoce.securesum.hpke import OVERHEAD, X25519PrivateKey, seal, unseal
from sottovoce.securesum.shamir import random_sharing, share

DEAL_MASKS = CHECKS
"""Elements after the noise in a deal: m₁, m₂."""


def deal_noise(
    session: Session, seat: int, key: Ed25519PrivateKey, randomness: Randomness
) -> bytes:
    """The deal of the keyholder at a seat: new noise, shared and sealed to every seat."""
    sealed = session.sealed
    noise = elements(_noise(session, randomness))
    rows = np.hstack(
        [
            share(noise, sealed.degree, sealed.seats),
            random_sharing(DEAL_MASKS, sealed.degree, sealed.seats),
        ]
    )
    shares = [
        seal(unb64(keyholder.sealing) or b"", to_bytes(row), _info(session, seat, to))
        for to, (keyholder, row) in enumerate(zip(sealed.keyholders, rows, strict=True), 1)
    ]
    fields = {"shares": [hashlib.sha256(content).hexdigest() for content in shares]}
    return written(
        session, MessageKind.DEAL, seat, fields, key, shares=[b64(content) for content in shares]
    )


def check_shares(session: Session, message: Message) -> None:
    """Refuse a deal whose sealed shares are not those that its keyholder signed."""
    shares = message.extra.get("shares")
    culprit = party(session, message.sender)
    if not isinstance(shares, list) or len(shares) != session.sealed.seats:
        raise SealedRefused(culprit, "its deal does not have one share for each keyholder")
    for seat, text in enumerate(shares, 1):
        _pinned(session, message, text, seat, culprit)


def sealed_share(session: Session, message: Message, seat: int, carrier: str) -> bytes:
    """The share for one seat, in a deal that carries only this share."""
    return _pinned(session, message, message.extra.get("share"), seat, carrier)


def unsealed(
    session: Session, message: Message, content: bytes, seat: int, key: X25519PrivateKey
) -> Elements | None:
    """Shares of the noise, then the masks; None if the dealer has sealed something else."""
    return read_elements(unseal(key, content, _info(session, message.sender, seat)))


def read_elements(plaintext: bytes | None) -> Elements | None:
    """The field elements in an unsealed plaintext; None if it is missing or invalid."""
    try:
        return None if plaintext is None else from_bytes(plaintext)
    except UsageError:
        return None


def _noise(session: Session, randomness: Randomness) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The integers of one keyholder, task by task; each slot has its own decay."""
    columns = [law.sample(len(session.names), randomness) for law in session.sealed.deals]
    return np.stack(columns, axis=1).ravel()


def _info(session: Session, sender: int, seat: int) -> bytes:
    """The HPKE info of a deal: it cannot be reused by another keyholder or in another session."""
    terms = {
        "keyholder": seat,
        "phase": str(MessageKind.DEAL),
        "round": session.round,
        "sender": sender,
        "session": session.id,
    }
    return sealing_info(terms)


def _pinned(session: Session, message: Message, text: object, seat: int, culprit: str) -> bytes:
    content = unb64(text)
    length = WIDTH * (session.slots + DEAL_MASKS) + OVERHEAD
    if content is None or len(content) != length:
        raise SealedRefused(culprit, f"a share of the deal is not {length:,} bytes in base64")
    if hashlib.sha256(content).hexdigest() != message.body["shares"][seat - 1]:
        raise SealedRefused(culprit, "a share of the deal is not the one that was signed")
    return content
