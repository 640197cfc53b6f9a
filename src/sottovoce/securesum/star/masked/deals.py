"""What the server has of the deals of a round: rows to hand on, and commitments to check by."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sottovoce.errors import SealedRefused
from sottovoce.securesum.envelope import unb64
from sottovoce.securesum.star.frames import Frame, party
from sottovoce.securesum.star.masked.dealing import ROW
from sottovoce.securesum.star.masked.keys import KEY, is_small
from sottovoce.securesum.star.masked.pieces import (
    COMMITMENT,
    PIECE,
    commitments,
    pieces_in,
    well_formed,
)
from sottovoce.securesum.star.masked.rows import Bytes, rows
from sottovoce.securesum.star.terms import StarTerms

__all__ = ["Deal", "Deals"]


@dataclass(frozen=True, slots=True)
class Deal:
    """A deal as the server has it: of one worker, to everybody."""

    masks: bytes
    payload: bytes = field(repr=False)
    head: bytes = field(repr=False)

    @classmethod
    def read(cls, frame: Frame, terms: StarTerms) -> Deal:
        """The deal in a frame, if others can agree on secrets with its sender, and all have a row.

        A worker whose sealing key in the terms is no key could be read by nobody.
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
        """By recipient and dealer: what one worker is shown lies together."""
        dealt = rows([deal.payload for deal in self._deals.values()])[:, COMMITMENT:]
        by_dealer = dealt.reshape(len(self._deals), -1, ROW)
        return np.ascontiguousarray(by_dealer.transpose(1, 0, 2))

    def shown(self, member: int) -> bytes:
        """Of each deal the head of its frame, its key and the member's row."""
        return np.concatenate([self._heads, self._rows[member - 1]], axis=1).tobytes()

    def opened(
        self, sender: int, missing: Collection[int], among: frozenset[int], payload: bytes
    ) -> dict[int, bytes]:
        """Pieces by dealer, each of which is the one its dealer committed itself to.

        Of whoever is among the contributors it is the piece of the seed, of others of the masks.
        """
        there = [dealer for dealer in self._deals if dealer not in missing]
        if len(payload) != PIECE * len(there):
            raise SealedRefused(party(sender), "its opening has not one piece of each deal")
        if not all(well_formed(payload)):
            raise SealedRefused(party(sender), "it opens what is no piece, and should have said so")
        pieces = pieces_in(payload)
        said, found = self._committed(sender, missing, among), commitments(pieces)
        if said != found:
            wrong = next(
                at for at, (one, other) in enumerate(zip(said, found, strict=True)) if one != other
            )
            raise SealedRefused(
                party(sender),
                f"the piece it opens is not what worker {there[wrong // COMMITMENT]} has dealt to "
                "it",
            )
        return dict(zip(there, pieces, strict=True))

    def _committed(self, recipient: int, missing: Collection[int], among: frozenset[int]) -> bytes:
        """The commitment in each deal of the one piece that a recipient may open of it."""
        mine = self._rows[recipient - 1]
        seeds, masks = mine[:, :COMMITMENT], mine[:, COMMITMENT : 2 * COMMITMENT]
        alive = np.array([dealer in among for dealer in self._deals])
        chosen: Bytes = np.where(alive[:, None], seeds, masks)
        if missing:
            chosen = chosen[[dealer not in missing for dealer in self._deals]]
        return chosen.tobytes()
