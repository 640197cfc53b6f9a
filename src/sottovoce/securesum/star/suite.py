"""The interface of a suite: one round of one party, without I/O, in some of the phases.

The sessions (`worker`, `server`) sign and read frames, keep the order of rounds and phases, answer
repetitions and remember excluded workers. A suite defines the contents of the frames.
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
    """The requests of the server to workers."""

    SHARE = "share"
    """A fresh public key, and shares that recover a worker's masks, sealed to the others."""
    COMMIT = "commit"
    """The hash of a contribution, before any contribution is shown."""
    CONTRIBUTE = "contribute"
    CONFIRM = "confirm"
    """A signature under the one set that will be opened."""
    OPEN = "open"
    """The values that open the total of the confirmed set."""
    PROVE = "prove"
    """A proof that these values are right."""
    END = "end"
    """The session is over; there is no reply."""


_ORDER = {str(phase): place for place, phase in enumerate(Phase)}


def rank(place: Place) -> tuple[int, int, int]:
    """A number that only grows in a session. An unknown phase comes before all others.

    >>> rank(Place(2, "share")) < rank(Place(2, "open")) < rank(Place(2, "open", 1))
    True
    """
    return place.round, _ORDER.get(place.phase, -1), place.step


Content: TypeAlias = tuple[Mapping[str, Any], bytes]
"""Fields and payload of a frame."""


@dataclass(frozen=True, slots=True)
class RoundStart:
    """The start of a round.

    `members` are those who may take part: for the server all workers who are not excluded, for a
    worker the set it confirmed in the previous round. The server's is a part of the worker's: sets
    only shrink. `history` is a hash of all earlier openings (`history.extended`).
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
        """The set that this worker confirmed; empty before."""
        ...

    def on(self, turn: SignedFrame) -> Content | None:
        """Fields and payload of the reply to a turn that the server signed for this round.

        Turns come in the order of phases and steps, without repetition, but perhaps with gaps: a
        suite refuses a phase whose predecessor it has not seen. The first turn has no fields, and
        its payload is not the suite's. None: no reply. SealedRefused ends the session.
        """
        ...


class ServerRound(Protocol):
    """The server's side of one round. It draws nothing at random."""

    @property
    def place(self) -> Place:
        """The current phase."""
        ...

    @property
    def asked(self) -> frozenset[int]:
        """The workers who are asked in this phase."""
        ...

    @property
    def faults(self) -> Mapping[int, str]:
        """The cheaters of this round, and why; excluded, like those who did not answer."""
        ...

    def turn(self, member: int) -> Content:
        """Fields and payload of a member's turn, except in the first phase.

        If several members get the same turn, the same tuple is returned: it is signed once.
        """
        ...

    def take(self, reply: SignedFrame) -> None:
        """The first reply of an asked member in this phase; a refused one changes nothing."""
        ...

    def advance(self, missing: frozenset[int]) -> OpenedSum | None:
        """End the phase: the workers who were asked have answered, or are excluded.

        None: the next phase has begun, and some workers are asked. Otherwise the round's result.
        SealedAborted: there is none, and the session is over.
        """
        ...

    @property
    def contributors(self) -> frozenset[int]:
        """The contributors of the result."""
        ...


class WorkerSuite(Protocol):
    """A suite on a worker's side."""

    @property
    def first(self) -> Phase:
        """The first phase of every round."""
        ...

    def round(self, start: RoundStart, number: int, values: Callable[[], Integers]) -> WorkerRound:
        """The round of worker `number`; `values` gives its checked values, and is called once."""
        ...

    def prepare(self) -> None:
        """Work that can be done ahead, while waiting for others."""
        ...


class ServerSuite(Protocol):
    """A suite on the server's side."""

    @property
    def first(self) -> Phase:
        """The first phase of every round."""
        ...

    def round(self, start: RoundStart) -> ServerRound:
        """The server's side of a round, in its first phase."""
        ...
