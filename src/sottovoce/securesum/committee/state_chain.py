"""The hash chain of accepted contributions that every keyholder computes.

    stateₙ = SHA-256(session, stateₙ₋₁, batchₙ, passedₙ, failedₙ)

Batch 0 is the deals, so every state has all the noise in it. A state is *certified* when all N
keyholders have confirmed it. With the refusals of `KeyholderSession`, honest keyholders open at
most one state, even if the server and t of the keyholders collude:

    Suppose that honest keyholders A and B open states n ≤ m that differ. Both states are certified,
    so A has confirmed both. If n = m, A has confirmed two states under one number, which it
    refuses. If n < m, A has opened n either after it confirmed m, but it opens no state before the
    last that it confirmed; or before, but it confirms nothing after it has opened.

An opening needs t + 1 shares of the total, so at least one from an honest keyholder. A keyholder
that is absent after certification is not needed, if t + 1 others are present. If one leaves while
others have confirmed a state that it has not, the session waits for it: going back to the previous
state would open two.

The `Facts` of a keyholder are what it must keep forever; they determine its refusals:

    {"fact": "dealt", "session", "digest"}
    {"fact": "confirmed", "session", "number", "state", "count"}
    {"fact": "opened", "session", "state", "digest"}

A fact names its session. Contributions are bound to a campaign and its policy, not to the list of
tasks, so a server that shows a keyholder two lists could have the same contributions opened in two
sessions. So all facts of a campaign must be passed together, and facts of another session are
refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from sottovoce.errors import SealedRefused, UsageError
from sottovoce.securesum.committee.messages import (
    THE_SERVER,
    Message,
    MessageKind,
    party,
    read_message,
)
from sottovoce.securesum.committee.terms import Session
from sottovoce.securesum.committee.validity import failures
from sottovoce.securesum.envelope import canonical, sha256_hex

BEGINNING = "0" * 64
"""The state before the deals."""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The verdicts of all checks of one batch: digests that passed, digests that failed and why."""

    number: int
    passed: tuple[str, ...]
    failed: tuple[tuple[str, str], ...]
    state: str


@dataclass(frozen=True, slots=True)
class Certified:
    """A state that all keyholders have confirmed, with the number of contributions in its total."""

    number: int
    state: str
    count: int


START = Certified(-1, BEGINNING, 0)
"""The state before the deals."""


def judged(session: Session, propose: Message, checks: Sequence[Message]) -> Verdicts:
    """The verdicts on a proposed batch from the checks of all seats, in their order.

    If a deal fails, its keyholder is named and there is no state: without the noise of all of them
    nothing may be opened.
    """
    digests = propose.body["digests"]
    for check in checks:
        if (check.number, check.body["batch"]) != (propose.number, propose.digest):
            raise SealedRefused(party(session, check.sender), "its check is of another batch")
        if len(check.body["values"]) != len(digests):
            raise SealedRefused(
                party(session, check.sender), "its check does not cover the whole batch"
            )
    found = failures([_values(check) for check in checks], session.sealed.degree)
    if propose.number == 0:
        _refuse_failed_deals(session, [None if each is None else str(each) for each in found])
    passed = tuple(digest for digest, why in zip(digests, found, strict=True) if why is None)
    failed = tuple(
        (digest, str(why)) for digest, why in zip(digests, found, strict=True) if why is not None
    )
    return Verdicts(propose.number or 0, passed, failed, _state(session, propose, passed, failed))


def certified(session: Session, confirms: Sequence[bytes]) -> Certified:
    """The state in the confirms of all keyholders; names a keyholder that is missing or differs."""
    messages = by_seat(session, confirms, MessageKind.CONFIRM)
    first = messages[0].body
    reached = Certified(first["number"], first["state"], first["count"])
    for message in messages:
        body = message.body
        if Certified(body["number"], body["state"], body["count"]) != reached:
            raise SealedRefused(
                party(session, message.sender), "it has confirmed a different state"
            )
    return reached


def by_seat(session: Session, contents: Sequence[bytes], phase: MessageKind) -> list[Message]:
    """One message of a phase from each keyholder, by seat; the server relays them."""
    messages = [read_message(session, content, phase, carrier=THE_SERVER) for content in contents]
    senders = sorted(message.sender for message in messages)
    for seat in range(1, session.sealed.seats + 1):
        if seat not in senders:
            raise SealedRefused(THE_SERVER, f"the {phase} of {party(session, seat)} is missing")
    if len(senders) != session.sealed.seats:
        raise SealedRefused(THE_SERVER, f"a keyholder's {phase} is repeated")
    return sorted(messages, key=lambda message: message.sender)


def _values(check: Message) -> list[list[int] | None]:
    return [
        None if opened is None else [int(text) for text in opened]
        for opened in check.body["values"]
    ]


def _refuse_failed_deals(session: Session, found: Sequence[str | None]) -> None:
    for seat, why in enumerate(found, 1):
        if why is not None:
            raise SealedRefused(
                party(session, seat),
                f"its noise is {why}, or another keyholder falsely claims so; nothing can be "
                "opened without it: start another campaign",
            )


def _state(
    session: Session, propose: Message, passed: Sequence[str], failed: Sequence[tuple[str, str]]
) -> str:
    return sha256_hex(
        canonical(
            {
                "batch": propose.digest,
                "failed": [list(each) for each in failed],
                "passed": list(passed),
                "previous": propose.body["previous"],
                "session": session.id,
            }
        )
    )


Fact: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Opening:
    """The state that was opened, and the message with the opening."""

    state: str
    digest: str


class SessionFacts:
    """The facts of one session, and the rules that follow from them."""

    def __init__(self, session: str, facts: Iterable[Fact]) -> None:
        self._session = session
        self.dealt: str | None = None
        self.confirmed: list[Certified] = []
        self.opened: Opening | None = None
        for fact in facts:
            self._remember(fact)

    @property
    def highest(self) -> int:
        """The number of the last state that was confirmed; −1 if none was."""
        return len(self.confirmed) - 1

    def deal(self, digest: str) -> Fact:
        """Record that the noise was dealt."""
        self.dealt = digest
        return {"fact": "dealt", "session": self._session, "digest": digest}

    def confirm(self, state: Certified) -> tuple[Fact, ...]:
        """Record a confirmed state: one under each number, in order, and none after the opening."""
        if state.number <= self.highest:
            if self.confirmed[state.number] != state:
                raise SealedRefused(
                    THE_SERVER,
                    f"batch {state.number} now leads to a different state than was confirmed "
                    "before",
                )
            return ()
        if self.opened is not None:
            raise SealedRefused(THE_SERVER, "it asks to confirm a batch after the opening")
        self.confirmed.append(state)
        return ({"fact": "confirmed", "session": self._session, **asdict(state)},)

    def open(self, state: str, digest: str) -> tuple[Fact, ...]:
        """Record the opening: once. The same message may be sent again."""
        if self.opened is not None:
            if self.opened != Opening(state, digest):
                raise SealedRefused(THE_SERVER, "it asks for a second, different opening")
            return ()
        self.opened = Opening(state, digest)
        return ({"fact": "opened", "session": self._session, "state": state, "digest": digest},)

    def _remember(self, fact: Fact) -> None:
        if fact.get("session") != self._session:
            raise UsageError(
                "this keyholder took part in another session of this campaign, with other tasks: "
                "it takes part in one session only"
            )
        match fact:
            case {"fact": "dealt", "digest": str(digest)} if self.dealt is None:
                self.dealt = digest
            case {
                "fact": "confirmed",
                "number": int(number),
                "state": str(state),
                "count": int(count),
            } if self._follows(number):
                self.confirmed.append(Certified(number, state, count))
            case {"fact": "opened", "state": str(state), "digest": str(digest)} if (
                self.opened is None and self.confirmed and self.confirmed[-1].state == state
            ):
                self.opened = Opening(state, digest)
            case _:
                raise UsageError("a keyholder's facts contradict each other: restore its log")

    def _follows(self, number: int) -> bool:
        return number == self.highest + 1 and self.opened is None
