"""A sealed sum as the audit sees it: one worker's answers in, the colluders' view out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sottovoce.mechanisms.sealed_sum import SealedSum
from sottovoce.model import NULL, Unit, UnitName
from sottovoce.model.guarantee import check_answer_count
from sottovoce.privacy.audit import Audit, audit_pairs
from sottovoce.privacy.audit.confidence_bounds import check_chances
from sottovoce.seams import Randomness
from sottovoce.securesum.ballot import Ballot
from sottovoce.securesum.plain import PlainSum

Integers: TypeAlias = npt.NDArray[np.int64]


def audit_opened(
    sealed: SealedSum,
    randomness: Randomness,
    *,
    answers: int = 1,
    unit: UnitName = Unit.ANSWER,
    samples: int = 1_000_000,
    delta: float = 0.0,
    confidence: float = 0.95,
) -> Audit:
    """The best lower bound on ε from opened totals, minus everything that colluders know.

    They know the other workers' answers and the noise of t keyholders: the rest is one worker's
    slots and the noise of N - t deals. Neighbours are the ends of the codes and, if participation
    is hidden, each of them and NULL.

    >>> from sottovoce.datasets.seeded_randomness import SeededRandomness
    >>> from sottovoce.model import Domain
    >>> sealed = SealedSum.calibrated(Domain.categorical("ab"), 1.0)
    >>> 0.9 < audit_opened(sealed, SeededRandomness(7), samples=50_000).epsilon < 1
    True
    """
    check_chances(delta, confidence)
    check_answer_count(answers)
    # Every task has independent noise, so tasks in which neighbours agree carry no information.
    pairs = _neighbors(Ballot.of(sealed), answers if Unit(unit) is Unit.WORKER else 1)
    sampler = _opened(sealed, randomness)
    return audit_pairs(sampler, pairs, samples=samples, delta=delta, confidence=confidence)


def _neighbors(ballot: Ballot, changed: int) -> list[tuple[Integers, Integers]]:
    last = ballot.codes - 1
    codes = [(0, last), *([(0, NULL), (last, NULL)] if ballot.hidden else [])]
    return [(np.full(changed, one), np.full(changed, other)) for one, other in codes]


def _opened(sealed: SealedSum, randomness: Randomness) -> Callable[[Integers, int], Integers]:
    """The sampler: a row has the slots of all tasks, as t colluding keyholders see them."""
    honest = sealed.seats - sealed.degree

    def sampler(codes: Integers, count: int) -> Integers:
        slots = PlainSum(Ballot.of(sealed), len(codes)).total(np.arange(len(codes)), codes)
        noise = [
            law.sample(count * len(codes) * honest, randomness).reshape(count, len(codes), honest)
            for law in sealed.deals
        ]
        rows: Integers = slots + np.stack([one.sum(axis=2) for one in noise], axis=2)
        return rows.reshape(count, -1)

    return sampler
