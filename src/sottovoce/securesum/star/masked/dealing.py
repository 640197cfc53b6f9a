"""What a worker deals in a round: its mask key, and pieces of it and of its seed, sealed.

    fields: the public mask key
    payload: commitment of the seed (32 bytes) | a row for each worker in the terms
    row: commitment of either piece (2 x 32 bytes) | both pieces, sealed to the recipient

The row of a worker who is not in the round any more is zeros. A recipient gets its own row, and
the mask key with the head of the frame. A row is sealed under a key that the dealer and the
recipient alone have, and bound to the dealer's mask key. So a row that opens says whose the mask
key is, and where it does not, the signature of the head must: nobody stands between two honest
workers, as if each had checked the other's signature. A dealer that seals garbage to somebody
loses a holder of its pieces, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import IntEnum

from sottovoce.errors import SealedRefused
from sottovoce.securesum.envelope import b64
from sottovoce.securesum.star.frames import HEAD, THE_SERVER, Head, Place, party
from sottovoce.securesum.star.masked.channels import Channels
from sottovoce.securesum.star.masked.ciphers import TAG, sealed, unsealed
from sottovoce.securesum.star.masked.keys import KEY, Pair, is_small
from sottovoce.securesum.star.masked.pieces import (
    COMMITMENT,
    PIECE,
    commitment,
    commitments,
    dealt,
    well_formed,
)
from sottovoce.securesum.star.phases import Phase
from sottovoce.securesum.star.rounds import RoundStart

__all__ = ["ROW", "SHOWN", "Dealt", "Kind", "deal", "piece_of", "read_dealt"]

_SEALED = 2 * PIECE + TAG
ROW = 2 * COMMITMENT + _SEALED
"""Bytes of what one recipient gets of one deal."""
SHOWN = HEAD + KEY + ROW
"""Bytes of what a recipient is shown of one dealer: the head of its frame, its key, and a row."""


class Kind(IntEnum):
    """Which secret a piece is of. Of one worker, one kind is opened."""

    SEED = 0
    MASKS = 1


@dataclass(frozen=True, slots=True)
class Dealt:
    """What a worker has of one dealer: its mask key, which is genuine, and both pieces if any."""

    masks: bytes
    digest: str
    pieces: bytes | None = field(repr=False)


def piece_of(pieces: bytes, kind: Kind) -> bytes:
    """One of the two pieces."""
    return pieces[PIECE * kind : PIECE * (kind + 1)]


def deal(start: RoundStart, number: int, seed: bytes, masks: Pair, channels: Channels) -> bytes:
    """The payload of a deal by worker `number`, to everybody in the round.

    The polynomials have degree threshold - 1, and seats are the workers' numbers.
    """
    pieces = dealt((seed, masks.private), start.terms.threshold - 1, start.terms.size)
    parts = [commitment(seed)]
    for recipient, content in enumerate(pieces, 1):
        if recipient not in start.members:
            parts.append(bytes(ROW))
            continue
        lock = channels.lock(start, number, recipient, masks.public)
        parts.append(commitments((content[:PIECE], content[PIECE:])))
        parts.append(bytes(_SEALED) if lock is None else sealed(lock[0], content, lock[1]))
    return b"".join(parts)


def read_dealt(
    start: RoundStart, number: int, channels: Channels, dealers: list[int], payload: bytes
) -> dict[int, Dealt]:
    """What worker `number` is shown of each dealer, as the server hands it on."""
    if len(payload) != SHOWN * len(dealers):
        raise SealedRefused(THE_SERVER, "it has not sent one row of each who has dealt")
    found, place = dict[int, Dealt](), Place(start.round, Phase.SHARE)
    for at, dealer in enumerate(dealers):
        shown = payload[SHOWN * at : SHOWN * (at + 1)]
        masks, row = shown[HEAD : HEAD + KEY], shown[HEAD + KEY :]
        if is_small(masks):
            raise SealedRefused(
                THE_SERVER, f"{party(dealer)} has a key with which nothing is secret"
            )
        head = Head(start.terms, place, dealer, {"masks": b64(masks)}, shown[:HEAD])
        lock = channels.lock(start, dealer, number, masks)
        pieces = None if lock is None else unsealed(lock[0], row[2 * COMMITMENT :], lock[1])
        if pieces is None and not head.holds:
            raise SealedRefused(THE_SERVER, f"{party(dealer)} has not signed the key it shows")
        if pieces is not None and not _committed(pieces, row):
            pieces = None
        found[dealer] = Dealt(masks, head.digest, pieces)
    return _readable(found)


def _committed(pieces: bytes, row: bytes) -> bool:
    """Whether pieces are what the dealer committed itself to.

    The recipient checks this before it has to open them: or a dealer could make it look like a
    cheat, by committing itself to other pieces than it sends.
    """
    return commitments((pieces[:PIECE], pieces[PIECE:])) == row[: 2 * COMMITMENT]


def _readable(found: dict[int, Dealt]) -> dict[int, Dealt]:
    """Without the pieces that are written otherwise than they must be."""
    having = {dealer: each.pieces for dealer, each in found.items() if each.pieces is not None}
    fits = well_formed(b"".join(having.values()))
    for at, dealer in enumerate(having):
        if not (fits[2 * at] and fits[2 * at + 1]):
            found[dealer] = replace(found[dealer], pieces=None)
    return found
