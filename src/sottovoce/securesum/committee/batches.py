"""How one keyholder reads batches: what it opens of each share to check it, and what it adds up.

The total only ever has in it what passed in a batch that the keyholder has confirmed, and each
worker and each contribution at most once in a session: whoever failed once is out, and whoever is
in cannot be added again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from sottovoce.errors import SealedRefused
from sottovoce.securesum.committee.admitting import Admission, Contribution
from sottovoce.securesum.committee.checking import MASKS, opened_values
from sottovoce.securesum.committee.dealing import DEAL_MASKS, read_elements, sealed_share, unsealed
from sottovoce.securesum.committee.messages import (
    THE_SERVER,
    Message,
    Phase,
    party,
    read_message,
)
from sottovoce.securesum.field import Elements, add
from sottovoce.securesum.hpke import X25519PrivateKey, unseal
from sottovoce.securesum.session import Session

__all__ = ["Batch", "Reader"]


@dataclass(frozen=True, slots=True)
class Share:
    """One keyholder's share of a deal or contribution: of what, where, and what it opens of it.

    `slots` and `values` are None where it could not be read.
    """

    digest: str
    worker: str | None
    places: np.ndarray[tuple[int], np.dtype[np.intp]] | slice = field(repr=False)
    slots: Elements | None = field(repr=False)
    values: list[str] | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class Batch:
    """A proposed batch as one keyholder read it, and the check it sent."""

    propose: Message
    shares: tuple[Share, ...]
    check: bytes = b""

    @property
    def values(self) -> list[list[str] | None]:
        """What is opened of each, to check it."""
        return [share.values for share in self.shares]

    def checked(self, check: bytes) -> Self:
        """The same with the check that was sent."""
        return replace(self, check=check)


class Reader:
    """Reads batches for one seat, and adds up what passed."""

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

    def read(self, propose: Message, items: Sequence[bytes], dealt: str | None) -> Batch:
        """The batch, if every item is what the server proposed and may be in it.

        `dealt` is the digest of the deal of this seat: without it, or with another, nothing begins.
        """
        digests = propose.body["digests"]
        if len(items) != len(digests):
            raise SealedRefused(
                THE_SERVER, f"{len(items):,} of {len(digests):,} in the batch are there"
            )
        if propose.number == 0:
            return Batch(propose, self._deals(digests, items, dealt))
        contributions = [self._admitted(item) for item in items]
        self._refuse_repeated(digests, contributions)
        return Batch(propose, tuple(self._opened(each) for each in contributions))

    def keep(self, batch: Batch, passed: frozenset[str]) -> None:
        """Add what passed; remember everyone."""
        for share in batch.shares:
            if share.digest in passed and share.slots is not None:
                self._total[share.places] = add(self._total[share.places], share.slots)
        self._digests.update(share.digest for share in batch.shares)
        self._workers.update(share.worker for share in batch.shares if share.worker is not None)

    def _deals(
        self, digests: Sequence[str], items: Sequence[bytes], dealt: str | None
    ) -> tuple[Share, ...]:
        """The deals of all seats in their order: batch 0 is all the noise, or there is none."""
        messages = [
            read_message(self._session, item, Phase.DEAL, carrier=THE_SERVER) for item in items
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
            raise SealedRefused(THE_SERVER, "it proposes a worker for the second time")
        if not self._digests.isdisjoint(digests):
            raise SealedRefused(THE_SERVER, "it proposes a contribution for the second time")

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
            contribution.digest, contribution.worker, contribution.places,
            ballot.slot_values(bits), [str(value) for value in opened],
        )  # fmt: skip
