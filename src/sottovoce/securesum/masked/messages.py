"""Messages of a round under masks: deals, and confirmations of the one set that is opened.

A deal is a worker's mask key, and pieces of it and of its seed, sealed:

    fields: the public mask key
    payload: commitment of the seed (32 bytes) | a row for each worker in the terms
    row: commitment of either piece (2 x 32 bytes) | both pieces, sealed to the recipient

The row of a worker who has left the round is zeros. A recipient gets its own row, and the mask key
with the head of the frame. A row is sealed under a key that only the dealer and the recipient have,
and bound to the dealer's mask key. So a row that opens authenticates the mask key, and otherwise
the signature of the head must: there is no man in the middle between two honest workers, as if each
had checked the other's signature. A dealer that seals garbage to a worker loses a holder of its
pieces, and nothing else. The server keeps the rows of a round's deals to forward, and the
commitments to check (`Deals`).

Confirmations are signed for the server, tagged for each other:

    reply: the name of the set in the fields; payload: a tag (16 bytes) for each member of the set
    turn: who has confirmed in the fields; payload: the head of its frame | its tag for the reader

A tag is made with a key that only its maker and its reader have, so the reader needs no signature.
A worker may send good tags to some and bad ones to others: if a tag is bad, the signature counts,
and no honest worker refuses an honest server.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cached_property
from hmac import compare_digest
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sottovoce.errors import SealedRefused
from sottovoce.securesum.envelope import b64, unb64
from sottovoce.securesum.masked.keys import KEY, TAG, Channels, MaskKeys, is_small, sealed, unsealed
from sottovoce.securesum.masked.shares import (
    COMMITMENT,
    PIECE,
    commitment,
    commitments,
    dealt,
    pieces_in,
    well_formed,
)
from sottovoce.securesum.star.confirmation import ProposedSet, read_numbers
from sottovoce.securesum.star.messages import HEAD, THE_SERVER, Head, Place, SignedFrame, party
from sottovoce.securesum.star.suite import Phase, RoundStart
from sottovoce.securesum.star.terms import StarTerms

Bytes: TypeAlias = npt.NDArray[np.uint8]


def rows(contents: Sequence[bytes | memoryview]) -> Bytes:
    """One row for each.

    >>> rows([b"ab", b"cd"])[:, 1].tobytes()
    b'bd'
    """
    return np.frombuffer(b"".join(contents), np.uint8).reshape(len(contents), -1)


_SHOWN = HEAD + TAG


def check_tagged_confirm(reply: SignedFrame, proposed: ProposedSet) -> None:
    """A worker's confirmation, for the server: of this set, with a tag for each of its members."""
    if dict(reply.fields) != {"set": proposed.digest}:
        raise SealedRefused(party(reply.sender), "it has confirmed a different set")
    if len(reply.view) != TAG * len(proposed.members):
        raise SealedRefused(
            party(reply.sender), ("it does not have one tag for each member of the set")
        )


class Confirms:
    """All confirmations that the server has, as it shows them to each worker."""

    def __init__(self, proposed: ProposedSet, said: Mapping[int, SignedFrame]) -> None:
        self._fields = {"confirmed": sorted(said)}
        self._seats = {number: seat for seat, number in enumerate(sorted(proposed.members))}
        self._said = [said[number] for number in sorted(said)]

    @cached_property
    def _heads(self) -> Bytes:
        return rows([frame.head for frame in self._said])

    @cached_property
    def _tags(self) -> Bytes:
        return rows([frame.view for frame in self._said])

    def content(self, member: int) -> tuple[Mapping[str, list[int]], bytes]:
        """Fields and payload of a member's turn."""
        at = TAG * self._seats[member]
        shown = np.concatenate([self._heads, self._tags[:, at : at + TAG]], axis=1)
        return self._fields, shown.tobytes()


def check_tagged_confirms(
    proposed: ProposedSet, channels: Channels, number: int, turn: SignedFrame
) -> None:
    """Refuse to open unless `threshold` members of the set confirmed exactly this set."""
    if turn.fields.keys() != {"confirmed"}:
        raise SealedRefused(THE_SERVER, "it asks to open something other than the confirmed set")
    confirmers = read_numbers(turn.fields["confirmed"], proposed.members)
    payload, needed, good = turn.payload, proposed.start.terms.threshold, 0
    if len(payload) != _SHOWN * len(confirmers):
        raise SealedRefused(
            THE_SERVER, ("it has not sent one confirmation of each worker who confirmed")
        )
    for at, confirmer in enumerate(confirmers):
        shown = payload[_SHOWN * at : _SHOWN * (at + 1)]
        good += _has_confirmed(proposed, channels, number, confirmer, shown)
        if good == needed:
            return
    raise SealedRefused(THE_SERVER, f"{good} workers have confirmed this set; {needed} are needed")


def _has_confirmed(
    proposed: ProposedSet, channels: Channels, number: int, confirmer: int, shown: bytes
) -> bool:
    start, digest = proposed.start, proposed.digest
    tag = channels.tag(start, confirmer, number, digest)
    if tag is not None and compare_digest(tag, shown[HEAD:]):
        return True
    place = Place(start.round, Phase.CONFIRM)
    return Head(start.terms, place, confirmer, {"set": digest}, shown[:HEAD]).holds


_SEALED = 2 * PIECE + TAG
ROW = 2 * COMMITMENT + _SEALED
"""Bytes of one recipient's part of one deal."""
SHOWN = HEAD + KEY + ROW
"""Bytes that a recipient sees of one dealer: the head of its frame, its key, and a row."""


class PieceKind(IntEnum):
    """The secret of a piece. Of one worker, one kind is opened."""

    SEED = 0
    MASKS = 1


@dataclass(frozen=True, slots=True)
class Dealt:
    """A worker's view of one dealer: its authentic mask key, and both pieces if any."""

    masks: bytes
    digest: str
    pieces: bytes | None = field(repr=False)


def piece_of(pieces: bytes, kind: PieceKind) -> bytes:
    """One of the two pieces."""
    return pieces[PIECE * kind : PIECE * (kind + 1)]


def deal_shares(
    start: RoundStart, number: int, seed: bytes, masks: MaskKeys, channels: Channels
) -> bytes:
    """The payload of a deal by worker `number`, to all workers in the round.

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
    """Worker `number`'s view of each dealer, as the server forwards it."""
    if len(payload) != SHOWN * len(dealers):
        raise SealedRefused(THE_SERVER, "it has not sent one row of each dealer")
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
    """Whether pieces match the dealer's commitments.

    The recipient checks this before it has to open them: otherwise a dealer could make it look like
    a cheater, by committing to other pieces than it sends.
    """
    return commitments((pieces[:PIECE], pieces[PIECE:])) == row[: 2 * COMMITMENT]


def _readable(found: dict[int, Dealt]) -> dict[int, Dealt]:
    """Without the pieces that are not in canonical form."""
    having = {dealer: each.pieces for dealer, each in found.items() if each.pieces is not None}
    fits = well_formed(b"".join(having.values()))
    for at, dealer in enumerate(having):
        if not (fits[2 * at] and fits[2 * at + 1]):
            found[dealer] = replace(found[dealer], pieces=None)
    return found


@dataclass(frozen=True, slots=True)
class Deal:
    """A deal as the server has it: of one worker, to all."""

    masks: bytes
    payload: bytes = field(repr=False)
    head: bytes = field(repr=False)

    @classmethod
    def read(cls, frame: SignedFrame, terms: StarTerms) -> Deal:
        """The deal in a frame, if its key is usable and every worker has a row.

        A worker whose sealing key in the terms is invalid could be read by nobody.
        """
        masks, culprit = unb64(frame.fields.get("masks")), party(frame.sender)
        if frame.fields.keys() != {"masks"} or masks is None or len(masks) != KEY:
            raise SealedRefused(culprit, "its shares come without a mask key")
        if is_small(masks) or is_small(unb64(terms.members[frame.sender - 1].sealing) or b""):
            raise SealedRefused(culprit, "it has a key with which nothing is secret")
        payload = frame.payload
        if len(payload) != COMMITMENT + ROW * terms.size:
            raise SealedRefused(culprit, f"its shares are not for the {terms.size} workers")
        return cls(masks, payload, frame.head + masks)

    @property
    def seed_commitment(self) -> bytes:
        """SHA-256 of the seed that was dealt."""
        return self.payload[:COMMITMENT]


class Deals:
    """All deals of a round, numbers of the dealers rising."""

    def __init__(self, deals: Mapping[int, Deal]) -> None:
        self._deals = dict(sorted(deals.items()))

    @cached_property
    def _heads(self) -> Bytes:
        return rows([deal.head for deal in self._deals.values()])

    @cached_property
    def _rows(self) -> Bytes:
        """By recipient and dealer: one worker's view is contiguous."""
        dealt = rows([deal.payload for deal in self._deals.values()])[:, COMMITMENT:]
        by_dealer = dealt.reshape(len(self._deals), -1, ROW)
        return np.ascontiguousarray(by_dealer.transpose(1, 0, 2))

    def shown(self, member: int) -> bytes:
        """Of each deal the head of its frame, its key and the member's row."""
        return np.concatenate([self._heads, self._rows[member - 1]], axis=1).tobytes()

    def opened(
        self, sender: int, missing: Collection[int], among: frozenset[int], payload: bytes
    ) -> dict[int, bytes]:
        """Pieces by dealer, each of which matches its dealer's commitment.

        For contributors it is the piece of the seed, for others that of the mask key.
        """
        there = [dealer for dealer in self._deals if dealer not in missing]
        if len(payload) != PIECE * len(there):
            raise SealedRefused(party(sender), "its opening does not have one piece of each deal")
        if not all(well_formed(payload)):
            raise SealedRefused(
                party(sender), ("it opens an invalid piece, and should have reported it")
            )
        pieces = pieces_in(payload)
        said, found = self._committed(sender, missing, among), commitments(pieces)
        if said != found:
            wrong = next(
                at for at, (one, other) in enumerate(zip(said, found, strict=True)) if one != other
            )
            raise SealedRefused(
                party(sender),
                f"the piece it opens is not the one that worker {there[wrong // COMMITMENT]} has "
                "dealt to it",
            )
        return dict(zip(there, pieces, strict=True))

    def _committed(self, recipient: int, missing: Collection[int], among: frozenset[int]) -> bytes:
        """The commitment in each deal to the one piece that a recipient may open of it."""
        mine = self._rows[recipient - 1]
        seeds, masks = mine[:, :COMMITMENT], mine[:, COMMITMENT : 2 * COMMITMENT]
        alive = np.array([dealer in among for dealer in self._deals])
        chosen: Bytes = np.where(alive[:, None], seeds, masks)
        if missing:
            chosen = chosen[[dealer not in missing for dealer in self._deals]]
        return chosen.tobytes()


ORDER = (Phase.SHARE, Phase.CONTRIBUTE, Phase.CONFIRM, Phase.OPEN)
