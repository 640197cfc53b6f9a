"""A cheating server: turns that no honest server sends, made from messages of an honest run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tests.securesum.masked.stars import Star, refusal, row_at

from sottovoce.securesum.masked.keys import TAG
from sottovoce.securesum.masked.messages import SHOWN, Deal
from sottovoce.securesum.star.messages import SignedFrame
from sottovoce.securesum.star.suite import Phase
from sottovoce.securesum.star.worker import WorkerSession

THE_SERVER = "the server"


def refused(worker: WorkerSession, turn: bytes, reason: str) -> None:
    """The worker refuses for this reason, names the server, and answers nothing more."""
    error = refusal(worker, turn)
    assert error.culprit == THE_SERVER
    assert reason in error.reason
    assert "this session was left for good" in refusal(worker, turn).reason


def contributions(star: Star) -> list[list[Any]]:
    """The set that an honest server would have confirmed."""
    listed: list[list[Any]] = star.read(star.turn(1)).fields["contributions"]
    return listed


def of(star: Star, members: Iterable[int]) -> bytes:
    """A turn that asks to confirm a set of these workers."""
    among = set(members)
    listed = [pair for pair in contributions(star) if pair[0] in among]
    return star.says(Phase.CONFIRM, {"contributions": listed})


Said = dict[int, tuple[SignedFrame, list[int]]]
"""Confirmations: the frame, and the members of the set it is about."""


def confirms(star: Star, members: Iterable[int], among: Iterable[int]) -> Said:
    """The replies of these workers when they are asked to confirm a set of those."""
    ordered = sorted(among)
    turn = of(star, ordered)
    return {
        number: (star.read(star.members[number].on(turn) or b""), ordered) for number in members
    }


def shown_confirm(frame: SignedFrame, among: list[int], reader: int) -> bytes:
    """A confirmation as a reader sees it; without a tag for a reader outside the set."""
    at = TAG * among.index(reader) if reader in among else len(frame.payload)
    return frame.head + frame.payload[at : at + TAG].ljust(TAG, b"\0")


def opening(star: Star, reader: int, said: Said, round: int = 0) -> bytes:
    """A turn that asks a reader to open, after these confirmations."""
    shown = [shown_confirm(*said[number], reader) for number in sorted(said)]
    return star.says(Phase.OPEN, {"confirmed": sorted(said)}, b"".join(shown), round=round)


def only(said: Said, *members: int) -> Said:
    """The confirmations of these."""
    return {number: said[number] for number in members}


def shown_deal(content: bytes, star: Star, reader: int) -> bytes:
    """A reader's view of a dealer's frame."""
    frame = star.read(content)
    return Deal.read(frame, star.terms).head + frame.payload[row_at(reader)]


def contributes(star: Star, reader: int, shown: Mapping[int, bytes], round: int = 0) -> bytes:
    """The turn to contribute in which some dealers are shown wrongly."""
    honest = star.read(star.turn(reader))
    parts = [
        shown.get(dealer, honest.payload[SHOWN * at : SHOWN * (at + 1)])
        for at, dealer in enumerate(honest.fields["sharers"])
    ]
    return star.says(Phase.CONTRIBUTE, honest.fields, b"".join(parts), round=round)


# Sets that must not be opened.
