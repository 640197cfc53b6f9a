"""What a keyholder must never forget, and what it therefore refuses to say.

    {"fact": "dealt", "session", "digest"}
    {"fact": "confirmed", "session", "number", "state", "count"}
    {"fact": "opened", "session", "state", "digest"}

A fact names its session. Contributions are bound to a campaign and its policy, not to the list of
tasks, so a server that shows a keyholder two lists could have the same contributions opened in two
sessions. Whoever hands over the facts of a campaign hands over all of them, and facts of another
session are refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from sottovoce.errors import SealedRefused, UsageError
from sottovoce.securesum.committee.messages import THE_SERVER
from sottovoce.securesum.committee.rosters import Certified

__all__ = ["Fact", "Facts", "Opening"]

Fact: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Opening:
    """The state that was opened, and the message that said so."""

    state: str
    digest: str


class Facts:
    """The facts of one session, and the rules that they make."""

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
        """The noise was dealt."""
        self.dealt = digest
        return {"fact": "dealt", "session": self._session, "digest": digest}

    def confirm(self, state: Certified) -> tuple[Fact, ...]:
        """A state is confirmed: one under each number, in order, and none after the opening."""
        if state.number <= self.highest:
            if self.confirmed[state.number] != state:
                raise SealedRefused(
                    THE_SERVER,
                    f"batch {state.number} now leads to another state than was confirmed before",
                )
            return ()
        if self.opened is not None:
            raise SealedRefused(THE_SERVER, "it asks to confirm a batch after the opening")
        self.confirmed.append(state)
        return ({"fact": "confirmed", "session": self._session, "number": state.number,
                 "state": state.state, "count": state.count},)  # fmt: skip

    def open(self, state: str, digest: str) -> tuple[Fact, ...]:
        """The total is opened: once. The same words may be said again."""
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
                "it opens one, and takes part in no second one"
            )
        match fact:
            case {"fact": "dealt", "digest": str(digest)} if self.dealt is None:
                self.dealt = digest
            case {"fact": "confirmed", "number": int(number), "state": str(state),
                  "count": int(count)} if self._follows(number):  # fmt: skip
                self.confirmed.append(Certified(number, state, count))
            case {"fact": "opened", "state": str(state), "digest": str(digest)} if (
                self.opened is None and self.confirmed and self.confirmed[-1].state == state
            ):
                self.opened = Opening(state, digest)
            case _:
                raise UsageError("a keyholder's facts contradict each other: restore its log")

    def _follows(self, number: int) -> bool:
        return number == self.highest + 1 and self.opened is None
