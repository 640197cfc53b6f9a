"""The attack on the transcript of a private EM, and how much of what it finds is right.

What is right is compared with what everybody could have guessed.
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
"""How far a worker's logarithm may be off: answers in another order are added in another order."""

LONGEST = 1_000_000_000
"""Bytes of the longest file that is read as a transcript."""

EVERYBODY = "everybody who answered"


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


@dataclass(frozen=True, slots=True, eq=False)
class Recovery:
    """What the attack found.

    `found` has the columns of labels and their owners among `names`. `reproduced` is True where
    they give every total of every round again, to the integer: they are the answers, whoever's
    they are. It is None where that cannot be told: columns are missing, a worker fell silent, or
    the scale is so large that the last digits depend on the order of a worker's answers.
    `truths` are the codes of what the private EM made of the totals, which anybody may guess that
    workers said.
    """

    transcript: Transcript = field(repr=False)
    found: Recovered
    names: tuple[str, ...]
    truths: Integers = field(repr=False)
    reproduced: Literal[True] | None

    @property
    def columns(self) -> int:
        """How many workers' labels were found."""
        return len(self.found.columns)

    @property
    def linked(self) -> tuple[str, ...]:
        """The names of workers whose labels were found as theirs."""
        return tuple(self.names[owner] for owner in self.found.owners if owner is not None)

    @property
    def unanimous(self) -> int:
        """On how many tasks everybody agrees, so that counts alone give all labels away."""
        return int((self.found.unanimous != NONE).sum())

    @property
    def unanimous_labels(self) -> int:
        """How many labels that are."""
        if not self.unanimous:
            return 0
        counts = self.transcript.opened[0].totals.reshape(len(self.found.unanimous), -1)
        return int(counts[self.found.unanimous != NONE].sum())

    def score(self, answers: Any) -> RecoveryScore:
        """Right labels, given the answers: a table of worker, task and answer."""
        workers, given = label_matrix(answers, self.transcript.terms)
        at = {worker: place for place, worker in enumerate(workers)}
        owners = [
            None if owner is None else at.get(self.names[owner], NONE)
            for owner in self.found.owners
        ]
        return scored(given, self.found.columns, owners, self.truths)

    def table(self) -> Mapping[str, npt.NDArray[Any]]:
        """The labels that were found: worker (or column), task, label.

        Of columns without an owner nobody knows whose they are: they are numbered. Labels of
        unanimous tasks stand for everybody who answered, where no column has them.
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
    """The transcript in a file; what is wrong with it is said with the file's name."""
    place = Path(path)
    try:
        if place.stat().st_size > LONGEST:
            raise DataError("is too large to be a transcript", file=str(place))
        transcript = Transcript.parse(place.read_text(encoding="utf-8"), str(place))
    except FileNotFoundError:
        raise DataError("there is no such file", file=str(place)) from None
    except UnicodeDecodeError:
        raise DataError("not a transcript: no text", file=str(place)) from None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", file=str(place)) from None
    _check(transcript, str(place))
    return transcript


def recover_labels(transcript: Transcript) -> Recovery:
    """The labels that can be computed from a transcript, by whoever has it: no key is needed.

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
        # They explain the counts, as other labels do: nothing was found.
        found, off = replace(found, outcome="none", columns=found.columns[:0], owners=()), None
    truths = planner_of(transcript.terms).result(transcript.opened).truths.astype(np.int64)
    names = tuple(transcript.assignments or ())
    return Recovery(transcript, found, names, truths, True if off == 0 else None)


def _check(transcript: Transcript, file: str | None = None) -> None:
    """Refuse totals of another length than the planner of the terms asks for."""
    planner, opened = planner_of(transcript.terms), transcript.opened
    if not opened:
        raise DataError("nothing was opened: no labels can be computed from it", file=file)
    for number, each in enumerate(opened):
        spec = planner.next(opened[:number])
        if spec is None:
            raise DataError(f"round {number} comes after the last of these terms", file=file)
        if len(each.totals) != spec.values or (each.totals > spec.greatest * each.workers).any():
            raise DataError(f"round {number} is not what these terms add up", file=file)


def _observed(transcript: Transcript) -> Observed:
    """All totals as one vector over tasks for each slot, less the offset that all workers add."""
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
    """How far the totals of workers with the found labels are from those that were opened.

    It cannot be told where some of them fell silent, since nobody knows which.
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
