"""A crowd's ability and its truths, estimated from a pilot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.api.infer import infer
from sottovoce.errors import UsageError
from sottovoce.model import Domain, FloatArray, Gold, Reports
from sottovoce.planning.scenario import Ability, LabelAbility, NumberAbility
from sottovoce.planning.trials import truths_by_task

PRIOR_ANSWERS = 4.0
"""The number of average answers that are added to each worker's own."""


@dataclass(frozen=True, slots=True)
class Pilot:
    """Ability, a sample of truths (none without gold), and a sentence about their source."""

    domain: Domain
    ability: Ability
    truths: tuple[float, ...]
    note: str


def read_pilot(answers: Reports, gold: Gold | None = None) -> Pilot:
    """The ability of a pilot's workers against gold, or else against inferred truths.

    A worker with few answers carries little information, so each is shrunk towards the crowd's mean
    as if it had given c = 4 more answers like an average worker:

        accuracy  (right + c · mean) / (answers + c)
        variance  (Σ error² + c · mean square) / (answers + c)

    Deviations are shares of the range. The truths of labels to resample from contain each label
    once in addition to gold, so that none is impossible.

    >>> ab = Domain.categorical("ab")
    >>> table = Reports.of([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 0, 0], domain=ab)
    >>> read_pilot(table, Gold(np.array([0, 1]), np.array(["a", "b"]))).ability
    LabelAbility(accuracies=(0.8333333333333334, 0.6666666666666666))
    """
    if answers.domain.is_numeric and not np.isfinite(answers.domain.high - answers.domain.low):
        raise UsageError(
            "a pilot of numbers needs their public range: read it with "
            "domain=Domain.numeric(low, high)"
        )
    truths = _known(answers, gold) if gold else infer(answers).truths.astype(np.float64)
    scored = np.isfinite(truths)[answers.task]
    ability = _ability(answers, truths, scored)
    known = truths[np.isfinite(truths)] if gold else np.array([])
    return Pilot(
        answers.domain, ability, _sample(known, answers.domain), _note(answers, gold, scored)
    )


def _known(answers: Reports, gold: Gold) -> FloatArray:
    """The gold of each task of the pilot as a label code or a number; NaN if unknown."""
    truths = truths_by_task(answers, gold).astype(np.float64)
    return truths if answers.domain.is_numeric else np.where(truths < 0, np.nan, truths)


def _ability(answers: Reports, truths: FloatArray, scored: npt.NDArray[np.bool_]) -> Ability:
    worker, value = answers.worker[scored], answers.value[scored]
    truth: npt.NDArray[Any] = truths[answers.task[scored]]
    if answers.domain.is_numeric:
        span = answers.domain.high - answers.domain.low
        variances = _shrunken(worker, np.square((value - truth) / span))
        return NumberAbility(tuple(np.minimum(np.sqrt(variances), 1.0).tolist()))
    return LabelAbility(tuple(_shrunken(worker, (value == truth).astype(np.float64)).tolist()))


def _shrunken(worker: npt.NDArray[np.int32], outcomes: FloatArray) -> FloatArray:
    """Each worker's mean outcome, shrunk towards the crowd's; for workers with an outcome."""
    totals, counts = np.bincount(worker, outcomes), np.bincount(worker)
    seen = counts > 0
    shrunken = totals[seen] + PRIOR_ANSWERS * outcomes.mean()
    result: FloatArray = shrunken / (counts[seen] + PRIOR_ANSWERS)
    return result


def _sample(known: FloatArray, domain: Domain) -> tuple[float, ...]:
    if not len(known):
        return ()
    if domain.is_numeric:
        return tuple(known[(known >= domain.low) & (known <= domain.high)].tolist())
    return (*known[known < domain.size].tolist(), *map(float, range(domain.size)))


def _note(answers: Reports, gold: Gold | None, scored: npt.NDArray[np.bool_]) -> str:
    of = f"{int(scored.sum()):,} answers of {len(np.unique(answers.worker[scored])):,} workers"
    if gold is None:
        return (
            f"pilot: ability from {of} against inferred truths, because there is no gold; it "
            "looks a little better than it is, because each worker influenced them"
        )
    return f"pilot: ability and truths from {of} against gold"
