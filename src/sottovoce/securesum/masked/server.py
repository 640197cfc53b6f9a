"""The server's side of a round under masks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sottovoce.errors import SealedAborted, SealedRefused
from sottovoce.model.sum_rounds import OpenedSum
from sottovoce.securesum.masked.keys import MaskKeys, pair_key, self_key
from sottovoce.securesum.masked.masks import check_fits, checked_totals, unmasked, width
from sottovoce.securesum.masked.messages import ORDER, Confirms, Deal, Deals, check_tagged_confirm
from sottovoce.securesum.masked.shares import commitment, recovered
from sottovoce.securesum.star.confirmation import (
    ProposedSet,
    check_enough,
    listed,
    pin,
    read_numbers,
)
from sottovoce.securesum.star.messages import Place, SignedFrame, party
from sottovoce.securesum.star.suite import Content, Phase, RoundStart, ServerRound


@dataclass(frozen=True, slots=True)
class MaskedServer:
    """The suite on the server's side."""

    first: Phase = Phase.SHARE

    def round(self, start: RoundStart) -> ServerRound:
        """A round in which no reply has come yet."""
        return _Round(start)


class _Round:
    """The replies of each phase, by worker; a worker without one is not asked again."""

    def __init__(self, start: RoundStart) -> None:
        check_fits(start.spec, start.terms.size)
        self._start = start
        self._phase = ORDER[0]
        self._asked = start.members
        self._said: dict[Phase, dict[int, SignedFrame]] = {phase: {} for phase in ORDER}
        self._deals: dict[int, Deal] = {}
        self._rows = Deals({})
        self._opened: dict[int, dict[int, bytes]] = {}
        self._proposed = ProposedSet(start, {})
        self._confirms = Confirms(self._proposed, {})
        self._content: Content = ({}, b"")
        self.faults: Mapping[int, str] = {}

    @property
    def place(self) -> Place:
        """The current phase."""
        return Place(self._start.round, self._phase)

    @property
    def asked(self) -> frozenset[int]:
        """The workers who answered in the previous phase."""
        return self._asked

    @property
    def contributors(self) -> frozenset[int]:
        """The members of the set."""
        return self._proposed.members

    def turn(self, member: int) -> Content:
        """The same for all workers, except the rows of the deals and the tags of confirmations."""
        match self._phase:
            case Phase.CONTRIBUTE:
                return self._content[0], self._rows.shown(member)
            case Phase.OPEN:
                return self._confirms.content(member)
            case _:
                return self._content

    def take(self, reply: SignedFrame) -> None:
        """Any fault of a reply is its sender's, and is detected here."""
        match self._phase:
            case Phase.SHARE:
                self._deals[reply.sender] = Deal.read(reply, self._start.terms)
            case Phase.CONTRIBUTE:
                if reply.fields or len(reply.view) != width(self._start.spec):
                    raise SealedRefused(
                        party(reply.sender), "its contribution has the wrong length"
                    )
            case Phase.CONFIRM:
                check_tagged_confirm(reply, self._proposed)
            case _:
                self._opened[reply.sender] = self._read_open(reply)
        self._said[self._phase][reply.sender] = reply

    def advance(self, missing: frozenset[int]) -> OpenedSum | None:
        """The next phase is with those who have answered; missing workers cannot come back."""
        said, terms = self._said[self._phase], self._start.terms
        late = self._phase in (Phase.CONFIRM, Phase.OPEN)
        check_enough(len(said), terms.threshold if late else terms.minimum, self._phase)
        self._asked = frozenset(said)
        if self._phase is Phase.OPEN:
            return self._result()
        self._phase = ORDER[ORDER.index(self._phase) + 1]
        self._begin(said)
        return None

    def _begin(self, said: Mapping[int, SignedFrame]) -> None:
        """The request of the new phase, from the replies of the previous one."""
        match self._phase:
            case Phase.CONTRIBUTE:
                self._rows = Deals(self._deals)
                self._content = {"sharers": sorted(said)}, b""
            case Phase.CONFIRM:
                digests = _digests(said)
                pins = {"shares": pin(_digests(self._said[Phase.SHARE]))}
                self._proposed = ProposedSet(self._start, digests, pins)
                self._content = {"contributions": listed(digests)}, b""
            case _:
                self._confirms = Confirms(self._proposed, said)

    def _read_open(self, reply: SignedFrame) -> dict[int, bytes]:
        culprit = party(reply.sender)
        if reply.fields.keys() != {"missing"}:
            raise SealedRefused(culprit, "its opening does not have the required fields")
        missing = read_numbers(reply.fields["missing"], frozenset(self._deals), culprit)
        return self._rows.opened(reply.sender, missing, self.contributors, reply.payload)

    def _result(self) -> OpenedSum:
        """The total without masks, after every secret was checked against its commitment."""
        secrets = recovered(self._opened, sorted(self._deals), self._start.terms.threshold)
        silent = {
            number: self._mask_pair(number, secrets[number])
            for number in self._deals.keys() - self.contributors
        }
        seeds = [self._self_key(number, secrets[number]) for number in sorted(self.contributors)]
        payloads = (frame.view for frame in self._said[Phase.CONTRIBUTE].values())
        total = unmasked(payloads, seeds, self._pairs(silent), self._start.spec)
        workers = len(self.contributors)
        return OpenedSum(checked_totals(total, self._start.spec, workers), workers)

    def _self_key(self, number: int, seed: bytes | None) -> bytes:
        if seed is None or commitment(seed) != self._deals[number].seed_commitment:
            raise SealedAborted("it has dealt pieces of another seed", [party(number)])
        return self_key(self._start, number, seed)

    def _mask_pair(self, number: int, private: bytes | None) -> MaskKeys:
        pair = None if private is None else MaskKeys(private)
        if pair is None or pair.public != self._deals[number].masks:
            raise SealedAborted("it has dealt pieces of another mask key", [party(number)])
        return pair

    def _pairs(self, silent: Mapping[int, MaskKeys]) -> Iterator[tuple[int, int, bytes]]:
        """The masks that contributors share with dropouts."""
        for number, pair in silent.items():
            for peer in sorted(self.contributors):
                key = pair_key(self._start, number, pair, peer, self._deals[peer].masks)
                yield peer, number, key


def _digests(said: Mapping[int, SignedFrame]) -> dict[int, str]:
    return {number: frame.digest for number, frame in said.items()}
