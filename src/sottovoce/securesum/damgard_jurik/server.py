"""The server's side of a round with a threshold key. It holds the share of holder J + 1.

Workers commit, contribute, prove knowledge of their contributions, and confirm; then some of them
open, different ones in every round. If some of those are missing, all others are asked (step 1).
The confirmed set is opened: a worker who goes missing or is found cheating after that stays in this
round's total, and is in no later one. Below the threshold the session ends: no smaller set is ever
requested. `Collected` has the messages before a set is proposed: commitments, contributions,
answers.

An opening (`Assembly`) takes partial decryptions and gives totals, or names a cheater. It is
optimistic first. One worker more than needed is asked. Any θ holders determine what the next one
must have sent:

    Π_{i ∈ S} c_i^(2 D λ_i(j)) = c_j^(2 D)       λ_i(j): Lagrange at j (`decryption.lagrange`)

and the totals must be possible: the tallies equal to the number of workers, every slot in range.
One holder alone cannot send anything wrong that passes this. Two colluding ones could shift totals
to other possible ones; the equation costs one partial decryption, and more would cost more. If it
fails, or nobody is left for it, proofs are requested, and those name the culprit (`proofs`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

from sottovoce.errors import SealedAborted, SealedRefused, UsageError
from sottovoce.model.sum_rounds import Integers, OpenedSum
from sottovoce.securesum.damgard_jurik.contributions import (
    EncryptedContribution,
    Gathered,
    PlaintextLayout,
    check_units,
    commitment,
    is_digest,
    note_distinct,
    plaintext_layout,
    proof_context,
    read_contribution,
    read_units,
)
from sottovoce.securesum.damgard_jurik.decryption import combine, lagrange, partial
from sottovoce.securesum.damgard_jurik.encryption import product
from sottovoce.securesum.damgard_jurik.keys import KeyShare, PublicKey
from sottovoce.securesum.damgard_jurik.number_theory import powmod, product_of_powers
from sottovoce.securesum.damgard_jurik.proofs import ProofResponse, verify
from sottovoce.securesum.star.confirmation import (
    ProposedSet,
    check_confirm,
    confirms_content,
    listed,
)
from sottovoce.securesum.star.messages import Place, SignedFrame, bundle, party
from sottovoce.securesum.star.suite import Content, Phase, RoundStart


class Assembly:
    """Partial decryptions of the products of one confirmed set, starting with the server's own."""

    def __init__(
        self,
        public: PublicKey,
        own: KeyShare,
        slots: PlaintextLayout,
        proposed: ProposedSet,
        products: Sequence[int],
    ) -> None:
        self._public, self._slots, self._set = public, slots, proposed
        self._products = products
        self._own = own.number
        self._partials = {own.number: [partial(public, own, each) for each in products]}
        self._proven = {own.number}

    @property
    def unproven(self) -> frozenset[int]:
        """The workers with unproven partial decryptions."""
        return frozenset(self._partials.keys() - self._proven)

    @property
    def enough(self) -> bool:
        """Whether there are enough to open."""
        return len(self._partials) >= self._public.threshold

    @property
    def enough_proven(self) -> bool:
        """Whether there are enough proven ones to open."""
        return len(self._proven) >= self._public.threshold

    def take(self, number: int, content: bytes) -> None:
        """A worker's partial decryptions; refused if they are not units."""
        count = len(self._products)
        self._partials[number] = read_units(self._public, content, count, party(number))

    def prove(self, number: int, proof: bytes) -> bool:
        """Whether the worker has proven its partial decryptions; if not, they are dropped."""
        context = proof_context(self._set, number)
        partials = self._partials[number]
        if verify(self._public, number, context, self._products, partials, proof):
            self._proven.add(number)
            return True
        self.drop([number])
        return False

    def drop(self, numbers: Iterable[int]) -> None:
        """Drop these workers' partial decryptions."""
        for each in numbers:
            self._partials.pop(each, None)

    def foretold(self) -> Integers | None:
        """The totals, if there is one more than needed, it agrees, and the totals are possible."""
        holders = self._chosen(self._partials, self._public.threshold + 1)
        if holders is None or not self._agree(holders):
            return None
        return self._totals(holders[:-1])

    def proven(self) -> Integers | None:
        """The totals of the proven ones; None if they are impossible."""
        holders = self._chosen(self._proven, self._public.threshold)
        return None if holders is None else self._totals(holders)

    def _chosen(self, among: Iterable[int], count: int) -> list[int] | None:
        """The server and the first workers, `count` in all."""
        workers = sorted(set(among) - {self._own})[: count - 1]
        return [self._own, *workers] if len(workers) == count - 1 else None

    def _agree(self, holders: Sequence[int]) -> bool:
        """Whether the last holder has sent what the others determine, up to a sign."""
        *others, last = holders
        common, coefficients = lagrange(tuple(others), last)
        doubled, modulus = [2 * each for each in coefficients], self._public.modulus
        rows = zip(*(self._partials[each] for each in others), strict=True)
        return all(
            product_of_powers(row, doubled, modulus) == powmod(said, 2 * common, modulus)
            for row, said in zip(rows, self._partials[last], strict=True)
        )

    def _totals(self, holders: Sequence[int]) -> Integers | None:
        messages = combine(self._public, {each: self._partials[each] for each in holders})
        if messages is None:
            return None
        return self._slots.unpack(messages, len(self._set.members))


class Collected:
    """Replies of workers in the first phases; a worker who breaks a rule is refused by name."""

    def __init__(self, start: RoundStart, public: PublicKey, messages: int) -> None:
        self._start, self._public, self._messages = start, public, messages
        self._seen: set[bytes] = set()
        self._contributions: dict[int, EncryptedContribution] = {}
        self.commits: dict[int, str] = {}
        self.frames: dict[int, SignedFrame] = {}
        self.answers: dict[int, ProofResponse] = {}

    def commit(self, reply: SignedFrame) -> None:
        """The hash of a contribution."""
        said = reply.fields.get("commit")
        if reply.fields.keys() != {"commit"} or reply.payload or not is_digest(said):
            raise SealedRefused(party(reply.sender), "it sent no commitment, or additional fields")
        self.commits[reply.sender] = said

    def contribute(self, reply: SignedFrame) -> None:
        """The contribution that was committed to."""
        culprit = party(reply.sender)
        if reply.fields:
            raise SealedRefused(culprit, "its contribution has fields, but must have none")
        if self.commits[reply.sender] != commitment(self._start, reply.sender, reply.payload):
            raise SealedRefused(culprit, "its contribution is not the one it committed to")
        read = read_contribution(self._public, reply, self._messages, culprit)
        check_units(self._public, [product(self._public, read.units)], culprit)
        note_distinct(self._seen, reply.payload, self._public.length, culprit)
        self.frames[reply.sender], self._contributions[reply.sender] = reply, read

    def answer(self, reply: SignedFrame) -> None:
        """A worker's answer, if it proves knowledge of its contribution."""
        if reply.fields:
            raise SealedRefused(party(reply.sender), "its answer has fields")
        self.answers[reply.sender] = ProofResponse.read(
            self._public, reply.payload, party(reply.sender)
        )

    @cached_property
    def gathered(self) -> Gathered:
        """All contributions, once they are complete."""
        return Gathered(self._start, self._public, self.commits, self._contributions)

    def shown(self) -> bytes:
        """The contributions as they are shown to everyone."""
        return bundle([self.frames[each].content for each in sorted(self.frames)])

    def leave_out_unknowing(self) -> list[int]:
        """The workers whose answers fail, who are dropped. None if the sum of all holds."""
        if self._known(*self.answers):
            return []
        wrong = [each for each in sorted(self.answers) if not self._known(each)]
        for each in wrong:
            del self.answers[each]
        return wrong

    def added(self) -> bytes:
        """The sum of the remaining workers' answers."""
        return self._sum(*self.answers).content(self._public)

    def _known(self, *members: int) -> bool:
        return self.gathered.known(self.gathered.products(frozenset(members)), self._sum(*members))

    def _sum(self, *members: int) -> ProofResponse:
        return ProofResponse.added(self._public, [self.answers[each] for each in members])


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
    """One round. A phase is a function that takes replies, and one that ends it."""

    def __init__(self, start: RoundStart, public: PublicKey, share: KeyShare) -> None:
        self._start, self._public, self._share = start, public, share
        self._slots = plaintext_layout(public, start)
        self._collected = Collected(start, public, self._slots.messages)
        self._confirms: dict[int, SignedFrame] = {}
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
        """The contributors of the confirmed set."""
        return frozenset() if self._set is None else self._set.members

    def turn(self, member: int) -> Content:
        """The same for every worker that is asked."""
        return self._content

    def take(self, reply: SignedFrame) -> None:
        """One worker's reply in the current phase."""
        takers: Mapping[str, Callable[[SignedFrame], None]] = {
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
        self._assembled.drop(missing)  # unproven partial decryptions are not used
        return self._settle()

    def _take_confirm(self, reply: SignedFrame) -> None:
        check_confirm(reply, _there(self._set))
        self._confirms[reply.sender] = reply

    def _take_partials(self, reply: SignedFrame) -> None:
        if reply.fields:
            raise SealedRefused(party(reply.sender), "its partial decryptions have fields")
        self._assembled.take(reply.sender, reply.payload)

    def _take_proof(self, reply: SignedFrame) -> None:
        """A proof that fails is a reply too: it names the worker."""
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
        """The set has the workers who know the plaintexts they contributed; others are named."""
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
                f"{len(self._confirms)} workers have confirmed the set; {threshold} are needed"
            )
        proposed = _there(self._set)
        products = self._collected.gathered.products(proposed.members).ciphertexts
        self._assembly = Assembly(self._public, self._share, self._slots, proposed, products)
        self._ask_partials(_rotated(sorted(self._confirms), self._start.round, threshold))

    def _settle(self) -> OpenedSum | None:
        """Totals that are verified, or the workers who can help to verify them."""
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
                f"the {len(self.contributors)} contributors has sent an invalid value. It cannot "
                "be identified without opening a contribution"
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
                f"{len(members)} workers {done}; {minimum} are needed", self._culprits
            )

    @property
    def _culprits(self) -> list[str]:
        return [party(each) for each in sorted(self.faults)]

    @property
    def _assembled(self) -> Assembly:
        return _there(self._assembly)


def _there(value: T | None) -> T:
    """The value that an earlier phase has stored: phases come in order."""
    if value is None:
        raise UsageError("this phase has not been reached")
    return value


def _rotated(members: list[int], round_: int, count: int) -> list[int]:
    """`count` of the members, different ones in every round, so that all do as much.

    >>> _rotated([1, 2, 4, 5, 7], 1, 3)
    [5, 7, 1]
    """
    first = round_ * count % len(members)
    return (members[first:] + members[:first])[:count]
