"""The server's side of a session, without I/O: turns out, replies in, one phase after another.

It draws nothing at random and signs deterministically (RFC 8032). So the terms, the key, the
records of the opened rounds and the events of the current one (accepted replies and closed phases,
in order) determine this session, byte for byte.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from sottovoce.errors import SealedAborted, SealedRefused, SottovoceError, UsageError
from sottovoce.model.sum_rounds import OpenedSum, Planner, RoundRecord
from sottovoce.securesum.envelope import Ed25519PrivateKey, public_text
from sottovoce.securesum.star.messages import (
    BEGINNING,
    SERVER,
    Place,
    extended,
    party,
    read_frame,
    totals_content,
    written,
)
from sottovoce.securesum.star.suite import Content, Phase, RoundStart, ServerRound, ServerSuite
from sottovoce.securesum.star.terms import StarTerms

State: TypeAlias = Literal["running", "done", "aborted"]


class CoordinatorSession:
    """The server of a star. Only `take`, `close` and `stop` change it."""

    def __init__(
        self,
        terms: StarTerms,
        signing: Ed25519PrivateKey,
        planner: Planner,
        suite: ServerSuite,
        *,
        history: Sequence[RoundRecord] = (),
    ) -> None:
        if public_text(signing) != terms.coordinator:
            raise UsageError("the terms have a different signing key for the server")
        self._terms, self._signing, self._planner, self._suite = terms, signing, planner, suite
        self._records: list[RoundRecord] = []
        self._history = BEGINNING
        self._out: dict[int, tuple[int, str]] = {}  # excluded workers: in which round, and why
        self._answered: dict[tuple[Place, int], str] = {}
        self._first: Content = ({}, b"")  # of the first turn of a round, or of the end
        self._spoken: tuple[Content, bytes] | None = None
        self._turns: dict[int, bytes] = {}
        self._heard: set[int] = set()
        self._round: ServerRound | None = None
        self.state: State = "running"
        self.reason = ""
        self.culprits: tuple[str, ...] = ()
        for record in history:
            self._note(record)
        self._begin()

    @property
    def records(self) -> tuple[RoundRecord, ...]:
        """The rounds that were opened."""
        return tuple(self._records)

    @property
    def round(self) -> int:
        """The number of the current round; at the end, the number of opened rounds."""
        return len(self._records)

    @property
    def phase(self) -> Phase:
        """The current phase."""
        return Phase.END if self._round is None else Phase(self._round.place.phase)

    @property
    def place(self) -> Place | None:
        """The current phase, with its round and step; None at the end."""
        return None if self._round is None else self._round.place

    @property
    def excluded(self) -> Mapping[int, str]:
        """The workers who are excluded from all further rounds, and why."""
        return {number: reason for number, (_, reason) in sorted(self._out.items())}

    @property
    def alive(self) -> frozenset[int]:
        """The workers who are not excluded."""
        return frozenset(member.number for member in self._terms.members) - self._out.keys()

    @property
    def waiting(self) -> frozenset[int]:
        """The workers who are asked, and have not answered."""
        if self._round is None:
            return frozenset()
        return self._round.asked - self._heard

    def turn(self, member: int) -> bytes | None:
        """A member's current turn: the same bytes each time; None if there is none."""
        if not 1 <= member <= self._terms.size:
            raise UsageError(f"the session has workers 1 to {self._terms.size}, not {member}")
        if member not in self._turns:
            content = self._turn(member)
            if content is None:
                return None
            self._turns[member] = content
        return self._turns[member]

    def take(self, content: bytes, sender: int) -> bool:
        """Take a member's reply. True: new. False: a repetition. A refused one changes nothing."""
        if not 1 <= sender <= self._terms.size:
            raise SealedRefused(party(sender), "no worker has this number")
        reply = read_frame(self._terms, content, sender=sender)
        before = self._answered.get((reply.place, sender))
        if before is not None:
            if before != reply.digest:
                raise SealedRefused(party(sender), "it has already answered differently")
            return False
        if self._round is None:
            raise SealedRefused(party(sender), "the session is over")
        if sender in self._out:
            raise SealedRefused(party(sender), f"it is excluded: {self._out[sender][1]}")
        if reply.place != self._round.place:
            raise SealedRefused(party(sender), "its reply is for another round or phase")
        if sender not in self._round.asked:
            raise SealedRefused(party(sender), "it is not asked in this phase")
        self._round.take(reply)
        self._answered[reply.place, sender] = reply.digest
        self._heard.add(sender)
        if len(self._heard) == len(self._round.asked):
            self._advance(self._round)
        return True

    def close(self) -> None:
        """End the current phase: workers who were asked and have not answered are excluded."""
        if self._round is not None:
            self._advance(self._round)

    def stop(self, reason: str) -> None:
        """End the session on the requester's behalf: nothing more is opened."""
        if self._round is not None:
            self._turns, self._heard, self._spoken = {}, set(), None
            self._end("aborted", reason)

    def _advance(self, current: ServerRound) -> None:
        phase, missing = self.phase, self.waiting
        self._exclude({each: f"it did not answer in phase {phase}" for each in missing})
        try:
            opened = current.advance(missing)
        except SealedAborted as error:
            self._end("aborted", error.reason, error.culprits)
            return
        finally:
            self._exclude(current.faults)
            self._turns, self._heard, self._spoken = {}, set(), None
        if opened is not None:
            self._finish(opened, current.contributors)

    def _finish(self, opened: OpenedSum, contributors: frozenset[int]) -> None:
        excluded = {each: why for each, (when, why) in self._out.items() if when == self.round}
        among = tuple(sorted(contributors))
        self._note(RoundRecord(opened.totals, among, dict(sorted(excluded.items()))))
        # A reply to the previous round may be repeated; older ones may not.
        self._answered = {
            key: said for key, said in self._answered.items() if key[0].round >= self.round - 1
        }
        self._begin()

    def _note(self, record: RoundRecord) -> None:
        self._exclude(record.excluded)
        left = self.alive - set(record.contributors)
        if left:
            raise UsageError(f"round {self.round}: {party(min(left))} is neither in nor excluded")
        self._records.append(record)
        self._history = extended(self._history, record.opened)

    def _begin(self) -> None:
        """The next round, or the end."""
        self._round = None
        try:
            spec = self._planner.next([record.opened for record in self._records])
            if spec is None:
                self._end("done", "")
                return
            if len(self.alive) < self._terms.minimum:
                count, minimum = len(self.alive), self._terms.minimum
                raise SealedAborted(f"{count} workers are left; {minimum} are needed")
            start = RoundStart(self._terms, self.round, spec, self.alive, self._history)
            self._round, self._first = self._suite.round(start), ({}, self._last_totals())
        except SealedAborted as error:
            self._end("aborted", error.reason, error.culprits)
        except SottovoceError as error:
            if not self._records:
                raise  # the request is invalid: nobody has answered anything yet
            self._end("aborted", str(error))

    def _exclude(self, members: Mapping[int, str]) -> None:
        for member, reason in members.items():
            self._out.setdefault(member, (self.round, reason))

    def _end(self, state: State, reason: str, culprits: Sequence[str] = ()) -> None:
        self._round = None
        self.state, self.reason, self.culprits = state, reason, tuple(culprits)
        payload = self._last_totals() if state == "done" else b""
        self._first = _end_fields(state, reason, culprits), payload

    def _turn(self, member: int) -> bytes | None:
        if member in self._out:
            when, reason = self._out[member]
            return self._said(Place(when, Phase.END), _end_fields("excluded", reason))
        if self._round is None:
            return self._once(Place(self.round, Phase.END), self._first)
        if member not in self._round.asked:
            return None
        place = self._round.place
        if place.phase == self._suite.first:
            return self._once(place, self._first)
        return self._once(place, self._round.turn(member))

    def _once(self, place: Place, content: Content) -> bytes:
        """A turn that several members share is signed once."""
        if self._spoken is None or self._spoken[0] is not content:
            self._spoken = content, self._said(place, *content)
        return self._spoken[1]

    def _said(self, place: Place, fields: Mapping[str, object], payload: bytes = b"") -> bytes:
        return written(self._terms, place, SERVER, self._signing, fields, payload)

    def _last_totals(self) -> bytes:
        return totals_content(self._records[-1].totals) if self._records else b""


def _end_fields(state: str, reason: str, culprits: Sequence[str] = ()) -> dict[str, object]:
    return {"culprits": list(culprits), "reason": reason, "state": state}
