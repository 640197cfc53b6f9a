"""How much of what an attack found is right, beside what everybody could have guessed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from sottovoce.api.input_output import read
from sottovoce.errors import DataError
from sottovoce.inference.recovering.unanimous import NONE
from sottovoce.model import label_text
from sottovoce.model.sum_rounds import Integers
from sottovoce.securesum.em.terms import EMTerms

__all__ = ["RecoveryScore", "label_matrix", "scored"]


@dataclass(frozen=True, slots=True)
class RecoveryScore:
    """Out of `answers` labels: `right` by the attack, `guessed` by saying the published truth.

    The attack says the labels of its columns, and the published truth where it has none. Columns
    without an owner count for the worker they fit best. `exact` columns are right in every label,
    and `owned` of those are also their owner's.
    """

    answers: int
    right: int
    guessed: int
    exact: int
    owned: int


def label_matrix(answers: Any, terms: EMTerms) -> tuple[list[str], Integers]:
    """The workers of a table, and their labels (workers, tasks) by the codes of the terms."""
    table = read(answers)
    if table.domain.is_numeric:
        raise DataError("these answers are numbers: a private EM is about labels")
    tasks = _codes(map(str, table.tasks), terms.tasks, "task")
    labels = _codes(map(label_text, table.domain.labels), terms.labels, "label")
    given = np.full((len(table.workers), len(terms.tasks)), NONE, np.int64)
    given[table.worker, tasks[table.task]] = labels[table.value.astype(np.int64)]
    return [str(worker) for worker in table.workers], given


def scored(
    given: Integers, columns: Integers, owners: Sequence[int | None], truths: Integers
) -> RecoveryScore:
    """The score of columns (columns, tasks) against the labels given (workers, tasks).

    An owner is a row of the given labels, -1 for a worker that is not there, None if unknown.
    """
    said = np.broadcast_to(truths, given.shape).copy()
    guessed = int((said == given).sum())
    free = [place for place, owner in enumerate(owners) if owner is None]
    exact = owned = 0
    for place, owner in {
        **dict(enumerate(owners)),
        **_fitted(given, columns, free, owners),
    }.items():
        if owner is None or owner == NONE:
            continue
        same = bool((given[owner] == columns[place]).all())
        exact, owned = exact + same, owned + (same and owners[place] is not None)
        said[owner] = np.where(columns[place] == NONE, said[owner], columns[place])
    return RecoveryScore(
        int((given != NONE).sum()), int((said == given).sum()), guessed, exact, owned
    )


def _fitted(
    given: Integers, columns: Integers, free: Sequence[int], owners: Sequence[int | None]
) -> dict[int, int]:
    """Columns without an owner, each with the worker it fits best of those who own none."""
    rows = np.setdiff1d(np.arange(len(given)), [owner for owner in owners if owner is not None])
    agreeing = np.array([(given[rows] == columns[place]).sum(axis=1) for place in free])
    if not agreeing.size:
        return {}
    chosen, row = linear_sum_assignment(-agreeing)
    return {free[int(place)]: int(rows[at]) for place, at in zip(chosen, row, strict=True)}


def _codes(names: Any, known: Sequence[str], what: str) -> Integers:
    at = {name: place for place, name in enumerate(known)}
    names = list(names)
    strange = [name for name in names if name not in at]
    if strange:
        raise DataError(f"the {what} {strange[0]!r} of these answers is not in the transcript")
    return np.array([at[name] for name in names], np.int64)
