"""A worker's side of a session, without I/O: a turn in, a reply out.

The server is not trusted. A worker answers a place (round, phase, step) once: a repeated turn gets
the same bytes, a different turn for the same place ends the session for good. Rounds and phases
only go forward, a new round has those who were confirmed in the last, and its sum follows from
earlier openings (`Planner`), never from the server's request.
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
    """The end of a session for a worker, as the server reports it."""

    state: EndState
    reason: str
    culprits: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Current:
    """The current round: its sum, and the suite's side of it."""

    number: int
    spec: SumSpec
    round: WorkerRound


@dataclass(frozen=True, slots=True)
class _Answered:
    """The turn at a place, and the reply."""

    turn: str
    reply: bytes | None


class WorkerSession:
    """Worker `number` of a session. It lives in memory only: after a crash it cannot come back."""

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
            raise UsageError(f"the session has workers 1 to {terms.size}, not {number}")
        if public_text(signing) != terms.members[number - 1].signing:
            raise UsageError(f"the terms have a different signing key for worker {number}")
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
        """The opened sums so far, as the server reports them."""
        return tuple(self._opened)

    def prepare(self) -> None:
        """Work ahead, while waiting for others."""
        if self.ended is None and self._dead is None:
            self._suite.prepare()

    def on(self, turn: bytes) -> bytes | None:
        """The reply to a turn; None if there is none. A refusal is final."""
        if self._dead is not None:
            raise self._dead
        # After any failure in between, a place is never answered twice.
        self._dead = SealedRefused("this worker", "it failed in the middle of a turn")
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
                raise SealedRefused(THE_SERVER, "it has sent two different turns for one place")
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
            raise SealedRefused(THE_SERVER, "a round was skipped, or begins in the middle")
        content = self._current.round.on(turn)
        if content is None:
            return None
        return written(self._terms, turn.place, self._number, self._signing, *content)

    def _begin(self, turn: SignedFrame) -> _Current:
        """The next round, after the totals of the last one are recorded."""
        if turn.fields or turn.place.step:
            raise SealedRefused(THE_SERVER, "the first turn of a round has totals and no fields")
        members = self._noted(turn.payload)
        spec = self._planner.next(self.opened)
        if spec is None:
            raise SealedRefused(THE_SERVER, "the sums are complete, but it asks for more")
        number = turn.place.round
        # No honest server repeats a turn of two rounds ago.
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
        """Append the totals of the last round, if there was one, and record its members."""
        if self._current is None:
            if payload:
                raise SealedRefused(THE_SERVER, "it sends totals before anything was opened")
            return frozenset(member.number for member in self._terms.members)
        confirmed, spec = self._current.round.confirmed, self._current.spec
        if self._number not in confirmed:
            raise SealedRefused(THE_SERVER, "it continues although this worker has not confirmed")
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
                    THE_SERVER, "it ends in the middle of a round as if all were done"
                )
            self._noted(turn.payload)
            if self._planner.next(self.opened) is not None:
                raise SealedRefused(THE_SERVER, "it says all is done, but more sums are due")
        elif turn.payload:
            raise SealedRefused(THE_SERVER, "it sends totals that were not opened")
        self.ended = ended


def _read_end(turn: SignedFrame) -> SessionEnded:
    fields = turn.fields
    if fields.keys() != _END_FIELDS or turn.place.step:
        raise SealedRefused(THE_SERVER, "its end does not have the required fields")
    state, reason, culprits = fields["state"], fields["reason"], fields["culprits"]
    if state not in ("done", "aborted", "excluded") or not isinstance(reason, str):
        raise SealedRefused(THE_SERVER, "its end has no state and reason")
    if not isinstance(culprits, list) or not all(isinstance(each, str) for each in culprits):
        raise SealedRefused(THE_SERVER, "its end has no list of culprits")
    return SessionEnded(state, reason, tuple(culprits))
