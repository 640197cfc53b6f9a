"""What the server has taken before a set is proposed: commitments, contributions, answers."""

from __future__ import annotations

from functools import cached_property

from sottovoce.errors import SealedRefused
from sottovoce.securesum.star.damgard_jurik.contributions import (
    Contribution,
    check_units,
    commitment,
    is_digest,
    note_distinct,
    read_contribution,
)
from sottovoce.securesum.star.damgard_jurik.encrypting import product
from sottovoce.securesum.star.damgard_jurik.gathering import Gathered
from sottovoce.securesum.star.damgard_jurik.keys import PublicKey
from sottovoce.securesum.star.damgard_jurik.knowing import Answer
from sottovoce.securesum.star.frames import Frame, bundle, party
from sottovoce.securesum.star.rounds import RoundStart

__all__ = ["Collected"]


class Collected:
    """Replies of workers in the first phases; whoever breaks a rule is refused by name."""

    def __init__(self, start: RoundStart, public: PublicKey, messages: int) -> None:
        self._start, self._public, self._messages = start, public, messages
        self._seen: set[bytes] = set()
        self._contributions: dict[int, Contribution] = {}
        self.commits: dict[int, str] = {}
        self.frames: dict[int, Frame] = {}
        self.answers: dict[int, Answer] = {}

    def commit(self, reply: Frame) -> None:
        """The hash of a contribution."""
        said = reply.fields.get("commit")
        if reply.fields.keys() != {"commit"} or reply.payload or not is_digest(said):
            raise SealedRefused(party(reply.sender), "it sent no commitment, or more than that")
        self.commits[reply.sender] = said

    def contribute(self, reply: Frame) -> None:
        """The contribution that was committed to."""
        culprit = party(reply.sender)
        if reply.fields:
            raise SealedRefused(culprit, "its contribution has fields, and must have none")
        if self.commits[reply.sender] != commitment(self._start, reply.sender, reply.payload):
            raise SealedRefused(culprit, "its contribution is not the one that it committed to")
        read = read_contribution(self._public, reply, self._messages, culprit)
        check_units(self._public, [product(self._public, read.units)], culprit)
        note_distinct(self._seen, reply.payload, self._public.length, culprit)
        self.frames[reply.sender], self._contributions[reply.sender] = reply, read

    def answer(self, reply: Frame) -> None:
        """What shows that a worker knows what is in its contribution, if it holds."""
        if reply.fields:
            raise SealedRefused(party(reply.sender), "its answer has fields")
        self.answers[reply.sender] = Answer.read(self._public, reply.payload, party(reply.sender))

    @cached_property
    def gathered(self) -> Gathered:
        """All contributions, once they are all there."""
        return Gathered(self._start, self._public, self.commits, self._contributions)

    def shown(self) -> bytes:
        """The contributions as everybody is shown them."""
        return bundle([self.frames[each].content for each in sorted(self.frames)])

    def leave_out_unknowing(self) -> list[int]:
        """Whose answers do not hold; they are left out. Where the sum of all holds, nobody is."""
        if self._known(*self.answers):
            return []
        wrong = [each for each in sorted(self.answers) if not self._known(each)]
        for each in wrong:
            del self.answers[each]
        return wrong

    def added(self) -> bytes:
        """The answers of all who are left, as one."""
        return self._sum(*self.answers).content(self._public)

    def _known(self, *members: int) -> bool:
        return self.gathered.known(self.gathered.products(frozenset(members)), self._sum(*members))

    def _sum(self, *members: int) -> Answer:
        return Answer.added(self._public, [self.answers[each] for each in members])
