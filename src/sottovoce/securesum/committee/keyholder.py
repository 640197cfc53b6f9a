"""A keyholder's side of one session, without I/O: messages in, messages out.

A keyholder must keep its *facts* forever: that it dealt, what it confirmed, what it opened. Each
call returns a `Reply`. Its facts must be durable before its message is sent; then a keyholder that
is killed at any moment and restarts from its facts never contradicts itself. If they cannot be made
durable, the session must be dropped and built again.

A call that refuses (`SealedRefused`, which names the culprit) changes nothing.

`Reader` opens the check values of each share in a batch, and adds the shares up. The total only
contains contributions that passed in a batch that the keyholder has confirmed, and each worker and
each contribution at most once in a session: one that failed is excluded, and one that is in cannot
be added again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Self

import numpy as np

from sottovoce.errors import SealedRefused, UsageError
from sottovoce.seams import Randomness
from sottovoce.securesum.committee.contribution import Admission, Contribution
from sottovoce.securesum.committee.messages import (
    THE_SERVER,
    Message,
    MessageKind,
    party,
    read_message,
    written,
)
from sottovoce.securesum.committee.noise import (
    DEAL_MASKS,
    deal_noise,
    read_elements,
    sealed_share,
    unsealed,
)
from sottovoce.securesum.committee.state_chain import (
    START,
    Certified,
    Fact,
    SessionFacts,
    by_seat,
    certified,
    judged,
)
from sottovoce.securesum.committee.terms import Session
from sottovoce.securesum.committee.validity import MASKS, opened_values
from sottovoce.securesum.envelope import Ed25519PrivateKey, b64, public_text
from sottovoce.securesum.field import Elements, add, to_bytes
from sottovoce.securesum.hpke import X25519PrivateKey, unseal


@dataclass(frozen=True, slots=True)
class Share:
    """One keyholder's share of a deal or contribution: its digest, its tasks, its check values.

    `slots` and `values` are None if it could not be read.
    """

    digest: str
    worker: str | None
    places: np.ndarray[tuple[int], np.dtype[np.intp]] | slice = field(repr=False)
    slots: Elements | None = field(repr=False)
    values: list[str] | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class ReadBatch:
    """A proposed batch as one keyholder read it, and the check it sent."""

    propose: Message
    shares: tuple[Share, ...]
    check: bytes = b""

    @property
    def values(self) -> list[list[str] | None]:
        """The opened check values of each."""
        return [share.values for share in self.shares]

    def checked(self, check: bytes) -> Self:
        """The same with the check that was sent."""
        return replace(self, check=check)


class Reader:
    """Reads batches for one seat, and adds up the contributions that passed."""

    def __init__(self, session: Session, seat: int, key: X25519PrivateKey) -> None:
        self._session, self._seat, self._key = session, seat, key
        self._admission = Admission(session)
        self._workers: set[str] = set()
        self._digests: set[str] = set()
        self._total = np.zeros((len(session.names), session.ballot.slots), np.uint64)

    @property
    def total(self) -> Elements:
        """The seat's share of the total, slot by slot."""
        return self._total.ravel()

    def read(self, propose: Message, items: Sequence[bytes], dealt: str | None) -> ReadBatch:
        """The batch, if every item is the one that the server proposed and is admissible.

        `dealt` is the digest of this seat's deal: without it, or with another, the session does not
        start.
        """
        digests = propose.body["digests"]
        if len(items) != len(digests):
            raise SealedRefused(
                THE_SERVER, f"{len(items):,} of {len(digests):,} items of the batch are present"
            )
        if propose.number == 0:
            return ReadBatch(propose, self._deals(digests, items, dealt))
        contributions = [self._admitted(item) for item in items]
        self._refuse_repeated(digests, contributions)
        return ReadBatch(propose, tuple(self._opened(each) for each in contributions))

    def keep(self, batch: ReadBatch, passed: frozenset[str]) -> None:
        """Add the contributions that passed; remember every worker."""
        for share in batch.shares:
            if share.digest in passed and share.slots is not None:
                self._total[share.places] = add(self._total[share.places], share.slots)
        self._digests.update(share.digest for share in batch.shares)
        self._workers.update(share.worker for share in batch.shares if share.worker is not None)

    def _deals(
        self, digests: Sequence[str], items: Sequence[bytes], dealt: str | None
    ) -> tuple[Share, ...]:
        """The deals of all seats in their order: batch 0 has all the noise, or there is none."""
        messages = [
            read_message(self._session, item, MessageKind.DEAL, carrier=THE_SERVER)
            for item in items
        ]
        for seat, (digest, message) in enumerate(zip(digests, messages, strict=True), 1):
            if (message.sender, message.digest) != (seat, digest):
                raise SealedRefused(
                    THE_SERVER, f"the deal of {party(self._session, seat)} is not the one proposed"
                )
        if digests[self._seat - 1] != dealt:
            raise SealedRefused(
                THE_SERVER, f"the deal of {party(self._session, self._seat)} is not the one it made"
            )
        return tuple(self._opened_deal(message) for message in messages)

    def _opened_deal(self, message: Message) -> Share:
        content = sealed_share(self._session, message, self._seat, THE_SERVER)
        row = unsealed(self._session, message, content, self._seat, self._key)
        everywhere = slice(None)
        if row is None:
            return Share(message.digest, None, everywhere, None, None)
        noise, masks = row[:-DEAL_MASKS], row[-DEAL_MASKS:]
        opened = opened_values(message.digest, noise[:0], noise, masks)
        slots = noise.reshape(self._total.shape)
        return Share(message.digest, None, everywhere, slots, [str(value) for value in opened])

    def _admitted(self, item: bytes) -> Contribution:
        try:
            return self._admission.item(item, self._seat)
        except SealedRefused as refused:
            raise SealedRefused(
                THE_SERVER, f"it proposes a contribution that it should have refused: {refused}"
            ) from None

    def _refuse_repeated(
        self, digests: Sequence[str], contributions: Sequence[Contribution]
    ) -> None:
        if [each.digest for each in contributions] != list(digests):
            raise SealedRefused(THE_SERVER, "the contributions are not those it proposed")
        workers = {each.worker for each in contributions}
        if len(workers) != len(contributions) or workers & self._workers:
            raise SealedRefused(THE_SERVER, "it proposes a worker a second time")
        if not self._digests.isdisjoint(digests):
            raise SealedRefused(THE_SERVER, "it proposes a contribution a second time")

    def _opened(self, contribution: Contribution) -> Share:
        plaintext = unseal(self._key, contribution.shares[0], contribution.info(self._seat))
        row = read_elements(plaintext)
        if row is None:
            return Share(contribution.digest, contribution.worker, contribution.places, None, None)
        ballot = self._session.ballot
        values, masks = row[:-MASKS], row[-MASKS:]
        bits = values.reshape(-1, ballot.bits)
        constraints = ballot.constraint_values(bits).ravel()
        opened = opened_values(contribution.digest, constraints, values, masks)
        return Share(
            contribution.digest,
            contribution.worker,
            contribution.places,
            ballot.slot_values(bits),
            [str(value) for value in opened],
        )


@dataclass(frozen=True, slots=True, repr=False)
class KeyholderKeys:
    """A keyholder's private keys. They are in no repr, log or error."""

    sealing: X25519PrivateKey
    signing: Ed25519PrivateKey

    @property
    def public(self) -> tuple[str, str]:
        """The public keys of its card: sealing, signing."""
        return b64(self.sealing.public_key().public_bytes_raw()), public_text(self.signing)


@dataclass(frozen=True, slots=True)
class Reply:
    """Facts to make durable, then the message to send; no facts if it is a repetition."""

    facts: tuple[Fact, ...]
    message: bytes


class KeyholderSession:
    """One keyholder's messages in one session.

    After a restart: build it with *all* facts of the campaign, then `check` and `confirm` batches 0
    … n again. It gives the same bytes and no new facts.
    """

    def __init__(self, session: Session, keys: KeyholderKeys, facts: Iterable[Fact] = ()) -> None:
        self.session = session
        self.seat = _seat(session, keys)
        self._keys = keys
        self._facts = SessionFacts(session.id, facts)
        self._reached = START
        self._reader = Reader(session, self.seat, keys.sealing)
        self._batch: ReadBatch | None = None
        self._confirm = b""

    @property
    def number(self) -> int:
        """The last batch that this session completed; −1 before the deals."""
        return self._reached.number

    def deal(self, randomness: Randomness) -> Reply:
        """Its noise, dealt once: with two deals one sum could be opened under two noises."""
        if self._facts.dealt is not None:
            raise SealedRefused(self._name, "it has already dealt its noise: send that deal again")
        message = deal_noise(self.session, self.seat, self._keys.signing, randomness)
        digest = read_message(self.session, message, MessageKind.DEAL).digest
        return Reply((self._facts.deal(digest),), message)

    def check(self, propose: bytes, items: Sequence[bytes]) -> Reply:
        """The check values of each deal or contribution of the next batch.

        Batches come in order and each number once. This is not needed for privacy: the check values
        of a contribution are always the same, and reveal nothing about it (`validity`).
        """
        proposed = read_message(self.session, propose, MessageKind.PROPOSE, carrier=THE_SERVER)
        if self._batch is not None and self._batch.propose.number == proposed.number:
            if self._batch.propose.digest != proposed.digest:
                raise SealedRefused(THE_SERVER, f"it proposes another batch {proposed.number}")
            return Reply((), self._batch.check)
        self._refuse_out_of_order(proposed)
        batch = self._reader.read(proposed, items, self._facts.dealt)
        fields = {"number": proposed.number, "batch": proposed.digest, "values": batch.values}
        self._batch = batch.checked(self._written(MessageKind.CHECK, fields))
        return Reply((), self._batch.check)

    def confirm(self, number: int, checks: Sequence[bytes]) -> Reply:
        """The state it reached with a batch, computed from the checks of all keyholders.

        Its own check must be among them unchanged. It confirms one state under each number, and
        none after it has opened.
        """
        if self._confirm and number == self._reached.number:
            return Reply((), self._confirm)
        batch = self._batch
        if batch is None or batch.propose.number != number:
            raise SealedRefused(
                THE_SERVER, f"it asks to confirm batch {number}, which was not checked"
            )
        messages = by_seat(self.session, checks, MessageKind.CHECK)
        if batch.check not in [bytes(each) for each in checks]:
            raise SealedRefused(THE_SERVER, f"the check of {self._name} is not the one it sent")
        verdicts = judged(self.session, batch.propose, messages)
        passed = 0 if number == 0 else len(verdicts.passed)
        reached = Certified(number, verdicts.state, self._reached.count + passed)
        facts = self._facts.confirm(reached)  # refuses a contradiction of an earlier fact
        self._confirm = self._written(MessageKind.CONFIRM, asdict(reached))
        self._reader.keep(batch, frozenset(verdicts.passed))
        self._reached, self._batch = reached, None
        return Reply(facts, self._confirm)

    def open(self, close: bytes, confirms: Sequence[bytes]) -> Reply:
        """Its share of the only total it ever opens: of the last state that it has confirmed.

        All keyholders must have confirmed that state, with at least the minimum of contributions.
        """
        asked = read_message(self.session, close, MessageKind.CLOSE, carrier=THE_SERVER)
        closed = Certified(asked.body["number"], asked.body["state"], asked.body["count"])
        self._refuse_opening(closed)
        if certified(self.session, confirms) != closed:
            raise SealedRefused(
                THE_SERVER, "it closes a different state than keyholders have confirmed"
            )
        total = b64(to_bytes(self._reader.total))
        message = self._written(MessageKind.OPEN, {**asdict(closed), "total": total})
        digest = read_message(self.session, message, MessageKind.OPEN).digest
        return Reply(self._facts.open(closed.state, digest), message)

    def _refuse_out_of_order(self, proposed: Message) -> None:
        expected = self._reached.number + 1
        if self._facts.opened is not None and expected > self._facts.highest:
            raise SealedRefused(THE_SERVER, "it proposes a batch after the opening")
        if proposed.number != expected:
            raise SealedRefused(
                THE_SERVER, f"it proposes batch {proposed.number}, but {expected} is next"
            )
        if proposed.body["previous"] != self._reached.state:
            raise SealedRefused(
                THE_SERVER, (f"batch {expected} follows a different state than the last")
            )

    def _refuse_opening(self, closed: Certified) -> None:
        minimum = self.session.sealed.minimum
        if self._facts.opened is not None and self._facts.opened.state != closed.state:
            raise SealedRefused(THE_SERVER, "it asks for a second opening: a session has one")
        if closed.number < self._facts.highest:
            raise SealedRefused(
                THE_SERVER,
                f"it asks to open state {closed.number}, but {self._name} has confirmed "
                f"{self._facts.highest}: the difference of two sums could be computed",
            )
        if closed != self._reached:
            raise SealedRefused(
                THE_SERVER, f"it asks {self._name} to open a state it has not reached"
            )
        if closed.count < minimum:
            raise SealedRefused(
                THE_SERVER,
                f"it asks to open a sum of {closed.count:,} contributions, but the policy's "
                f"minimum is {minimum:,}",
            )

    def _written(self, phase: MessageKind, fields: Mapping[str, object]) -> bytes:
        return written(self.session, phase, self.seat, fields, self._keys.signing)

    @property
    def _name(self) -> str:
        return party(self.session, self.seat)


def _seat(session: Session, keys: KeyholderKeys) -> int:
    """The seat for which the policy has pinned these keys."""
    seats = [
        seat
        for seat, keyholder in enumerate(session.sealed.keyholders, 1)
        if (keyholder.sealing, keyholder.signing) == keys.public
    ]
    if len(seats) != 1:
        raise UsageError(
            "the policy of this campaign does not name this keyholder: give the requester its card"
        )
    return seats[0]
