"""The noised rounds of a private EM, for everybody: what is added up, and what follows from it.

Posteriors follow from what was opened, noise included, so working them out betrays nothing more.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
from scipy.special import ndtr

from sottovoce.errors import UsageError
from sottovoce.inference.private_em.evidence import posterior_of_rounds
from sottovoce.inference.private_em.posteriors import prior_of
from sottovoce.inference.sealed.noisy_votes import SealedVotes
from sottovoce.mechanisms.laws.polya import noise_law
from sottovoce.model import Domain, FloatArray, Result
from sottovoce.model.opened_totals import NoiseLaw, Opened
from sottovoce.model.sum_rounds import Integers, OpenedSum, SumSpec
from sottovoce.securesum.em.planning import EMState, result_of
from sottovoce.securesum.em.slots import Slots
from sottovoce.securesum.em.terms import EMTerms, Law

__all__ = ["NoisedPlanner"]


class NoisedPlanner:
    """The rounds of the mode `noised`: as many as the terms have noise for, whatever is opened."""

    def __init__(self, terms: EMTerms) -> None:
        self.terms, self.slots = terms, Slots(terms)
        self._specs = [self.slots.spec(number) for number in range(len(self.slots.noise.rounds))]
        self._seen: tuple[bytes, EMState] | None = None

    def next(self, opened: Sequence[OpenedSum]) -> SumSpec | None:
        """Votes, then weighted votes until the rounds are over."""
        return self._specs[len(opened)] if len(opened) < len(self._specs) else None

    def decode(self, opened: Sequence[OpenedSum]) -> EMState:
        """What follows from the opened rounds, of which there is at least one.

        The posteriors after round 0 are those of a sealed campaign (`SealedVotes`); each further
        round is read together with all before it (`posterior_of_rounds`).
        """
        if not opened:
            raise UsageError("nothing was opened yet")
        if len(opened) > len(self._specs):
            raise UsageError(f"there are {len(self._specs)} noised rounds, not {len(opened)}")
        if self._seen is not None and self._seen[0] == _key(opened):
            return self._seen[1]
        state = self._first(opened[0]) if len(opened) == 1 else self._after(opened)
        self._seen = _key(opened), state
        return state

    def result(self, opened: Sequence[OpenedSum], domain: Domain | None = None) -> Result:
        """Truths: the most probable labels. Each worker knows its own weight, and nobody else's."""
        return result_of(self.terms, self.decode(opened), domain)

    def _first(self, opened: OpenedSum) -> EMState:
        """From votes alone."""
        posterior, answers = _from_votes(self.terms, opened.totals.tobytes(), opened.workers)
        return self._state(posterior, 0, answers)

    def _after(self, opened: Sequence[OpenedSum]) -> EMState:
        """From weighted votes, and all that was opened before."""
        before = self.decode(opened[:-1])
        sums = [self._by_label(number, each) for number, each in enumerate(opened)]
        # Workers may fall silent from round to round, and their noise with them.
        noise = [self._noise(number, each.workers) for number, each in enumerate(opened)]
        posterior = posterior_of_rounds(np.stack(sums, axis=2), np.array(noise), before.posterior)
        return self._state(posterior, len(opened) - 1, before.answers)

    def _state(self, posterior: FloatArray, rounds: int, answers: Integers) -> EMState:
        prior = prior_of(posterior, self.terms.clip)
        return EMState(posterior, prior, rounds, rounds == len(self._specs) - 1, answers)

    def _by_label(self, number: int, opened: OpenedSum) -> FloatArray:
        """Noised votes for every label: of two labels, half the lead, either way."""
        votes = self.slots.decoded(number, opened)
        if len(self.terms.labels) > 2:
            return votes
        return np.stack([-votes[:, 0], votes[:, 0]], axis=1) / 2

    def _noise(self, number: int, workers: int) -> float:
        """The variance of the noise in a vote for a label, that of a contrast being twice it."""
        variance = float(self.slots.variances(workers)[number])
        return variance / 2 if len(self.terms.labels) == 2 else variance


def _key(opened: Sequence[OpenedSum]) -> bytes:
    return b"".join(each.workers.to_bytes(8) + each.totals.tobytes() for each in opened)


@lru_cache(maxsize=8)
def _from_votes(terms: EMTerms, totals: bytes, workers: int) -> tuple[FloatArray, Integers]:
    """The posteriors and noised counts in the totals of round 0.

    Remembered, since it takes longest and in a rehearsal every worker asks for the same.
    """
    slots = Slots(terms)
    sums = slots.decoded(0, OpenedSum(np.frombuffer(totals, np.int64), workers))
    law, labels = _law_of_votes(slots, workers), len(terms.labels)
    opened = Opened(
        np.arange(len(terms.tasks)), Domain.categorical(terms.labels), "votes", labels, True,
        np.rint(sums).astype(np.int64), None, workers, (law,) * labels,
    )  # fmt: skip
    result = SealedVotes().fit(opened)
    assert result.posterior is not None  # noqa: S101 - votes have posteriors
    return result.posterior, result.answers


def _law_of_votes(slots: Slots, workers: int) -> NoiseLaw:
    """The law of the noise in the votes of so many workers, rounded to whole votes."""
    first = slots.noise.rounds[0]
    if first.law is Law.LAPLACE:
        return NoiseLaw(*noise_law(1 / first.size, Fraction(workers, slots.noise.honest)))
    deviation = float(np.sqrt(slots.variances(workers)[0]))
    reach = int(np.ceil(8 * deviation)) + 1
    edges = ndtr((np.arange(-reach, reach + 2) - 0.5) / deviation)
    return NoiseLaw(np.diff(edges), reach)
