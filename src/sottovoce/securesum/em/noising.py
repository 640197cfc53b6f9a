"""One worker's side of noised rounds: votes first, then votes by what it is worth, with noise.

Raw answers pass through here, so nothing of the server may import it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sottovoce.inference.private_em.skills import IntegerArray, skill
from sottovoce.inference.private_em.weighted import agreement, weights
from sottovoce.model import FloatArray
from sottovoce.model.sum_rounds import Integers, OpenedSum
from sottovoce.seams import Randomness
from sottovoce.securesum.em.answers import check_answers
from sottovoce.securesum.em.noised_planning import NoisedPlanner
from sottovoce.securesum.em.terms import EMTerms

__all__ = ["NoisedContributor"]


class NoisedContributor:
    """A worker in the mode `noised`: what it sends has its share of the noise in it.

    `task` and `label` are the codes of its answers, at most one to a task. Noise is drawn once a
    round, in every slot; a worker that answered nothing sends noise alone.
    """

    def __init__(
        self, terms: EMTerms, task: IntegerArray, label: IntegerArray, randomness: Randomness
    ) -> None:
        check_answers(terms, task, label)
        self._planner, self._task, self._label = NoisedPlanner(terms), task, label
        self._randomness = randomness

    def __repr__(self) -> str:
        return "NoisedContributor()"

    def values(self, opened: Sequence[OpenedSum]) -> Integers:
        """Votes, or weighted votes, with noise."""
        number, slots = len(opened), self._planner.slots
        votes = self._weight(opened) * self._votes() if number else self._counted()
        return slots.encoded(number, votes, slots.drawn(number, self._randomness))

    def skill(self, opened: Sequence[OpenedSum]) -> FloatArray:
        """P(answer | truth), given all that was opened."""
        state = self._planner.decode(opened)
        return skill(state.posterior, self._task, self._label, self._planner.terms.clip)

    def weight(self, opened: Sequence[OpenedSum]) -> float:
        """What its answers weigh, from -1 to 1, given all that was opened. It never leaves."""
        return self._weight(opened) / self._planner.terms.scale

    def _weight(self, opened: Sequence[OpenedSum]) -> int:
        terms, posterior = self._planner.terms, self._planner.decode(opened).posterior
        agreed = np.array([agreement(posterior, self._task, self._label)])
        answers = np.array([len(self._task)])
        return int(weights(agreed, answers, len(terms.labels), terms.scale)[0])

    def _counted(self) -> Integers:
        votes = self._votes()
        if len(self._planner.terms.labels) == 2:
            votes = np.stack([votes[:, 0], np.abs(votes[:, 0])], axis=1)
        return votes * self._planner.slots.unit(0)

    def _votes(self) -> Integers:
        """1 for its label of each answered task; of two labels, -1 or 1 in one column."""
        terms = self._planner.terms
        two = len(terms.labels) == 2
        votes = np.zeros((len(terms.tasks), 1 if two else len(terms.labels)), np.int64)
        votes[self._task, 0 if two else self._label] = 2 * self._label - 1 if two else 1
        return votes
