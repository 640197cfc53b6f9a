"""What a suite fills in: one round of one party, without I/O, in phases of which it uses some.

The sessions (`worker`, `server`) sign and read frames, keep the order of rounds and phases, answer
what comes twice and remember who is excluded. A suite says what is in the frames.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

from sottovoce.model.sum_rounds import Integers, OpenedSum, SumSpec
from sottovoce.securesum.star.messages import Place, SignedFrame
from sottovoce.securesum.star.terms import StarTerms


class Phase(StrEnum):
    """What the server asks of workers."""

    SHARE = "share"
    """A fresh public key, and shares of what recovers a worker's masks, sealed to the others."""
    COMMIT = "commit"
    """The hash of a contribution, before anybody's contribution is seen."""
    CONTRIBUTE = "contribute"
    CONFIRM = "confirm"
    """A signature under the one set that is to be opened."""
    OPEN = "open"
    """What opens the total of the set that was confirmed."""
    PROVE = "prove"
    """That what was sent to open it is right."""
    END = "end"
    """The session is over; nothing is answered."""


_ORDER = {str(phase): place for place, phase in enumerate(Phase)}


def rank(place: Place) -> tuple[int, int, int]:
    """What only ever grows in a session. A phase nobody knows comes before all others.

    >>> rank(Place(2, "share")) < rank(Place(2, "open")) < rank(Place(2, "open", 1))
    True
    """
    return place.round, _ORDER.get(place.phase, -1), place.step


Content: TypeAlias = tuple[Mapping[str, Any], bytes]
"""Fields and payload of a frame."""


@dataclass(frozen=True, slots=True)
class RoundStart:
    """What a round begins with.

    `members` are those who may be in it: for the server whoever is not excluded, for a worker
    the set it confirmed in the round before. The server's is a part of the worker's: sets only
    shrink. `history` is a hash of all that was opened before (`history.extended`).
    """

    terms: StarTerms
    round: int
    spec: SumSpec
    members: frozenset[int]
    history: str


class WorkerRound(Protocol):
    """One worker's side of one round."""

    @property
    def confirmed(self) -> frozenset[int]:
        """The set that this worker confirmed; empty before it did."""
        ...

    def on(self, turn: SignedFrame) -> Content | None:
        """Fields and payload of the reply to a turn that the server signed for this round.

        Turns come in the order of phases and steps, none twice, but perhaps not all of them: a
        suite refuses a phase whose predecessor it has not seen. The first turn has no fields, and
        its payload is not the suite's. None: nothing is said. SealedRefused ends the session.
        """
        ...


class ServerRound(Protocol):
    """The server's side of one round. It draws nothing at random."""

    @property
    def place(self) -> Place:
        """The phase that is on now."""
        ...

    @property
    def asked(self) -> frozenset[int]:
        """Who is asked in this phase."""
        ...

    @property
    def faults(self) -> Mapping[int, str]:
        """Who cheated in this round, and how: excluded from now on, beside who did not answer."""
        ...

    def turn(self, member: int) -> Content:
        """Fields and payload of a member's turn, except in the first phase.

        Where several members are asked the same, the same tuple is returned: it is signed once.
        """
        ...

    def take(self, reply: SignedFrame) -> None:
        """The first reply of an asked member in this phase; refused, it leaves no trace."""
        ...

    def advance(self, missing: frozenset[int]) -> OpenedSum | None:
        """The phase is over: whoever was asked has answered, or is missing and is excluded.

        None: the next phase is on, and somebody is asked. Otherwise the round's result.
        SealedAborted: there is none, and the session is over.
        """
        ...

    @property
    def contributors(self) -> frozenset[int]:
        """Whose contributions are in the result."""
        ...


class WorkerSuite(Protocol):
    """How sums are sealed, on a worker's side."""

    @property
    def first(self) -> Phase:
        """The phase with which every round begins."""
        ...

    def round(self, start: RoundStart, number: int, values: Callable[[], Integers]) -> WorkerRound:
        """The round of worker `number`; `values` are what it adds, checked, to be asked once."""
        ...

    def prepare(self) -> None:
        """Work that can be done ahead, while others are waited for."""
        ...


class ServerSuite(Protocol):
    """How sums are sealed, on the server's side."""

    @property
    def first(self) -> Phase:
        """The phase with which every round begins."""
        ...

    def round(self, start: RoundStart) -> ServerRound:
        """The server's side of a round, in its first phase."""
        ...
