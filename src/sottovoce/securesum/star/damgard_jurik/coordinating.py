"""The server's side of a round with a threshold key. It holds the share of holder J + 1.

Workers commit, contribute, show that they know what they contributed, and confirm; then some of
them open, others every round. If some of those are missing, all others are asked (step 1). What
was confirmed is what is opened: whoever goes missing or is found cheating after that stays in this
round's total, and is in no later one. Below the threshold the session ends: no smaller set is ever
asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TypeVar

from sottovoce.errors import SealedAborted, SealedRefused, UsageError
from sottovoce.model.sum_rounds import Integers, OpenedSum
from sottovoce.securesum.star.damgard_jurik.assembling import Assembly
from sottovoce.securesum.star.damgard_jurik.collecting import Collected
from sottovoce.securesum.star.damgard_jurik.gathering import slots_of
from sottovoce.securesum.star.damgard_jurik.keys import KeyShare, PublicKey
from sottovoce.securesum.star.frames import Frame, Place, party
from sottovoce.securesum.star.phases import Phase
from sottovoce.securesum.star.rounds import Content, RoundStart
from sottovoce.securesum.star.sets import (
    ProposedSet,
    check_confirm,
    confirms_content,
    listed,
)

__all__ = ["ThresholdServer"]

T = TypeVar("T")


class ThresholdServer:
    """The suite `damgard_jurik` for the server, which has the last share of the key."""

    first = Phase.COMMIT

    def __init__(self, public: PublicKey, share: KeyShare) -> None:
        if share.number != public.holders:
            raise UsageError(
                f"the server has the share of holder {public.holders}, not {share.number}"
            )
        self._public, self._share = public, share

    def round(self, start: RoundStart) -> _Round:
        """The server's side of a round, in its first phase."""
        return _Round(start, self._public, self._share)


class _Round:
    """One round. A phase is a way to take replies, and what follows when it is over."""

    def __init__(self, start: RoundStart, public: PublicKey, share: KeyShare) -> None:
        self._start, self._public, self._share = start, public, share
        self._slots = slots_of(public, start)
        self._collected = Collected(start, public, self._slots.messages)
        self._confirms: dict[int, Frame] = {}
        self._set: ProposedSet | None = None
        self._assembly: Assembly | None = None
        self._opening: set[int] = set()
        self._steps = {phase: -1 for phase in Phase}
        self._content: Content = ({}, b"")
        self.faults: dict[int, str] = {}
        self.place = Place(start.round, Phase.COMMIT)
        self.asked = start.members

    @property
    def contributors(self) -> frozenset[int]:
        """Whose contributions are in the confirmed set."""
        return frozenset() if self._set is None else self._set.members

    def turn(self, member: int) -> Content:
        """The same for everybody who is asked."""
        return self._content

    def take(self, reply: Frame) -> None:
        """One worker's reply in the phase that is on."""
        takers: Mapping[str, Callable[[Frame], None]] = {
            Phase.COMMIT: self._collected.commit,
            Phase.CONTRIBUTE: (
                self._collected.answer if self.place.step else self._collected.contribute
            ),
            Phase.CONFIRM: self._take_confirm,
            Phase.OPEN: self._take_partials,
            Phase.PROVE: self._take_proof,
        }
        takers[self.place.phase](reply)

    def advance(self, missing: frozenset[int]) -> OpenedSum | None:
        """The next phase, or the totals."""
        nexts: Mapping[str, Callable[[], None]] = {
            Phase.COMMIT: self._ask_contributions,
            Phase.CONTRIBUTE: self._ask_confirms if self.place.step else self._ask_answers,
            Phase.CONFIRM: self._ask_first_partials,
        }
        if self.place.phase in nexts:
            nexts[self.place.phase]()
            return None
        self._assembled.drop(missing)  # what it does not prove is not used
        return self._settle()

    def _take_confirm(self, reply: Frame) -> None:
        check_confirm(reply, _there(self._set))
        self._confirms[reply.sender] = reply

    def _take_partials(self, reply: Frame) -> None:
        if reply.fields:
            raise SealedRefused(party(reply.sender), "its partial decryptions have fields")
        self._assembled.take(reply.sender, reply.payload)

    def _take_proof(self, reply: Frame) -> None:
        """A proof that does not hold is an answer too: it names the worker."""
        if reply.fields:
            raise SealedRefused(party(reply.sender), "its proof has fields")
        if not self._assembled.prove(reply.sender, reply.payload):
            self.faults[reply.sender] = "its partial decryption was wrong: the proof does not hold"

    def _ask_contributions(self) -> None:
        commits = self._collected.commits
        self._refuse_few(commits, "have committed to a contribution")
        self._content = {"commits": listed(commits)}, b""
        self._ask(Phase.CONTRIBUTE, commits)

    def _ask_answers(self) -> None:
        self._refuse_few(self._collected.frames, "have contributed")
        self._content = {}, self._collected.shown()
        self._ask(Phase.CONTRIBUTE, self._collected.frames)

    def _ask_confirms(self) -> None:
        """The set is of those who know what is in their contributions; others are named."""
        answers = self._collected.answers
        self._refuse_few(answers, "have answered for their contributions")
        for each in self._collected.leave_out_unknowing():
            self.faults[each] = "it does not know what is in its own contribution"
        self._refuse_few(answers, "know what they have contributed")
        self._set = self._collected.gathered.proposed(frozenset(answers))
        self._content = {"members": sorted(answers)}, self._collected.added()
        self._ask(Phase.CONFIRM, answers)

    def _ask_first_partials(self) -> None:
        threshold = self._start.terms.threshold
        if len(self._confirms) < threshold:
            raise SealedAborted(
                f"{len(self._confirms)} workers have confirmed the set, and {threshold} must have"
            )
        proposed = _there(self._set)
        products = self._collected.gathered.products(proposed.members).ciphertexts
        self._assembly = Assembly(self._public, self._share, self._slots, proposed, products)
        self._ask_partials(_rotated(sorted(self._confirms), self._start.round, threshold))

    def _settle(self) -> OpenedSum | None:
        """Totals that can be believed, or whoever can help to find out."""
        assembly = self._assembled
        if assembly.enough_proven:
            return self._opened(assembly.proven())
        if self._steps[Phase.PROVE] < 0:
            totals = assembly.foretold()
            if totals is not None:
                return self._opened(totals)
        if assembly.enough:
            self._content = {}, b""
            self._ask(Phase.PROVE, assembly.unproven)
            return None
        others = self._confirms.keys() - self._opening
        if not others:
            raise SealedAborted(
                f"too few workers are left to open the sum: {self._start.terms.threshold - 1} and "
                "the server are needed",
                self._culprits,
            )
        self._ask_partials(others)
        return None

    def _opened(self, totals: Integers | None) -> OpenedSum:
        if totals is None:
            raise SealedAborted(
                "the total is out of range, and every partial decryption of it is proven: one of "
                f"the {len(self.contributors)} contributors has sent what it must not. Which one "
                "cannot be told without opening a contribution"
            )
        return OpenedSum(totals, len(self.contributors))

    def _ask_partials(self, members: Collection[int]) -> None:
        self._opening |= set(members)
        self._content = {}, confirms_content(_there(self._set), self._confirms)
        self._ask(Phase.OPEN, members)

    def _ask(self, phase: Phase, members: Collection[int]) -> None:
        self._steps[phase] += 1
        self.place = Place(self._start.round, phase, self._steps[phase])
        self.asked = frozenset(members)

    def _refuse_few(self, members: Collection[int], done: str) -> None:
        minimum = self._start.terms.minimum
        if len(members) < minimum:
            raise SealedAborted(
                f"{len(members)} workers {done}, and {minimum} are needed", self._culprits
            )

    @property
    def _culprits(self) -> list[str]:
        return [party(each) for each in sorted(self.faults)]

    @property
    def _assembled(self) -> Assembly:
        return _there(self._assembly)


def _there(value: T | None) -> T:
    """What an earlier phase has left: phases only come in their order."""
    if value is None:
        raise UsageError("this phase has not been reached")
    return value


def _rotated(members: list[int], round_: int, count: int) -> list[int]:
    """So many of the members, others in every round, so that all do as much.

    >>> _rotated([1, 2, 4, 5, 7], 1, 3)
    [5, 7, 1]
    """
    first = round_ * count % len(members)
    return (members[first:] + members[:first])[:count]
