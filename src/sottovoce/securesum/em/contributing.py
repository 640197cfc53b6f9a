"""One worker's side of a private EM. Its answers stay in here; only what it adds leaves, sealed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from sottovoce.inference.private_em.skills import IntegerArray, log_terms, skill
from sottovoce.model import FloatArray
from sottovoce.model.sum_rounds import Contributor, Integers, OpenedSum
from sottovoce.seams import Randomness
from sottovoce.securesum.em.answers import check_answers
from sottovoce.securesum.em.noising import NoisedContributor
from sottovoce.securesum.em.planning import EMPlanner
from sottovoce.securesum.em.terms import EMTerms, Mode

__all__ = ["EMContributor", "PrivateContributor", "contributor_of"]


class PrivateContributor(Contributor, Protocol):
    """A contributor to a private EM, which also tells its worker how good it is."""

    def skill(self, opened: Sequence[OpenedSum]) -> FloatArray:
        """P(answer | truth) at [truth, answer], given all that was opened. It never leaves."""
        ...


class EMContributor:
    """A worker in the modes `as_published` and `log_odds` (P2, protocol 1, lines 2, 5 and 7).

    `task` and `label` are the codes of its answers, one row each, in the order of the terms. Every
    slot is sent whatever was answered, so that the length says nothing. In a rehearsal workers may
    share a `planner`, so that each round is decoded once and not by everybody.
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
        """Counts of own labels in round 0; then what the own answers say, as integers."""
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
    """The worker with these answers, in the mode of the terms; noise, if any, is drawn from there.

    A worker that answered nothing contributes all the same.
    """
    if terms.mode is Mode.NOISED:
        return NoisedContributor(terms, task, label, randomness)
    return EMContributor(terms, task, label)
