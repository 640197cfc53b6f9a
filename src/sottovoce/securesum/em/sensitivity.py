"""The slots of noised rounds: their contents, their sensitivity, and their noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.mechanisms.laws.discrete_gaussian import DiscreteGaussian
from sottovoce.mechanisms.laws.polya import Polya
from sottovoce.model import FloatArray, Unit, UnitName
from sottovoce.model.sum_rounds import Integers, OpenedSum, SumSpec
from sottovoce.seams import Randomness
from sottovoce.securesum.em.terms import EMTerms, Law, NoiseTerms
from sottovoce.securesum.em.weights import Moves, answer_moves, worker_moves

TAIL = 1e-100
"""The maximum probability that a share of noise in one slot lies beyond its reach."""

Share: TypeAlias = Polya | DiscreteGaussian


@dataclass(frozen=True, slots=True)
class NoisedSlots:
    """Round 0 adds up votes, each later round weighted votes; in steps, with an offset.

        labels   round 0, of each task                          later
        two      1 or -1 for the label, and 1 for an answer     w or -w, w its worker's weight
        more     1 for the label, 0 for all others              w for the label, 0 for all others

    A task without an answer has zeros, which are sent too. A vote is 1 step in round 0 if the noise
    is Laplace, and `scale` steps otherwise. A worker adds v + noise + bound + reach to a slot, with
    |v| ≤ bound and |noise| ≤ reach, so nothing is negative.
    """

    terms: EMTerms

    @property
    def noise(self) -> NoiseTerms:
        """The noise of the terms."""
        if self.terms.noise is None:
            raise UsageError(
                f"rounds of mode {self.terms.mode} have no noise: they have no guarantee"
            )
        return self.terms.noise

    def width(self, number: int) -> int:
        """The number of slots of one task in that round."""
        labels = len(self.terms.labels)
        return 1 if number and labels == 2 else labels

    def values(self, number: int) -> int:
        """The number of slots in that round."""
        return len(self.terms.tasks) * self.width(number)

    def unit(self, number: int) -> int:
        """Steps of a vote, or of the largest weight."""
        counted = number == 0 and self.noise.rounds[0].law is Law.LAPLACE
        return 1 if counted else self.terms.scale

    def share(self, number: int) -> Share:
        """The law of one worker's share of the noise in each slot."""
        each = self.noise.rounds[number]
        if each.law is Law.GAUSSIAN:
            return DiscreteGaussian(int(each.size))
        return Polya(Fraction(1, self.noise.honest), 1 / each.size)

    def reach(self, number: int) -> int:
        """The reach of a share: P(|noise| > reach) < TAIL.

        A Gaussian share is beyond m with 2 exp(-m² / 2σ²) at most. A Laplace share is a difference
        of two variables, each smaller than a geometric one, so it is with 2 exp(-m / b).
        """
        each, far = self.noise.rounds[number], math.log(2 / TAIL)
        if each.law is Law.GAUSSIAN:
            return math.ceil(math.sqrt(2 * far * each.size)) + 1
        return math.ceil(far * each.size) + 1

    def spec(self, number: int) -> SumSpec:
        """The format of that round's sum."""
        return SumSpec(self.values(number), 2 * self._offset(number))

    def drawn(self, number: int, randomness: Randomness) -> Integers:
        """One worker's noise in every slot; values beyond the reach are drawn again."""
        share, reach = self.share(number), self.reach(number)
        noise = share.sample(self.values(number), randomness)
        while (far := np.flatnonzero(np.abs(noise) > reach)).size:
            noise[far] = share.sample(far.size, randomness)
        return noise

    def encoded(self, number: int, votes: Integers, noise: Integers) -> Integers:
        """A worker's contribution: votes (in steps) and noise, from 0 on."""
        return votes.reshape(-1) + noise + self._offset(number)

    def decoded(self, number: int, opened: OpenedSum) -> FloatArray:
        """The noised sums of votes (tasks, slots of a task), in votes."""
        check_opened(self.spec(number), opened)
        steps = opened.totals - opened.workers * self._offset(number)
        return steps.reshape(len(self.terms.tasks), -1) / self.unit(number)

    def moves(self, number: int, answers: int, unit: UnitName) -> Moves:
        """The sensitivity of that round's votes to one answer, or to all of a worker's."""
        tasks, labels, scale = len(self.terms.tasks), len(self.terms.labels), self.unit(number)
        if number and Unit(unit) is Unit.ANSWER:
            return answer_moves(labels, tasks, scale)
        if number:
            return worker_moves(answers, labels, scale)
        return _counted(labels, tasks, scale, answers, unit)

    def variances(self, workers: int) -> FloatArray:
        """The variance of the noise of `workers` workers in a slot, in votes², by round."""
        return np.array(
            [
                workers * self._variance(number) / self.unit(number) ** 2
                for number in range(len(self.noise.rounds))
            ]
        )

    def _variance(self, number: int) -> float:
        """Of one share, in steps²; a discrete Gaussian's is its σ² up to less than 10⁻⁵."""
        each = self.noise.rounds[number]
        if each.law is Law.GAUSSIAN:
            return float(each.size)
        # 2 q / (1 - q)² with q = exp(-1/b), without cancellation.
        return 0.5 / math.sinh(0.5 / float(each.size)) ** 2 / self.noise.honest

    def _offset(self, number: int) -> int:
        return self.unit(number) + self.reach(number)


def check_opened(spec: SumSpec, opened: OpenedSum) -> None:
    """Refuse totals that are impossible for these workers."""
    if opened.totals.shape != (spec.values,):
        raise UsageError(f"a round has {spec.values:,} totals, not {opened.totals.size:,}")
    if ((opened.totals < 0) | (opened.totals > opened.workers * spec.greatest)).any():
        raise UsageError(f"a total is impossible for {opened.workers:,} workers")


def _counted(labels: int, tasks: int, scale: int, answers: int, unit: UnitName) -> Moves:
    """The sensitivity of votes of `scale` steps each.

    A changed answer moves one slot by 2 (two labels) or two by 1; an added or removed one moves two
    slots by 1 (two labels) or one. Up to k answers of a worker change, or up to 2 k are added or
    removed.
    """
    changed = answers if Unit(unit) is Unit.WORKER else 1
    if labels > 2:
        return Moves(2 * scale * changed, 2 * scale**2 * changed)
    touched = min(2 * changed, tasks) if Unit(unit) is Unit.WORKER else 1
    return Moves(2 * scale * touched, 4 * scale**2 * changed)
