"""One worker's side of a private EM. Its answers stay here; only sealed contributions leave.

Raw answers pass through here, so no module of the server may import it. In noised rounds a worker
sends votes first, then votes weighted by its skill, with noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.model import FloatArray
from sottovoce.model.sum_rounds import Contributor, Integers, OpenedSum
from sottovoce.seams import Randomness
from sottovoce.securesum.em.planner import EMPlanner, NoisedPlanner
from sottovoce.securesum.em.terms import EMTerms, Mode
from sottovoce.securesum.em.weights import IntegerArray, agreement, log_terms, skill, weights


def check_answers(terms: EMTerms, task: IntegerArray, label: IntegerArray) -> None:
    """Refuse codes outside the tasks and labels of the terms, or too many per task."""
    if task.ndim != 1 or task.shape != label.shape:
        raise UsageError("answers must have one task and one label each")
    if not task.size:
        return
    if task.min() < 0 or task.max() >= len(terms.tasks):
        raise UsageError(f"an answer is not to one of the {len(terms.tasks):,} tasks")
    if label.min() < 0 or label.max() >= len(terms.labels):
        raise UsageError(f"an answer is not one of the {len(terms.labels):,} labels")
    most = int(np.bincount(task).max())
    if most > terms.repeats:
        times = "once" if terms.repeats == 1 else f"up to {terms.repeats} times"
        raise UsageError(f"a task may be answered {times}, and one was answered {most} times")


class NoisedContributor:
    """A worker in the mode `noised`: its contributions include its share of the noise.

    `task` and `label` are the codes of its answers, at most one per task. Noise is drawn once per
    round, in every slot; a worker without answers sends noise alone.
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
        """P(answer | truth), given all opened sums."""
        state = self._planner.decode(opened)
        return skill(state.posterior, self._task, self._label, self._planner.terms.clip)

    def weight(self, opened: Sequence[OpenedSum]) -> float:
        """The weight of its answers, from -1 to 1, given all opened sums. It never leaves."""
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
        """1 for its label of each answered task; with two labels, -1 or 1 in one column."""
        terms = self._planner.terms
        two = len(terms.labels) == 2
        votes = np.zeros((len(terms.tasks), 1 if two else len(terms.labels)), np.int64)
        votes[self._task, 0 if two else self._label] = 2 * self._label - 1 if two else 1
        return votes


class PrivateContributor(Contributor, Protocol):
    """A contributor to a private EM, which also reports its own accuracy to the worker."""

    def skill(self, opened: Sequence[OpenedSum]) -> FloatArray:
        """P(answer | truth) at [truth, answer], given all opened sums. It never leaves."""
        ...


class EMContributor:
    """A worker in the modes `as_published` and `log_odds` (P2, protocol 1, lines 2, 5 and 7).

    `task` and `label` are the codes of its answers, one row each, in the order of the terms. Every
    slot is always sent, so that the length reveals nothing. In a rehearsal workers may share a
    `planner`, so that each round is decoded once and not by every worker.
    """

    def __init__(
        self,
        terms: EMTerms,
        task: IntegerArray,
        label: IntegerArray,
        planner: EMPlanner | None = None,
    ) -> None:
        check_answers(terms, task, label)
        self._planner, self._task, self._label = planner or EMPlanner(terms), task, label

    def __repr__(self) -> str:
        return "EMContributor()"

    def values(self, opened: Sequence[OpenedSum]) -> Integers:
        """Counts of its labels in round 0; then its log-likelihoods, as integers."""
        terms, codec = self._planner.terms, self._planner.codec
        if not opened:
            counts = np.zeros((len(terms.tasks), len(terms.labels)), np.int64)
            np.add.at(counts, (self._task, self._label), 1)
            return counts.reshape(-1)
        logs = log_terms(self.skill(opened), self._task, self._label, len(terms.tasks))
        if terms.mode is Mode.AS_PUBLISHED:
            return codec.encode(-logs).reshape(-1)
        return codec.encode(logs[:, 1:] - logs[:, :1]).reshape(-1)

    def skill(self, opened: Sequence[OpenedSum]) -> FloatArray:
        """The M step after the last opened round: for two labels β at [0, 0] and α at [1, 1]."""
        state = self._planner.decode(opened)
        return skill(state.posterior, self._task, self._label, self._planner.terms.clip)


def contributor_of(
    terms: EMTerms, task: IntegerArray, label: IntegerArray, randomness: Randomness
) -> PrivateContributor:
    """The worker with these answers, in the mode of the terms; noise comes from `randomness`.

    A worker without answers contributes too.
    """
    if terms.mode is Mode.NOISED:
        return NoisedContributor(terms, task, label, randomness)
    return EMContributor(terms, task, label)
