"""Everything that a server and one colluding keyholder can do: two sums are never opened.

Two of three keyholders are honest. The third signs anything for the server, and the server sends
each of the two anything, in any order, and may restart them from their facts. All orders are tried.
Each honest keyholder's own moves are made once, with the real code; the joint moves are then
combined from them, because one can affect the other only by a confirmation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.securesum.committees import keys_of, session_of, votes
from tests.securesum.servers import Server, cloned

from sottovoce.errors import SealedRefused, UsageError
from sottovoce.securesum.committee import server as committee_server
from sottovoce.securesum.committee.keyholder import KeyholderSession
from sottovoce.securesum.committee.messages import MessageKind
from sottovoce.securesum.committee.state_chain import Certified, SessionFacts

SESSION = session_of(tasks=1, minimum=2)
HONEST, CORRUPT = (1, 2), 3


@dataclass(frozen=True)
class Edge:
    """One batch on top of one state, with all checks, and the resulting state."""

    number: int
    propose: bytes
    batch: str
    items: tuple[list[bytes], ...]
    checks: tuple[bytes, ...]


@dataclass(frozen=True)
class Local:
    """An honest keyholder's situation: what it confirmed and opened, and its state in memory."""

    confirmed: tuple[str, ...]
    opened: str | None
    reached: str
    pending: str | None


@dataclass
class World:
    """All states, and the moves that lead to them; `start` is the state after the deals."""

    server: Server
    start: Certified
    edges: list[Edge] = field(default_factory=list)
    into: dict[str, Edge] = field(default_factory=dict)
    states: dict[str, Certified] = field(default_factory=dict)
    confirms: dict[tuple[int, str], bytes] = field(default_factory=dict)

    @classmethod
    def of_batches(cls) -> World:
        """Batches {a, b, c} and {a, b, d}, of which one may be made to fail; then {e}."""
        server = Server(SESSION, votes(SESSION, 5))
        world = cls(server, server.begin())
        world.states[world.start.state] = world.start
        a, b, c, d, e = sorted(server.uploads)
        at = {world.start.state: [party.keyholder for party in server.parties]}
        for digests, lies in (((a, b, c), False), ((a, b, c), True), ((a, b, d), False)):
            state = world.extend(at, world.start, digests, lies)
            world.extend(at, state, (e,), False)
        return world

    def extend(
        self, at: dict[str, list[KeyholderSession]], before: Certified, digests: tuple[str, ...],
        lies: bool,
    ) -> Certified:  # fmt: skip
        """One more batch; if the corrupt keyholder lies, its first contribution fails."""
        number = before.number + 1
        propose = self.server.propose(number, before.state, digests)
        here = [cloned(each) for each in at[before.state]]
        items = tuple(self.server.items(each.seat, digests) for each in here)
        checks = [each.check(propose, own).message for each, own in zip(here, items, strict=True)]
        if lies:
            said = committee_server.read_message(SESSION, checks[2]).body
            values = [None, *said["values"][1:]]
            checks[2] = self.server.forged(
                MessageKind.CHECK, CORRUPT, number=number, batch=said["batch"], values=values
            )
            here[2]._batch = here[2]._batch and here[2]._batch.checked(checks[2])
        batch = committee_server.read_message(SESSION, checks[0]).body["batch"]
        confirms = [each.confirm(number, checks).message for each in here]
        state = self.server.certified(confirms)
        self.edges.append(Edge(number, propose, batch, items, tuple(checks)))
        self.into[state.state], self.states[state.state] = self.edges[-1], state
        self.confirms.update({(seat, state.state): confirms[seat - 1] for seat in (1, 2, 3)})
        at[state.state] = here
        return state


Move = tuple[str, Any]


@dataclass
class Honest:
    """One honest keyholder and every situation that it has reached."""

    world: World
    seat: int
    found: dict[Local, KeyholderSession] = field(default_factory=dict)
    known: dict[tuple[Local, Move, bool], Local | None] = field(default_factory=dict)
    settled: dict[tuple[tuple[str, ...], str | None], Local] = field(default_factory=dict)

    def begin(self) -> Local:
        return self._noted(self.world.server.parties[self.seat - 1].keyholder)

    def moves(self, local: Local) -> Iterator[Move]:
        """All requests of the server, including those that are certainly refused."""
        for place, edge in enumerate(self.world.edges):
            yield ("check", place)
            if local.pending == edge.batch:
                yield ("confirm", place)
        for state in self.world.states:
            yield ("open", state)
        for number in range(len(local.confirmed)):
            yield ("restart", number)

    def moved(self, local: Local, move: Move, other_confirmed: bool) -> Local | None:
        """The result of a move; None if it is refused."""
        if move[0] == "restart":  # its memory is lost
            local = self.settled.setdefault((local.confirmed, local.opened), local)
        key = (local, move, other_confirmed)
        if key not in self.known:
            keyholder = cloned(self.found[local])
            try:
                keyholder = self._made(keyholder, local, move, other_confirmed)
                self.known[key] = self._noted(keyholder)
            except (SealedRefused, UsageError):  # the latter: its facts do not fit, and it stops
                self.known[key] = None
        return self.known[key]

    def _made(
        self, keyholder: KeyholderSession, local: Local, move: Move, other_confirmed: bool
    ) -> KeyholderSession:
        kind, what = move
        server = self.world.server
        if kind == "restart":
            return self._restarted(local, what)
        if kind == "open":
            given = [seat for seat in (1, 2, 3) if self._has(seat, local, what, other_confirmed)]
            confirms = [self.world.confirms[seat, what] for seat in given]
            keyholder.open(server.close(self.world.states[what]), confirms)
            return keyholder
        edge = self.world.edges[what]
        if kind == "check":
            keyholder.check(edge.propose, edge.items[self.seat - 1])
        else:
            keyholder.confirm(edge.number, edge.checks)
        return keyholder

    def _has(self, seat: int, local: Local, state: str, other_confirmed: bool) -> bool:
        """Whether the server has this confirm: the corrupt one's always, others if they sent it."""
        if (seat, state) not in self.world.confirms:
            return False
        if seat == self.seat:
            return state in local.confirmed
        return seat == CORRUPT or other_confirmed

    def _restarted(self, local: Local, number: int) -> KeyholderSession:
        """A new session from the facts, to which batches up to a number were shown again."""
        party = self.world.server.parties[self.seat - 1]
        facts = [
            *party.facts[:2],  # the deal, and the state after it
            *(
                {"fact": "confirmed", "session": SESSION.id, "number": state.number,
                 "state": state.state, "count": state.count}
                for state in map(self.world.states.__getitem__, local.confirmed[1:])
            ),
        ]  # fmt: skip
        if local.opened is not None:
            digest = self.found[local]._facts.opened
            assert digest is not None
            facts.append({"fact": "opened", "session": SESSION.id, "state": digest.state,
                          "digest": digest.digest})  # fmt: skip
        keyholder = KeyholderSession(SESSION, keys_of(SESSION)[self.seat - 1], facts)
        fresh = cloned(party.keyholder)
        fresh._facts = keyholder._facts
        for state in local.confirmed[1 : number + 1]:
            edge = self.world.into[state]
            fresh.check(edge.propose, edge.items[self.seat - 1])
            fresh.confirm(edge.number, edge.checks)
        return fresh

    def _noted(self, keyholder: KeyholderSession) -> Local:
        facts, batch = keyholder._facts, keyholder._batch
        pending = None if batch is None else batch.propose.digest
        local = Local(
            tuple(state.state for state in facts.confirmed),
            None if facts.opened is None else facts.opened.state,
            keyholder._reached.state,
            pending,
        )
        self.found.setdefault(local, keyholder)
        return local


def openings() -> tuple[set[frozenset[str]], int]:
    """The sets of states that honest keyholders have opened, over all possible histories."""
    world = World.of_batches()
    honest = [Honest(world, seat) for seat in HONEST]
    begin = (honest[0].begin(), honest[1].begin())
    # A broken keyholder may lose the record of an opening: those who saw it do not.
    first: tuple[tuple[Local, Local], frozenset[str]] = (begin, frozenset())
    seen, todo = {first}, [first]
    while todo:
        pair, opened = todo.pop()
        for which in (0, 1):
            local, other = pair[which], pair[1 - which]
            for move in honest[which].moves(local):
                confirmed = move[0] == "open" and move[1] in other.confirmed
                after = honest[which].moved(local, move, confirmed)
                if after is None:
                    continue
                both = (after, other) if which == 0 else (other, after)
                now = opened | {move[1]} if move[0] == "open" else opened
                if (both, now) not in seen:
                    seen.add((both, now))
                    todo.append((both, now))
    return {opened for _, opened in seen}, len(seen)


def test_no_two_states_are_ever_opened() -> None:
    opened, situations = openings()
    assert max(map(len, opened)) == 1
    assert len(opened) == 1 + 6  # nothing, or any one of the states with enough contributions
    assert situations > 1000


def _opens_earlier_states(patch: pytest.MonkeyPatch) -> None:
    def refuse(self: KeyholderSession, closed: Certified) -> None:
        if closed != self._reached:
            raise SealedRefused("the server", "not reached")

    patch.setattr(KeyholderSession, "_refuse_opening", refuse)


def _forgets_that_it_opened(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SessionFacts, "open", lambda self, state, digest: ())


def _confirms_two_states_under_one_number(patch: pytest.MonkeyPatch) -> None:
    right = SessionFacts.confirm

    def confirm(self: SessionFacts, state: Certified) -> Any:
        self.confirmed = self.confirmed[: state.number]
        return right(self, state)

    patch.setattr(SessionFacts, "confirm", confirm)


@pytest.mark.slow
@pytest.mark.parametrize(
    "broken",
    [_opens_earlier_states, _forgets_that_it_opened, _confirms_two_states_under_one_number],
)
def test_the_search_finds_two_openings_where_a_rule_is_missing(
    broken: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken(monkeypatch)
    opened, _ = openings()
    assert max(map(len, opened)) > 1
