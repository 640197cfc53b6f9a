"""A worker's side of a round under masks."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field

from sottovoce.errors import SealedRefused
from sottovoce.model.sum_rounds import Integers
from sottovoce.securesum.envelope import b64
from sottovoce.securesum.hpke import X25519PrivateKey
from sottovoce.securesum.masked.keys import KEY, Channels, MaskKeys, pair_key, self_key
from sottovoce.securesum.masked.masks import check_fits, masked, words
from sottovoce.securesum.masked.messages import (
    ORDER,
    Dealt,
    PieceKind,
    check_tagged_confirms,
    deal_shares,
    piece_of,
    read_dealt,
)
from sottovoce.securesum.star.confirmation import (
    ProposedSet,
    check_proposed,
    pin,
    read_list,
    read_numbers,
)
from sottovoce.securesum.star.messages import THE_SERVER, Place, SignedFrame, digest_of
from sottovoce.securesum.star.suite import Content, Phase, RoundStart, WorkerRound


@dataclass(frozen=True, slots=True)
class MaskedWorker:
    """The suite of the worker with this sealing key. It has no work to do ahead.

    Its channels with the others are agreed once per session, and kept.
    """

    sealing: X25519PrivateKey = field(repr=False)
    first: Phase = ORDER[0]
    _channels: dict[tuple[str, int], Channels] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def round(self, start: RoundStart, number: int, values: Callable[[], Integers]) -> WorkerRound:
        """A round with a fresh mask key and seed."""
        key = start.terms.id, number
        if key not in self._channels:
            self._channels[key] = Channels(start.terms, number, self.sealing)
        return _Round(start, number, values, self._channels[key])

    def prepare(self) -> None:
        """Nothing: keys are cheap."""


class _Round:
    """The phases in order, each of which uses the results of the earlier ones."""

    def __init__(
        self, start: RoundStart, number: int, values: Callable[[], Integers], channels: Channels
    ) -> None:
        check_fits(start.spec, start.terms.size)
        self._start, self._number, self._values = start, number, values
        self._channels = channels
        self._mask_pair, self._seed = MaskKeys.fresh(), os.urandom(KEY)
        self._step = 0
        self._said = ""  # the digest of the reply that the next turn must contain
        self._dealt: dict[int, Dealt] = {}
        self._pins: dict[str, str] = {}
        self._proposed = ProposedSet(start, {})

    @property
    def confirmed(self) -> frozenset[int]:
        """The confirmed set; empty before."""
        return self._proposed.members

    def on(self, turn: SignedFrame) -> Content:
        """One phase after another; none is skipped, because the next depends on it."""
        steps = (self._share, self._contribute, self._confirm, self._open)
        at = self._step
        if at == len(ORDER) or turn.place != Place(self._start.round, ORDER[at]):
            raise SealedRefused(THE_SERVER, f"phase {turn.place.phase} is out of order")
        content = steps[at](turn)
        if turn.place.phase in (Phase.SHARE, Phase.CONTRIBUTE):
            self._said = digest_of(self._start.terms, turn.place, self._number, *content)
        self._step += 1
        return content

    def _share(self, _: SignedFrame) -> Content:
        masks = self._mask_pair
        dealt = deal_shares(self._start, self._number, self._seed, masks, self._channels)
        return {"masks": b64(masks.public)}, dealt

    def _contribute(self, turn: SignedFrame) -> Content:
        """Mask the values against all workers who have dealt pieces for recovery."""
        sharers = read_numbers(_only(turn, "sharers"), self._start.members)
        if self._number not in sharers:
            raise SealedRefused(THE_SERVER, "this worker's own shares are not there")
        self._check_enough(len(sharers))
        dealt = read_dealt(self._start, self._number, self._channels, sharers, turn.payload)
        if dealt[self._number].digest != self._said:
            raise SealedRefused(THE_SERVER, "this worker's own shares are not what it has dealt")
        self._dealt = dealt
        self._pins["shares"] = pin({dealer: each.digest for dealer, each in dealt.items()})
        own = self_key(self._start, self._number, self._seed)
        return {}, masked(words(self._values()), own, self._pairs(), self._number)

    def _confirm(self, turn: SignedFrame) -> Content:
        """One set, in which all have dealt, including this worker's own contribution."""
        if len(turn.view):
            raise SealedRefused(THE_SERVER, "a set of contributions has no payload")
        contributions = read_list(_only(turn, "contributions"), frozenset(self._dealt))
        proposed = ProposedSet(self._start, contributions, self._pins)
        check_proposed(proposed, frozenset(self._dealt), self._number, self._said)
        self._proposed = proposed
        tags = self._channels.tags(self._start, proposed.members, proposed.digest)
        return {"set": proposed.digest}, tags

    def _open(self, turn: SignedFrame) -> Content:
        """One piece from each dealer: of the seed if it is in the set, or of the mask key.

        Alive XOR dropped: with `threshold` pieces of both, a contribution would be revealed. What
        is opened follows from the one set that this worker confirmed; the server cannot choose.
        """
        check_tagged_confirms(self._proposed, self._channels, self._number, turn)
        opened = [
            piece_of(each.pieces, PieceKind.SEED if dealer in self.confirmed else PieceKind.MASKS)
            for dealer, each in sorted(self._dealt.items())
            if each.pieces is not None
        ]
        missing = sorted(dealer for dealer, each in self._dealt.items() if each.pieces is None)
        return {"missing": missing}, b"".join(opened)

    def _check_enough(self, count: int) -> None:
        minimum = self._start.terms.minimum
        if count < minimum:
            raise SealedRefused(
                THE_SERVER,
                f"it continues with {count} workers after phase {Phase.SHARE}; {minimum} are "
                "needed",
            )

    def _pairs(self) -> dict[int, bytes]:
        """The keys of the masks that this worker shares with others."""
        return {
            peer: pair_key(self._start, self._number, self._mask_pair, peer, each.masks)
            for peer, each in self._dealt.items()
            if peer != self._number
        }


def _only(turn: SignedFrame, name: str) -> object:
    if turn.fields.keys() != {name}:
        raise SealedRefused(THE_SERVER, f"its turn does not have only the field {name}")
    return turn.fields[name]
