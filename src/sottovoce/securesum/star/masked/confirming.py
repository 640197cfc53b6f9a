"""Confirmations of the one set that is opened: signed for the server, tagged for each other.

    reply: the name of the set in the fields; payload: a tag (16 bytes) for each member of the set
    turn: who has confirmed in the fields; payload: the head of its frame | its tag for the reader

A tag is made with a key that its maker and its reader alone have, so the reader knows without a
signature. A worker may send good tags to some and bad ones to others: where a tag is bad, the
signature counts, and no honest worker refuses an honest server.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from hmac import compare_digest

import numpy as np

from sottovoce.errors import SealedRefused
from sottovoce.securesum.star.frames import HEAD, THE_SERVER, Frame, Head, Place, party
from sottovoce.securesum.star.masked.channels import Channels
from sottovoce.securesum.star.masked.ciphers import TAG
from sottovoce.securesum.star.masked.rows import Bytes, rows
from sottovoce.securesum.star.phases import Phase
from sottovoce.securesum.star.sets import ProposedSet, read_numbers

__all__ = ["Confirms", "check_tagged_confirm", "check_tagged_confirms"]

_SHOWN = HEAD + TAG


def check_tagged_confirm(reply: Frame, proposed: ProposedSet) -> None:
    """A worker's confirmation, for the server: of this set, with a tag for each of its members."""
    if dict(reply.fields) != {"set": proposed.digest}:
        raise SealedRefused(party(reply.sender), "it has confirmed another set")
    if len(reply.view) != TAG * len(proposed.members):
        raise SealedRefused(party(reply.sender), "it has not one tag for each in the set")


class Confirms:
    """All confirmations that the server has, as it shows them to each worker."""

    def __init__(self, proposed: ProposedSet, said: Mapping[int, Frame]) -> None:
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
    proposed: ProposedSet, channels: Channels, number: int, turn: Frame
) -> None:
    """Refuse to open unless `threshold` members of the set confirmed this very set."""
    if turn.fields.keys() != {"confirmed"}:
        raise SealedRefused(THE_SERVER, "it asks to open something else than what is confirmed")
    confirmers = read_numbers(turn.fields["confirmed"], proposed.members)
    payload, needed, good = turn.payload, proposed.start.terms.threshold, 0
    if len(payload) != _SHOWN * len(confirmers):
        raise SealedRefused(THE_SERVER, "it has not sent one confirmation of each who confirmed")
    for at, confirmer in enumerate(confirmers):
        shown = payload[_SHOWN * at : _SHOWN * (at + 1)]
        good += _has_confirmed(proposed, channels, number, confirmer, shown)
        if good == needed:
            return
    raise SealedRefused(
        THE_SERVER, f"{good} workers have confirmed this set, and {needed} must have"
    )


def _has_confirmed(
    proposed: ProposedSet, channels: Channels, number: int, confirmer: int, shown: bytes
) -> bool:
    start, digest = proposed.start, proposed.digest
    tag = channels.tag(start, confirmer, number, digest)
    if tag is not None and compare_digest(tag, shown[HEAD:]):
        return True
    place = Place(start.round, Phase.CONFIRM)
    return Head(start.terms, place, confirmer, {"set": digest}, shown[:HEAD]).holds
