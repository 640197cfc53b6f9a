"""The attack on the transcript of a private EM, and its score.

The score is compared with what anyone could guess.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from sottovoce.api.input_output import read
from sottovoce.errors import DataError
from sottovoce.live.attack.recovery import NONE, Observed, Recovered, recover
from sottovoce.model import label_text
from sottovoce.model.sum_rounds import Integers, OpenedSum
from sottovoce.securesum.em.contributor import EMContributor
from sottovoce.securesum.em.planner import codec_of, planner_of
from sottovoce.securesum.em.sensitivity import NoisedSlots
from sottovoce.securesum.em.terms import EMTerms, Mode
from sottovoce.securesum.em.transcript import Transcript

NEAR = 1e-9
"""The tolerance of a worker's logarithm: the order of summation depends on the order of answers."""

LONGEST = 1_000_000_000
"""The most bytes of a transcript file."""

EVERYBODY = "everybody who answered"


@dataclass(frozen=True, slots=True)
class RecoveryScore:
    """Out of `answers` labels: `right` by the attack, `guessed` by the published truths.

    The attack gives the labels of its columns, and the published truth where it has none. Columns
    without an owner count for the worker they fit best. `exact` columns are right in every label,
    and `owned` of those also have the right owner.
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
        raise DataError("these answers are numbers, but a private EM needs labels")
    tasks = _codes(map(str, table.tasks), terms.tasks, "task")
    labels = _codes(map(label_text, table.domain.labels), terms.labels, "label")
    given = np.full((len(table.workers), len(terms.tasks)), NONE, np.int64)
    given[table.worker, tasks[table.task]] = labels[table.value.astype(np.int64)]
    return [str(worker) for worker in table.workers], given


def scored(
    given: Integers, columns: Integers, owners: Sequence[int | None], truths: Integers
) -> RecoveryScore:
    """The score of columns (columns, tasks) against the labels given (workers, tasks).

    An owner is a row of the given labels, -1 for a missing worker, None if unknown.
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
    """Assign each column without an owner to the best-fitting worker without a column."""
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


@dataclass(frozen=True, slots=True, eq=False)
class Recovery:
    """The result of the attack.

    `found` has the columns of labels and their owners among `names`. `reproduced` is True if they
    reproduce every total of every round exactly: they are then the answers, even if their workers
    are unknown. It is None if that is unknown: columns are missing, a worker dropped out, or the
    scale is so large that the last digits depend on the order of a worker's answers. `truths` are
    the codes of the private EM's truths, which anyone can use as a guess of the labels.
    """

    transcript: Transcript = field(repr=False)
    found: Recovered
    names: tuple[str, ...]
    truths: Integers = field(repr=False)
    reproduced: Literal[True] | None

    @property
    def columns(self) -> int:
        """The number of workers whose labels were found."""
        return len(self.found.columns)

    @property
    def linked(self) -> tuple[str, ...]:
        """The names of workers whose labels were found and linked to them."""
        return tuple(self.names[owner] for owner in self.found.owners if owner is not None)

    @property
    def unanimous(self) -> int:
        """The number of unanimous tasks, whose counts alone reveal all labels."""
        return int((self.found.unanimous != NONE).sum())

    @property
    def unanimous_labels(self) -> int:
        """The number of labels of unanimous tasks."""
        if not self.unanimous:
            return 0
        counts = self.transcript.opened[0].totals.reshape(len(self.found.unanimous), -1)
        return int(counts[self.found.unanimous != NONE].sum())

    def score(self, answers: Any) -> RecoveryScore:
        """The score against the true answers, a table of worker, task and answer."""
        workers, given = label_matrix(answers, self.transcript.terms)
        at = {worker: place for place, worker in enumerate(workers)}
        owners = [
            None if owner is None else at.get(self.names[owner], NONE)
            for owner in self.found.owners
        ]
        return scored(given, self.found.columns, owners, self.truths)

    def table(self) -> Mapping[str, npt.NDArray[Any]]:
        """The found labels: worker (or column), task, label.

        Columns without an owner are numbered. Labels of unanimous tasks that are in no column apply
        to all workers who answered.
        """
        terms = self.transcript.terms
        rows, tasks = np.nonzero(self.found.columns != NONE)
        owners = [
            f"column {number}" if owner is None else self.names[owner]
            for number, owner in enumerate(self.found.owners, 1)
        ]
        labels = self.found.columns[rows, tasks]
        whose = [owners[row] for row in rows]
        if self.columns < self.transcript.workers:
            agreed = np.flatnonzero(self.found.unanimous != NONE)
            whose += [EVERYBODY] * len(agreed)
            tasks = np.append(tasks, agreed)
            labels = np.append(labels, self.found.unanimous[agreed])
        return {
            "worker": np.array(whose, object),
            "task": np.array(terms.tasks, object)[tasks],
            "label": np.array(terms.labels, object)[labels],
        }


def read_transcript(path: str | os.PathLike[str]) -> Transcript:
    """Read a transcript from a file; errors name the file."""
    place = Path(path)
    try:
        if place.stat().st_size > LONGEST:
            raise DataError("is too large to be a transcript", file=str(place))
        transcript = Transcript.parse(place.read_text(encoding="utf-8"), str(place))
    except FileNotFoundError:
        raise DataError("the file does not exist", file=str(place)) from None
    except UnicodeDecodeError:
        raise DataError("not a transcript: it is not text", file=str(place)) from None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", file=str(place)) from None
    _check(transcript, str(place))
    return transcript


def recover_labels(transcript: Transcript) -> Recovery:
    """Recover labels from a transcript. Anyone who has it can do this; no key is needed.

    >>> from sottovoce.api.simulate_private_em import simulate_private_em
    >>> rows = [(f"w{j}", f"t{i}", "yes" if (i * i + i * j + j) % 7 % 2 else "no")
    ...         for j in range(4) for i in range(40) if (i + j) % 5]
    >>> answers = dict(zip(("worker", "task", "answer"), map(list, zip(*rows))))
    >>> run = simulate_private_em(answers, suite="plain", mode="as_published", assignments=True)
    >>> recovery = recover_labels(run.transcript)
    >>> recovery.found.outcome, recovery.linked, recovery.reproduced
    ('all', ('w0', 'w1', 'w2', 'w3'), True)
    """
    _check(transcript)
    found = recover(_observed(transcript))
    off = _distance(transcript, found)
    if off is not None and off > NEAR * transcript.terms.scale * transcript.workers:
        # Other labels explain the counts too: nothing was found.
        found, off = replace(found, outcome="none", columns=found.columns[:0], owners=()), None
    truths = planner_of(transcript.terms).result(transcript.opened).truths.astype(np.int64)
    names = tuple(transcript.assignments or ())
    return Recovery(transcript, found, names, truths, True if off == 0 else None)


def _check(transcript: Transcript, file: str | None = None) -> None:
    """Refuse totals whose length differs from the terms."""
    planner, opened = planner_of(transcript.terms), transcript.opened
    if not opened:
        raise DataError("nothing was opened, so no labels can be recovered", file=file)
    for number, each in enumerate(opened):
        spec = planner.next(opened[:number])
        if spec is None:
            raise DataError(f"round {number} comes after the last of these terms", file=file)
        if len(each.totals) != spec.values or (each.totals > spec.greatest * each.workers).any():
            raise DataError(f"round {number} does not match these terms", file=file)


def _observed(transcript: Transcript) -> Observed:
    """All totals as one vector over tasks per slot, minus the offset that all workers add."""
    terms, first = transcript.terms, transcript.opened[0]
    vectors = [_vectors(terms, number, each) for number, each in enumerate(transcript.opened)]
    return Observed(
        np.concatenate(vectors, axis=1).T,
        None if terms.mode is Mode.NOISED else vectors[0],
        len(terms.labels),
        first.workers,
        _assigned(transcript),
    )


def _vectors(terms: EMTerms, number: int, opened: OpenedSum) -> Integers:
    if terms.mode is Mode.NOISED:
        slots = NoisedSlots(terms)
        return np.rint(slots.decoded(number, opened) * slots.unit(number)).astype(np.int64)
    codec = codec_of(terms)
    zero = round(-codec.low * codec.scale) if number else 0
    return (opened.totals - opened.workers * zero).reshape(len(terms.tasks), -1)


def _assigned(transcript: Transcript) -> npt.NDArray[np.bool_] | None:
    if transcript.assignments is None:
        return None
    at = {task: place for place, task in enumerate(transcript.terms.tasks)}
    assigned = np.zeros((len(transcript.assignments), len(at)), np.bool_)
    for row, tasks in zip(assigned, transcript.assignments.values(), strict=True):
        row[[at[task] for task in tasks]] = True
    return assigned


def _distance(transcript: Transcript, found: Recovered) -> int | None:
    """The distance between the totals of the found labels and the opened ones.

    It is unknown if workers dropped out, because it is not known which.
    """
    opened = transcript.opened
    if found.outcome != "all" or {each.workers for each in opened} != {len(found.columns)}:
        return None
    workers = [
        EMContributor(transcript.terms, np.flatnonzero(column != NONE), column[column != NONE])
        for column in found.columns
    ]
    distances = []
    for number, each in enumerate(opened):
        ours = np.sum([worker.values(opened[:number]) for worker in workers], axis=0)
        distances.append(int(np.abs(ours - each.totals).max()))
    return max(distances)
