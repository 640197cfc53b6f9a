"""The contribution of a worker to the totals, as a function of its labels.

Posteriors are public, so anyone can compute the skill of a worker with given labels in every
round, and hence the integers that this worker sends (P2, protocol 1, lines 5 and 7).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sottovoce.inference.steps.arithmetic import steady
from sottovoce.model import FloatArray
from sottovoce.securesum.em.planner import EMPlanner, codec_of
from sottovoce.securesum.em.terms import EMTerms, Mode
from sottovoce.securesum.em.transcript import Transcript
from sottovoce_studies.p2.attack.integer_span import Integers

RELATIVE = 2e-12
"""The most that a probability of a worker may differ on another machine: it has 40 bits."""

BLOCK = 512


@dataclass(frozen=True, slots=True, eq=False)
class Contributions:
    """The totals (rows, tasks) of the rounds in which all workers took part, after the counts.

    A row is the log-likelihood of a truth in a round, or its difference to that of the first.
    """

    terms: EMTerms
    posteriors: FloatArray = field(repr=False)
    totals: Integers = field(repr=False)

    @classmethod
    def of(cls, transcript: Transcript) -> Contributions:
        """The totals of a transcript without noise."""
        terms, opened = transcript.terms, transcript.opened
        planner = EMPlanner(terms)
        whole = [
            number
            for number in range(1, len(opened))
            if opened[number].workers == transcript.workers
        ]
        shape = len(terms.tasks), len(terms.labels)
        posteriors = [planner.decode(opened[:number]).posterior for number in whole]
        codec = codec_of(terms)
        zero = transcript.workers * round(-codec.low * codec.scale)
        rows = [(opened[number].totals - zero).reshape(shape[0], -1).T for number in whole]
        return cls(
            terms,
            np.array(posteriors).reshape(-1, *shape),
            np.concatenate([np.empty((0, shape[0]), np.int64), *rows]),
        )

    def steps(self, columns: Integers) -> FloatArray:
        """For columns (columns, tasks, labels), the number to be rounded that one answer adds.

        The result is (columns, rows, labels).
        """
        blocks = [
            self._steps(columns[start : start + BLOCK]) for start in range(0, len(columns), BLOCK)
        ]
        empty = np.empty((0, len(self.totals), columns.shape[2]))
        return np.concatenate([empty, *blocks])

    def _steps(self, columns: Integers) -> FloatArray:
        labels = columns.shape[2]
        counts = np.einsum("rit,cil->crtl", self.posteriors, columns.astype(float), optimize=True)
        totals = counts.sum(axis=3, keepdims=True)
        shares = np.divide(counts, totals, out=np.full_like(counts, 1 / labels), where=totals > 0)
        clip = self.terms.clip
        logs = np.log(np.clip(steady(shares), 1 / clip, 1 - 1 / clip))
        if self.terms.mode is Mode.AS_PUBLISHED:
            return np.asarray(-self.terms.scale * logs).reshape(len(columns), -1, labels)
        odds = self.terms.scale * (logs[:, :, 1:] - logs[:, :, :1])
        return np.asarray(odds).reshape(len(columns), -1, labels)

    def unsure(self, steps: FloatArray) -> npt.NDArray[np.bool_]:
        """Where another order of additions may round the number to another integer."""
        width = RELATIVE * self.terms.scale * self.terms.repeats + 1e-15 * np.abs(steps)
        return np.asarray(np.abs(np.abs(steps - np.floor(steps)) - 0.5) <= width)

    @property
    def slack(self) -> float:
        """The most by which a number to be rounded may be off."""
        return 2 * RELATIVE * self.terms.scale * self.terms.repeats

    def numbers(self, column: Integers, steps: FloatArray, tasks: Integers) -> FloatArray:
        """The numbers (rows, tasks) to be rounded of one column with these steps."""
        patterns, which = np.unique(column[tasks], axis=0, return_inverse=True)
        return np.asarray((steps @ patterns.T.astype(np.float64))[:, which.reshape(-1)])
