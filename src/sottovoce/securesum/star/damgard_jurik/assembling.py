"""The server's side of an opening: partial decryptions come in, totals come out or a cheater does.

Optimistic first. One worker more than needed is asked. Any θ holders foretell what the next one
must have sent:

    Π_{i ∈ S} c_i^(2 D λ_i(j)) = c_j^(2 D)        λ_i(j): Lagrange at j (`combining.lagrange`)

and the totals must be possible: the tallies equal to the number of workers, every slot in range.
One holder alone cannot send anything wrong that passes this. Two who agree on it could shift
totals to others that are as possible; the equation costs one partial decryption, and more would
cost more. Where it fails, or nobody is left for it, proofs are asked for, and those name whoever
was wrong (`proving`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sottovoce.model.sum_rounds import Integers
from sottovoce.securesum.star.damgard_jurik.combining import combine, lagrange
from sottovoce.securesum.star.damgard_jurik.contributions import read_units
from sottovoce.securesum.star.damgard_jurik.decrypting import partial
from sottovoce.securesum.star.damgard_jurik.gathering import proof_context
from sottovoce.securesum.star.damgard_jurik.integers import powmod
from sottovoce.securesum.star.damgard_jurik.keys import KeyShare, PublicKey
from sottovoce.securesum.star.damgard_jurik.powers import product_of_powers
from sottovoce.securesum.star.damgard_jurik.proving import verify
from sottovoce.securesum.star.damgard_jurik.slots import Slots
from sottovoce.securesum.star.frames import party
from sottovoce.securesum.star.sets import ProposedSet

__all__ = ["Assembly"]


class Assembly:
    """Partial decryptions of the products of one confirmed set; the server's own to begin with."""

    def __init__(
        self,
        public: PublicKey,
        own: KeyShare,
        slots: Slots,
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
        """Whose partial decryptions are there and not proven."""
        return frozenset(self._partials.keys() - self._proven)

    @property
    def enough(self) -> bool:
        """Whether there are as many as open."""
        return len(self._partials) >= self._public.threshold

    @property
    def enough_proven(self) -> bool:
        """Whether as many as open are proven."""
        return len(self._proven) >= self._public.threshold

    def take(self, number: int, content: bytes) -> None:
        """A worker's partial decryptions; refused where they are not even units."""
        count = len(self._products)
        self._partials[number] = read_units(self._public, content, count, party(number))

    def prove(self, number: int, proof: bytes) -> bool:
        """Whether the worker has proven what it sent; if not, it is left out."""
        context = proof_context(self._set, number)
        partials = self._partials[number]
        if verify(self._public, number, context, self._products, partials, proof):
            self._proven.add(number)
            return True
        self.drop([number])
        return False

    def drop(self, numbers: Iterable[int]) -> None:
        """Leave out what these workers sent."""
        for each in numbers:
            self._partials.pop(each, None)

    def foretold(self) -> Integers | None:
        """The totals, if there is one more than needed, it agrees, and all is possible."""
        holders = self._chosen(self._partials, self._public.threshold + 1)
        if holders is None or not self._agree(holders):
            return None
        return self._totals(holders[:-1])

    def proven(self) -> Integers | None:
        """The totals of those who have proven what they sent; None where they are impossible."""
        holders = self._chosen(self._proven, self._public.threshold)
        return None if holders is None else self._totals(holders)

    def _chosen(self, among: Iterable[int], count: int) -> list[int] | None:
        """The server and the first workers, so many in all."""
        workers = sorted(set(among) - {self._own})[: count - 1]
        return [self._own, *workers] if len(workers) == count - 1 else None

    def _agree(self, holders: Sequence[int]) -> bool:
        """Whether the last holder has sent what the others foretell, up to a sign."""
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
