"""The slots of noised rounds: what stands in each, how far answers move it, and its noise."""

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
"""The chance that a share of noise in one slot lies beyond its reach, at most."""

Share: TypeAlias = Polya | DiscreteGaussian


@dataclass(frozen=True, slots=True)
class NoisedSlots:
    """Round 0 adds up votes, each later round weighted votes; in steps, with an offset.

        labels   round 0, of each task                          later
        two      1 or -1 for the label, and 1 for an answer     w or -w, w its worker's weight
        more     1 for the label, 0 for all others              w for the label, 0 for all others

    All of it is 0 for a task without an answer, and all of it is sent. A vote is 1 step in round 0
    where the noise is Laplace, and `scale` steps else. A worker adds v + noise + bound + reach to
    a slot, with |v| ≤ bound and |noise| ≤ reach, so nothing is negative.
    """

    terms: EMTerms

    @property
    def noise(self) -> NoiseTerms:
        """The noise of the terms."""
        if self.terms.noise is None:
            raise UsageError(
                f"rounds of mode {self.terms.mode} have no noise: they promise nothing"
            )
        return self.terms.noise

    def width(self, number: int) -> int:
        """Slots of one task in that round."""
        labels = len(self.terms.labels)
        return 1 if number and labels == 2 else labels

    def values(self, number: int) -> int:
        """Slots in that round."""
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
        """How far a share may go: P(|noise| > reach) < TAIL.

        A Gaussian share is beyond m with 2 exp(-m² / 2σ²) at most. A Laplace share is a difference
        of two variables, each smaller than a geometric one, so it is with 2 exp(-m / b).
        """
        each, far = self.noise.rounds[number], math.log(2 / TAIL)
        if each.law is Law.GAUSSIAN:
            return math.ceil(math.sqrt(2 * far * each.size)) + 1
        return math.ceil(far * each.size) + 1

    def spec(self, number: int) -> SumSpec:
        """What is added up in that round."""
        return SumSpec(self.values(number), 2 * self._offset(number))

    def drawn(self, number: int, randomness: Randomness) -> Integers:
        """One worker's noise in every slot; what lies beyond the reach is drawn again."""
        share, reach = self.share(number), self.reach(number)
        noise = share.sample(self.values(number), randomness)
        while (far := np.flatnonzero(np.abs(noise) > reach)).size:
            noise[far] = share.sample(far.size, randomness)
        return noise

    def encoded(self, number: int, votes: Integers, noise: Integers) -> Integers:
        """What a worker sends: votes (in steps) and noise, from 0 on."""
        return votes.reshape(-1) + noise + self._offset(number)

    def decoded(self, number: int, opened: OpenedSum) -> FloatArray:
        """The noised sums of votes (tasks, slots of a task), in votes."""
        check_opened(self.spec(number), opened)
        steps = opened.totals - opened.workers * self._offset(number)
        return steps.reshape(len(self.terms.tasks), -1) / self.unit(number)

    def moves(self, number: int, answers: int, unit: UnitName) -> Moves:
        """How far one answer, or all of a worker's, can move its votes in that round."""
        tasks, labels, scale = len(self.terms.tasks), len(self.terms.labels), self.unit(number)
        if number and Unit(unit) is Unit.ANSWER:
            return answer_moves(labels, tasks, scale)
        if number:
            return worker_moves(answers, labels, scale)
        return _counted(labels, tasks, scale, answers, unit)

    def variances(self, workers: int) -> FloatArray:
        """The variance of the noise that so many workers add to a slot, in votes², by round."""
        return np.array(
            [
                workers * self._variance(number) / self.unit(number) ** 2
                for number in range(len(self.noise.rounds))
            ]
        )

    def _variance(self, number: int) -> float:
        """Of one share, in steps²; a discrete Gaussian's is its σ² but for less than 10⁻⁵."""
        each = self.noise.rounds[number]
        if each.law is Law.GAUSSIAN:
            return float(each.size)
        # 2 q / (1 - q)² with q = exp(-1/b), without cancellation.
        return 0.5 / math.sinh(0.5 / float(each.size)) ** 2 / self.noise.honest

    def _offset(self, number: int) -> int:
        return self.unit(number) + self.reach(number)


def check_opened(spec: SumSpec, opened: OpenedSum) -> None:
    """Refuse totals that are not what these workers can add up to."""
    if opened.totals.shape != (spec.values,):
        raise UsageError(f"a round has {spec.values:,} totals, not {opened.totals.size:,}")
    if ((opened.totals < 0) | (opened.totals > opened.workers * spec.greatest)).any():
        raise UsageError(f"a total is not what {opened.workers:,} workers can add up to")


def _counted(labels: int, tasks: int, scale: int, answers: int, unit: UnitName) -> Moves:
    """How far votes move, a vote being `scale` steps.

    An answer that changes moves one slot by 2 (two labels) or two by 1; one that is given or left
    out moves two slots by 1 (two labels) or one. Of a worker up to k answers change, or up to 2 k
    are given or left out.
    """
    changed = answers if Unit(unit) is Unit.WORKER else 1
    if labels > 2:
        return Moves(2 * scale * changed, 2 * scale**2 * changed)
    touched = min(2 * changed, tasks) if Unit(unit) is Unit.WORKER else 1
    return Moves(2 * scale * touched, 4 * scale**2 * changed)
