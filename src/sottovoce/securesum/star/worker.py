"""A worker's side of a session, without I/O: a turn in, a reply out.

The server is believed in nothing. A worker answers a place (round, phase, step) once: the same
turn again gets the same bytes, another turn for the same place ends the session for good. Rounds
and phases only go forward, a new round is of those who were confirmed in the last, and what is
added up in it follows from what was opened (`Planner`), never from what the server asks for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from sottovoce.errors import SealedRefused, SottovoceError, UsageError
from sottovoce.model.sum_rounds import Contributor, OpenedSum, Planner, SumSpec
from sottovoce.securesum.envelope import Ed25519PrivateKey, public_text
from sottovoce.securesum.star.messages import (
    BEGINNING,
    SERVER,
    THE_SERVER,
    Place,
    SignedFrame,
    extended,
    read_frame,
    read_totals,
    written,
)
from sottovoce.securesum.star.suite import Phase, RoundStart, WorkerRound, WorkerSuite, rank
from sottovoce.securesum.star.terms import StarTerms

EndState: TypeAlias = Literal["done", "aborted", "excluded"]
_END_FIELDS = frozenset({"culprits", "reason", "state"})


@dataclass(frozen=True, slots=True)
class SessionEnded:
    """How a session ended for a worker, as the server says."""

    state: EndState
    reason: str
    culprits: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Current:
    """The round that is on: what is added up in it, and the suite's side of it."""

    number: int
    spec: SumSpec
    round: WorkerRound


@dataclass(frozen=True, slots=True)
class _Answered:
    """What was asked at a place, and what was said."""

    turn: str
    reply: bytes | None


class WorkerSession:
    """Worker `number` of a session. It lives in memory only: who dies cannot come back."""

    def __init__(
        self,
        terms: StarTerms,
        number: int,
        signing: Ed25519PrivateKey,
        planner: Planner,
        contributor: Contributor,
        suite: WorkerSuite,
    ) -> None:
        if not 1 <= number <= terms.size:
            raise UsageError(f"the session has workers 1 to {terms.size}, and no {number}")
        if public_text(signing) != terms.members[number - 1].signing:
            raise UsageError(f"the terms have another signing key for worker {number}")
        self._terms, self._number, self._signing = terms, number, signing
        self._planner, self._contributor, self._suite = planner, contributor, suite
        self._opened: list[OpenedSum] = []
        self._history = BEGINNING
        self._answered: dict[Place, _Answered] = {}
        self._last = Place(-1, "")
        self._current: _Current | None = None
        self._dead: SealedRefused | None = None
        self.ended: SessionEnded | None = None

    @property
    def opened(self) -> tuple[OpenedSum, ...]:
        """What was opened so far, as the server says."""
        return tuple(self._opened)

    def prepare(self) -> None:
        """Work ahead, while others are waited for."""
        if self.ended is None and self._dead is None:
            self._suite.prepare()

    def on(self, turn: bytes) -> bytes | None:
        """The reply to a turn; None where nothing is to be said. A refusal is for good."""
        if self._dead is not None:
            raise self._dead
        # Whatever goes wrong in between, nothing is said twice about one place.
        self._dead = SealedRefused("this worker", "it broke off in the middle of a turn")
        try:
            reply = self._reply(read_frame(self._terms, turn, sender=SERVER))
        except SottovoceError as error:
            culprit = error.culprit if isinstance(error, SealedRefused) else "this worker"
            self._dead = SealedRefused(culprit, f"this session was left for good: {error}")
            raise
        self._dead = None
        return reply

    def _reply(self, turn: SignedFrame) -> bytes | None:
        before = self._answered.get(turn.place)
        if before is not None:
            if before.turn != turn.digest:
                raise SealedRefused(THE_SERVER, "it has asked two different things at one place")
            return before.reply
        if rank(turn.place) <= rank(self._last) or self.ended is not None:
            raise SealedRefused(THE_SERVER, "its turn is for a round or phase that is over")
        reply = None
        if turn.place.phase == Phase.END:
            self._end(turn)
        else:
            reply = self._round_reply(turn)
        self._last = turn.place
        self._answered[turn.place] = _Answered(turn.digest, reply)
        return reply

    def _round_reply(self, turn: SignedFrame) -> bytes | None:
        if turn.place.phase == self._suite.first and turn.place.round == self._last.round + 1:
            self._current = self._begin(turn)
        if self._current is None or turn.place.round != self._current.number:
            raise SealedRefused(THE_SERVER, "a round was left out, or begins in the middle")
        content = self._current.round.on(turn)
        if content is None:
            return None
        return written(self._terms, turn.place, self._number, self._signing, *content)

    def _begin(self, turn: SignedFrame) -> _Current:
        """The next round, after what the last one opened has been noted."""
        if turn.fields or turn.place.step:
            raise SealedRefused(THE_SERVER, "the first turn of a round has totals and no fields")
        members = self._noted(turn.payload)
        spec = self._planner.next(self.opened)
        if spec is None:
            raise SealedRefused(THE_SERVER, "nothing more is to be added up, and it asks for more")
        number = turn.place.round
        # What was said two rounds ago is asked by no honest server again.
        self._answered = {
            place: said for place, said in self._answered.items() if place.round >= number - 1
        }
        start = RoundStart(self._terms, number, spec, members, self._history)
        opened = self.opened
        made = self._suite.round(
            start, self._number, lambda: spec.check(self._contributor.values(opened))
        )
        return _Current(number, spec, made)

    def _noted(self, payload: bytes) -> frozenset[int]:
        """Append the totals of the last round, if there was one, and say who was in it."""
        if self._current is None:
            if payload:
                raise SealedRefused(THE_SERVER, "it sends totals before anything was opened")
            return frozenset(member.number for member in self._terms.members)
        confirmed, spec = self._current.round.confirmed, self._current.spec
        if self._number not in confirmed:
            raise SealedRefused(THE_SERVER, "it goes on without this worker having confirmed")
        opened = OpenedSum(read_totals(payload, spec, len(confirmed)), len(confirmed))
        self._opened.append(opened)
        self._history = extended(self._history, opened)
        return confirmed

    def _end(self, turn: SignedFrame) -> None:
        ended = _read_end(turn)
        if turn.place.round not in (self._last.round, self._last.round + 1):
            raise SealedRefused(THE_SERVER, "it ends a round that never began")
        if ended.state == "done":
            if turn.place.round != self._last.round + 1:
                raise SealedRefused(
                    THE_SERVER, "it ends in the middle of a round as if all is done"
                )
            self._noted(turn.payload)
            if self._planner.next(self.opened) is not None:
                raise SealedRefused(THE_SERVER, "it says all is done, and more is to be added up")
        elif turn.payload:
            raise SealedRefused(THE_SERVER, "it sends totals of what was not opened")
        self.ended = ended


def _read_end(turn: SignedFrame) -> SessionEnded:
    fields = turn.fields
    if fields.keys() != _END_FIELDS or turn.place.step:
        raise SealedRefused(THE_SERVER, "its end has other fields than it must have")
    state, reason, culprits = fields["state"], fields["reason"], fields["culprits"]
    if state not in ("done", "aborted", "excluded") or not isinstance(reason, str):
        raise SealedRefused(THE_SERVER, "its end says no state and reason")
    if not isinstance(culprits, list) or not all(isinstance(each, str) for each in culprits):
        raise SealedRefused(THE_SERVER, "its end has no list of culprits")
    return SessionEnded(state, reason, tuple(culprits))
