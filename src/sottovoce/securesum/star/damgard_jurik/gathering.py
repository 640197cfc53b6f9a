"""What a worker and the server work out alike from the contributions of a round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from sottovoce.errors import UsageError
from sottovoce.securesum.envelope import canonical
from sottovoce.securesum.star.damgard_jurik.contributions import Contribution
from sottovoce.securesum.star.damgard_jurik.encrypting import product
from sottovoce.securesum.star.damgard_jurik.keys import PublicKey
from sottovoce.securesum.star.damgard_jurik.knowing import Answer, challenges, holds
from sottovoce.securesum.star.damgard_jurik.slots import Slots
from sottovoce.securesum.star.rounds import RoundStart
from sottovoce.securesum.star.sets import ProposedSet, listed

__all__ = ["Gathered", "Products", "proof_context", "slots_of"]


@dataclass(frozen=True, slots=True)
class Products:
    """The products of some workers' ciphertexts at each place, and of their announcements."""

    ciphertexts: list[int]
    announced: int

    @property
    def units(self) -> list[int]:
        """All of them."""
        return [*self.ciphertexts, self.announced]


@dataclass(frozen=True)
class Gathered:
    """All contributions of a round, and the commitments that came before them."""

    start: RoundStart
    public: PublicKey = field(repr=False)
    commits: Mapping[int, str]
    contributions: Mapping[int, Contribution]

    @cached_property
    def shown(self) -> str:
        """The name of what everybody was shown: contributions, commitments, key and history."""
        return ProposedSet(self.start, self._digests(self.members), self._pins({})).digest

    @property
    def members(self) -> frozenset[int]:
        """Who contributed."""
        return frozenset(self.contributions)

    @cached_property
    def challenges(self) -> list[int]:
        """What everybody has to answer, to show that it knows what is in its ciphertexts."""
        count = len(next(iter(self.contributions.values())).ciphertexts)
        return challenges(self.public, self.shown, count)

    def proposed(self, members: frozenset[int]) -> ProposedSet:
        """The set of these members, as it is confirmed."""
        return ProposedSet(self.start, self._digests(members), self._pins({"shown": self.shown}))

    @cached_property
    def everything(self) -> Products:
        """What all have contributed together."""
        return self._products(self.members)

    def products(self, members: frozenset[int]) -> Products:
        """What these members have contributed together."""
        return self.everything if members == self.members else self._products(members)

    def _products(self, members: frozenset[int]) -> Products:
        chosen = [self.contributions[each] for each in sorted(members)]
        columns = zip(*(each.ciphertexts for each in chosen), strict=True)
        return Products(
            [product(self.public, column) for column in columns],
            product(self.public, (each.announced for each in chosen)),
        )

    def known(self, products: Products, answer: Answer) -> bool:
        """Whether whoever answered knows what is in these products."""
        return holds(self.public, answer, products.announced, self.challenges, products.ciphertexts)

    def _digests(self, members: frozenset[int]) -> dict[int, str]:
        return {each: self.contributions[each].digest for each in members}

    def _pins(self, more: Mapping[str, str]) -> dict[str, object]:
        return {"commits": listed(self.commits), "key": self.public.id, **more}


def slots_of(public: PublicKey, start: RoundStart) -> Slots:
    """The layout of a round's sum, for a key that is this session's."""
    terms = start.terms
    if (public.holders, public.threshold) != (terms.size + 1, terms.threshold):
        raise UsageError(
            f"the key is for {public.threshold} of {public.holders} holders, and the session needs "
            f"{terms.threshold} of {terms.size + 1}"
        )
    return Slots(start.spec, terms.size, public.message_bits)


def proof_context(proposed: ProposedSet, number: int) -> bytes:
    """What a proof is bound to beside the values: session, round, sender and set."""
    start = proposed.start
    purpose = {"round": start.round, "sender": number, "session": start.terms.id,
               "set": proposed.digest}  # fmt: skip
    return canonical(purpose).encode("ascii")
