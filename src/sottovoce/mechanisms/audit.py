"""A mechanism as the audit sees it: answers in, submissions out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sottovoce.mechanisms.sampling import unsampled
from sottovoce.mechanisms.subset_selection import SubsetSelection
from sottovoce.model import NULL, Cells, Codes, Domain, Grid, Unit, UnitName
from sottovoce.model.guarantee import check_answer_count
from sottovoce.privacy.audit import Audit, audit_pairs
from sottovoce.privacy.audit.confidence_bounds import check_chances
from sottovoce.seams import Mechanism, Randomness

Pair: TypeAlias = tuple[Codes, Codes]


def audit_mechanism(
    mechanism: Mechanism,
    domain: Domain,
    randomness: Randomness,
    *,
    answers: int = 1,
    unit: UnitName = Unit.ANSWER,
    samples: int = 1_000_000,
    delta: float = 0.0,
    confidence: float = 0.95,
) -> Audit:
    """The best lower bound on ε over a few pairs of neighbours, with `samples` samples of each.

    The failure probability is divided among the pairs, so the confidence holds for all together.

    >>> from sottovoce.datasets.seeded_randomness import SeededRandomness
    >>> from sottovoce.mechanisms import RandomizedResponse
    >>> coin = Domain.categorical("ab")
    >>> found = audit_mechanism(
    ...     RandomizedResponse.calibrated(coin, 1.0), coin, SeededRandomness(7), samples=100_000
    ... )
    >>> 0.95 < found.epsilon < 1, found.event
    (True, 'column 1 is 0')
    """
    check_chances(delta, confidence)
    check_answer_count(answers)
    pairs = neighbors(mechanism, domain, answers, unit)
    sampler = submissions(mechanism, randomness)
    return audit_pairs(sampler, pairs, samples=samples, delta=delta, confidence=confidence)


def neighbors(mechanism: Mechanism, domain: Domain, answers: int, unit: UnitName) -> list[Pair]:
    """Pairs of submissions that differ in their first answer or, per worker, in all of them.

    The ends of a range; for labels the first two, and the ends; and each of these with NULL if
    participation is hidden. All other answers are the first value.
    """
    last = Grid.over(domain).steps if domain.is_numeric else domain.size - 1
    values = [(0, last)] if domain.is_numeric else sorted({(0, 1), (0, last)})
    if mechanism.hides_participation:
        values += [(0, NULL), (last, NULL)]
    changed = answers if Unit(unit) is Unit.WORKER else 1
    return [(_submission(a, changed, answers), _submission(b, changed, answers)) for a, b in values]


def _submission(value: int, changed: int, answers: int) -> Codes:
    codes = np.zeros(answers, np.int32)
    codes[:changed] = value
    return codes


def submissions(
    mechanism: Mechanism, randomness: Randomness
) -> Callable[[Codes, int], npt.NDArray[Any]]:
    """The sampler of whole submissions: one per row, a column per report (or per symbol of a set).

    A report that is not sent is NaN, or -1 for each symbol.
    """

    def sampler(answers: Codes, count: int) -> npt.NDArray[Any]:
        tasks = len(answers)
        cells = Cells(
            np.repeat(np.arange(count, dtype=np.int32), tasks),
            np.tile(np.arange(tasks, dtype=np.int32), count),
            np.tile(answers, count),
            # Every row is the same worker again: public values of a worker are the same.
            np.full(count, "worker", object),
            np.array([f"task {task}" for task in range(tasks)], object),
        )
        reports = mechanism.perturb(cells, mechanism.draw(count, randomness), randomness)
        place = reports.worker.astype(np.int64) * tasks + reports.task
        sent, missing = _columns(mechanism, reports.code)
        if len(sent) == count * tasks:
            missing = sent.dtype.type(0)
        rows = np.full((count * tasks, sent.shape[1]), missing)
        rows[place] = sent
        return rows.reshape(count, -1)

    return sampler


def _columns(mechanism: Mechanism, code: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], np.generic]:
    """Reports as rows of numbers, and the value of a report that is not sent."""
    inner = unsampled(mechanism)
    if not isinstance(inner, SubsetSelection):
        return code[:, None], np.float64(np.nan)
    symbols = np.arange((inner.bins or inner.labels) + inner.null, dtype=np.uint64)
    bits = (code[:, None] >> symbols) & np.uint64(1)
    return bits.astype(np.int8), np.int8(-1)
