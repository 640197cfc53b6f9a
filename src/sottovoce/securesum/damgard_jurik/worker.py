"""A worker's side of a round with a threshold key.

    COMMIT        publishes a hash of its ciphertexts
    CONTRIBUTE    sees all hashes; publishes its ciphertexts
    CONTRIBUTE 1  sees all ciphertexts, and checks them; answers to prove that it knows the
                  plaintexts of its own (`proofs`)
    CONFIRM       sees who has answered, and the sum of the answers; multiplies the ciphertexts
                  itself, checks that their contributors know the plaintexts, and names the set
    OPEN          sees that enough confirmed this set; decrypts its part of those products
    PROVE         proves its decryptions; requested only if something was wrong

It decrypts only products that it computed itself, and those once per round.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from sottovoce.errors import SealedRefused, UsageError
from sottovoce.model.sum_rounds import Integers
from sottovoce.securesum.damgard_jurik.contributions import (
    EncryptedContribution,
    Gathered,
    check_units,
    commitment,
    note_distinct,
    plaintext_layout,
    proof_context,
    read_contribution,
    units_content,
)
from sottovoce.securesum.damgard_jurik.decryption import partial
from sottovoce.securesum.damgard_jurik.encryption import Blind, Blinds, encrypt
from sottovoce.securesum.damgard_jurik.keys import KeyShare, PublicKey
from sottovoce.securesum.damgard_jurik.proofs import Announcement, ProofResponse, announce, prove
from sottovoce.securesum.star.confirmation import (
    ProposedSet,
    check_confirms,
    check_proposed,
    read_list,
)
from sottovoce.securesum.star.messages import (
    THE_SERVER,
    Place,
    SignedFrame,
    party,
    read_frame,
    unbundle,
)
from sottovoce.securesum.star.suite import Content, Phase, RoundStart

Step: TypeAlias = Callable[[SignedFrame], Content]


@dataclass(frozen=True, slots=True)
class Sealed:
    """A worker's contribution, and its secrets."""

    content: bytes
    messages: list[int] = field(repr=False)
    blinds: list[Blind] = field(repr=False)
    announcement: Announcement = field(repr=False)


def seal_values(
    public: PublicKey, messages: list[int], blinds: list[Blind], announcement: Announcement
) -> Sealed:
    """Messages under fresh blinds, and a fresh announcement."""
    ciphertexts = [
        encrypt(public, message, blind.value)
        for message, blind in zip(messages, blinds, strict=True)
    ]
    content = units_content(public, [*ciphertexts, announcement.value])
    return Sealed(content, messages, blinds, announcement)


class ThresholdWorker:
    """The suite `damgard_jurik` for a worker who has a share of the key."""

    first = Phase.COMMIT

    def __init__(self, public: PublicKey, share: KeyShare) -> None:
        self._public, self._share = public, share
        self._blinds = Blinds(public)
        self._announcement: Announcement | None = None
        self._ahead = 0

    def round(self, start: RoundStart, number: int, values: Callable[[], Integers]) -> _Round:
        """A round in which this worker's values are encrypted with blinds from the pool."""
        if self._share.number != number:
            raise UsageError(f"this is the key share of worker {self._share.number}, not {number}")
        messages = plaintext_layout(self._public, start).pack(values())
        self._ahead = len(messages)
        announcement = self._announcement or announce(self._public)
        self._announcement = None
        blinds = [self._blinds.take() for _ in messages]
        sealed = seal_values(self._public, messages, blinds, announcement)
        return _Round(start, self._public, self._share, sealed)

    def prepare(self) -> None:
        """Blinds and an announcement for another round like the last one."""
        self._blinds.fill(self._ahead)
        if self._announcement is None:
            self._announcement = announce(self._public)


class _Round:
    """One round: the next allowed phase, and the values pinned in earlier ones."""

    def __init__(
        self, start: RoundStart, public: PublicKey, share: KeyShare, sealed: Sealed
    ) -> None:
        self._start, self._public, self._share, self._sealed = start, public, share, sealed
        self._own_commitment = commitment(start, share.number, sealed.content)
        self._commits: Mapping[int, str] = {}
        self._gathered: Gathered | None = None
        self._set: ProposedSet | None = None
        self._products: list[int] = []
        self._partials: list[int] = []
        self._steps: Mapping[str, Step] = {Phase.COMMIT: self._commit}

    @property
    def confirmed(self) -> frozenset[int]:
        """The contributors of the set that this worker confirmed."""
        return frozenset() if self._set is None else self._set.members

    def on(self, turn: SignedFrame) -> Content:
        """The reply to a turn; each phase allows only the next one."""
        step = self._steps.get(turn.place.phase)
        if step is None:
            raise SealedRefused(THE_SERVER, f"phase {turn.place.phase} is not the next one")
        self._steps = {}
        return step(turn)

    def _commit(self, turn: SignedFrame) -> Content:
        self._steps = {Phase.CONTRIBUTE: self._contribute}
        return {"commit": self._own_commitment}, b""

    def _contribute(self, turn: SignedFrame) -> Content:
        if turn.fields.keys() != {"commits"} or turn.payload or turn.place.step:
            raise SealedRefused(THE_SERVER, "there are no commitments, or additional fields")
        commits = read_list(turn.fields["commits"], self._start.members)
        if commits.get(self._share.number) != self._own_commitment:
            raise SealedRefused(THE_SERVER, "this worker's own commitment is not in the list")
        self._refuse_few(len(commits))
        self._commits = commits
        self._steps = {Phase.CONTRIBUTE: self._answer}
        return {}, self._sealed.content

    def _answer(self, turn: SignedFrame) -> Content:
        if turn.fields or turn.place.step != 1:
            raise SealedRefused(THE_SERVER, "contributions come without fields, and in step 1")
        contributions = self._contributions(turn.payload)
        if self._share.number not in contributions:
            raise SealedRefused(THE_SERVER, "this worker's own contribution is not in the set")
        self._refuse_few(len(contributions))
        gathered = Gathered(self._start, self._public, self._commits, contributions)
        check_units(self._public, gathered.everything.units, THE_SERVER)
        sealed = self._sealed
        answer = sealed.announcement.answer(
            self._public, gathered.challenges, sealed.messages, sealed.blinds
        )
        self._gathered = gathered
        self._steps = {Phase.CONFIRM: self._confirm}
        return {}, answer.content(self._public)

    def _confirm(self, turn: SignedFrame) -> Content:
        gathered = self._gathered
        if turn.fields.keys() != {"members"} or turn.place.step or gathered is None:
            raise SealedRefused(
                THE_SERVER, ("the members of the set are missing, or there are additional fields")
            )
        members = _members(turn.fields["members"], gathered.members)
        proposed = gathered.proposed(members)
        own = gathered.contributions[self._share.number].digest
        check_proposed(proposed, gathered.members, self._share.number, own)
        products = gathered.products(members)
        answer = ProofResponse.read(self._public, turn.payload, THE_SERVER)
        if not gathered.known(products, answer):
            raise SealedRefused(
                THE_SERVER, "a worker in the set does not know what is in its contribution"
            )
        self._products, self._set = products.ciphertexts, proposed
        self._steps = {Phase.OPEN: self._open}
        return {"set": proposed.digest}, b""

    def _open(self, turn: SignedFrame) -> Content:
        if turn.fields or self._set is None:
            raise SealedRefused(THE_SERVER, "confirmations come without fields")
        check_confirms(self._set, turn.payload)
        self._partials = [partial(self._public, self._share, each) for each in self._products]
        self._steps = {Phase.PROVE: self._prove}
        return {}, units_content(self._public, self._partials)

    def _prove(self, turn: SignedFrame) -> Content:
        if turn.fields or turn.payload or self._set is None:
            raise SealedRefused(
                THE_SERVER, ("a request for a proof must have no fields and no payload")
            )
        context = proof_context(self._set, self._share.number)
        return {}, prove(self._public, self._share, context, self._products, self._partials)

    def _contributions(self, payload: bytes) -> dict[int, EncryptedContribution]:
        """All contributions: signed by their workers, as committed to, and not copied."""
        place, seen = Place(self._start.round, Phase.CONTRIBUTE), set[bytes]()
        contributions: dict[int, EncryptedContribution] = {}
        for content in unbundle(payload, THE_SERVER):
            frame = read_frame(self._start.terms, content, carrier=THE_SERVER)
            number = frame.sender
            if frame.place != place or frame.fields or number in contributions:
                raise SealedRefused(
                    THE_SERVER,
                    ("a contribution is of another round, or by a repeated or unknown worker"),
                )
            if self._commits.get(number) != commitment(self._start, number, frame.payload):
                raise SealedRefused(
                    THE_SERVER, f"the contribution of {party(number)} is not what it committed to"
                )
            note_distinct(seen, frame.payload, self._public.length, THE_SERVER)
            count = len(self._sealed.messages)
            contributions[number] = read_contribution(self._public, frame, count, THE_SERVER)
        return contributions

    def _refuse_few(self, count: int) -> None:
        minimum = self._start.terms.minimum
        if count < minimum:
            raise SealedRefused(
                THE_SERVER, f"{count} workers take part; fewer than {minimum} are not opened"
            )


def _members(value: object, allowed: frozenset[int]) -> frozenset[int]:
    """The members that the server names, each once and in rising order, of those allowed."""
    if not isinstance(value, list) or not all(type(each) is int for each in value):
        raise SealedRefused(THE_SERVER, "there is no list of members")
    if value != sorted(set(value)) or not allowed.issuperset(value):
        raise SealedRefused(
            THE_SERVER, "the set has workers who did not contribute, or is not in order"
        )
    return frozenset(value)
