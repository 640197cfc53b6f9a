"""The attack on the transcript of a private EM, and its score.

The score is compared with what anyone could guess.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from sottovoce.api.input_output import read
from sottovoce.errors import DataError
from sottovoce.model import Reports, label_text
from sottovoce.model.sum_rounds import Integers, OpenedSum
from sottovoce.securesum.em.contributor import EMContributor
from sottovoce.securesum.em.planner import EMPlanner, codec_of, planner_of
from sottovoce.securesum.em.sensitivity import NoisedSlots
from sottovoce.securesum.em.terms import EMTerms, Mode
from sottovoce.securesum.em.transcript import Transcript
from sottovoce_studies.p2.attack.candidate_columns import Group, View, narrowed
from sottovoce_studies.p2.attack.contributions import Contributions
from sottovoce_studies.p2.attack.recovery import NONE, Observed, RecoveryOutcome, recover, unanimous

NEAR = 1e-9
"""The tolerance of a worker's logarithm: the order of summation depends on the order of answers."""

LONGEST = 1_000_000_000
"""The most bytes of a transcript file."""

EVERYBODY = "everybody who answered"


@dataclass(frozen=True, slots=True)
class RecoveryScore:
    """Out of `answers` labels: `right` by the attack, `guessed` by the published truths.

    The attack gives the labels of its columns, then those that are certain, and the published
    truth where it has none. Columns without an owner count for the worker they fit best. `exact`
    columns are right in every label, and `owned` of those also have the right owner. `certain`
    labels are claimed to be known for sure, and `certain_right` of them are right.
    """

    answers: int
    right: int
    guessed: int
    exact: int
    owned: int
    certain: int
    certain_right: int


@dataclass(frozen=True, slots=True)
class WorkerLeak:
    """The uncertainty left about one worker with `answers` answers.

    Its true column is proven to be among `candidates` columns; None: not counted. `certain` labels
    are the same in all of them. `worker` is None if the names are unknown.
    """

    worker: str | None
    answers: int
    candidates: int | None
    certain: int


def label_counts(answers: Any, terms: EMTerms) -> tuple[list[str], Integers]:
    """The workers of a table, and how often (workers, tasks, labels) each gave each label."""
    if isinstance(answers, Reports) or terms.repeats == 1:
        table = read(answers)
    else:
        table = read(answers, repeats="keep")
    if table.domain.is_numeric:
        raise DataError("these answers are numbers, but a private EM needs labels")
    tasks = _codes(map(str, table.tasks), terms.tasks, "task")
    labels = _codes(map(label_text, table.domain.labels), terms.labels, "label")
    given = np.zeros((len(table.workers), len(terms.tasks), len(terms.labels)), np.int64)
    np.add.at(given, (table.worker, tasks[table.task], labels[table.value.astype(np.int64)]), 1)
    return [str(worker) for worker in table.workers], given


def _fitted(
    given: Integers, columns: Integers, owners: Sequence[int | None]
) -> dict[int, int | None]:
    """The owner of each column; those without one get the best-fitting worker left."""
    free = [place for place, owner in enumerate(owners) if owner is None]
    rows = np.setdiff1d(np.arange(len(given)), [owner for owner in owners if owner is not None])
    fit = np.array([np.minimum(given[rows], columns[place]).sum(axis=(1, 2)) for place in free])
    if not fit.size:
        return dict(enumerate(owners))
    chosen, row = linear_sum_assignment(-fit)
    best = {free[int(place)]: int(rows[at]) for place, at in zip(chosen, row, strict=True)}
    return {**dict(enumerate(owners)), **best}


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

    `labels` (columns, tasks, labels) counts the labels of each column that was found, and `owners`
    has the worker of each among `names`, or None. `groups` has the proven candidate columns of all
    workers; it is empty if the attacker does not know who answered which tasks. Columns that were
    found but are not `proven` are likely. `outcome` says whether all were found, some, or why
    none. `rank` is that of everything the attacker knows, and `needed` the rank at which the span
    of all labels is known.

    `reproduced` is True if the columns reproduce every total of every round exactly. It is None if
    that is unknown: columns are missing, a worker dropped out, or the scale is so large that the
    last digits depend on the order of a worker's answers. `truths` are the codes of the private
    EM's truths, which anyone can use as a guess of the labels.
    """

    transcript: Transcript = field(repr=False)
    names: tuple[str, ...]
    rank: int
    needed: int
    outcome: RecoveryOutcome
    labels: Integers = field(repr=False)
    owners: tuple[int | None, ...] = field(repr=False)
    groups: tuple[Group, ...] = field(repr=False)
    agreed: Integers = field(repr=False)
    truths: Integers = field(repr=False)
    reproduced: Literal[True] | None

    @property
    def columns(self) -> int:
        """The number of workers whose labels were found."""
        return len(self.labels)

    @property
    def linked(self) -> tuple[str, ...]:
        """The names of workers whose labels were found and linked to them."""
        return tuple(self.names[owner] for owner in self.owners if owner is not None)

    @property
    def proven(self) -> int:
        """The number of columns that are proven to be those of the workers."""
        return sum(len(group.workers) for group in self.groups if group.known)

    @property
    def unanimous(self) -> int:
        """The number of unanimous tasks, whose counts alone reveal all labels."""
        return int((self.agreed != NONE).sum())

    @property
    def unanimous_labels(self) -> int:
        """The number of labels of unanimous tasks."""
        if not self.unanimous:
            return 0
        counts = self.transcript.opened[0].totals.reshape(len(self.agreed), -1)
        return int(counts[self.agreed != NONE].sum())

    @property
    def leaks(self) -> tuple[WorkerLeak, ...]:
        """For each worker, how many columns are left; empty if nobody's tasks are known."""
        places = {place: group for group in self.groups for place in group.workers}
        return tuple(self._leak(place, group) for place, group in sorted(places.items()))

    def _leak(self, place: int, group: Group) -> WorkerLeak:
        distinct = group.distinct
        return WorkerLeak(
            self.names[place] if self.names else None,
            int(group.times.sum()),
            None if distinct is None else len(distinct),
            int(group.times[group.certain() | (self.agreed != NONE)].sum()),
        )

    @property
    def certain(self) -> int:
        """The number of labels that are known for sure; without `groups`, not whose they are."""
        return sum(leak.certain for leak in self.leaks) if self.groups else self.unanimous_labels

    def score(self, answers: Any) -> RecoveryScore:
        """The score against the true answers, a table of worker, task and answer."""
        workers, given = label_counts(answers, self.transcript.terms)
        at = {worker: place for place, worker in enumerate(workers)}
        times = given.sum(axis=2)
        said = times[:, :, None] * _one_hot(self.truths, given.shape[2])
        guessed = int(np.minimum(said, given).sum())
        rows = [at.get(name, NONE) for name in self.names] or list(range(len(given)))
        sure = np.broadcast_to(self.agreed != NONE, times.shape).copy()
        agreed = times[:, :, None] * _one_hot(self.agreed, given.shape[2])
        said = np.where(sure[:, :, None], agreed, said)
        for group in self.groups:
            for place in group.workers:
                if group.columns is not None and 0 <= place < len(rows) and rows[place] != NONE:
                    tasks = group.certain()
                    said[rows[place], tasks] = group.columns[0][tasks]
                    sure[rows[place], tasks] = True
        certain_right = int(np.minimum(said, given)[sure].sum())
        owners = [None if owner is None else rows[owner] for owner in self.owners]
        exact = owned = 0
        for place, row in _fitted(given, self.labels, owners).items():
            if row is None or row == NONE:
                continue
            column = self.labels[place]
            same = bool((given[row] == column).all())
            exact, owned = exact + same, owned + (same and owners[place] is not None)
            said[row] = np.where(column.sum(axis=1, keepdims=True) > 0, column, said[row])
        return RecoveryScore(
            int(given.sum()),
            int(np.minimum(said, given).sum()),
            guessed,
            exact,
            owned,
            int(times[sure].sum()),
            certain_right,
        )

    def table(self) -> Mapping[str, npt.NDArray[Any]]:
        """The labels that were found or are certain: worker (or column), task, label.

        Columns without an owner are numbered. Labels of unanimous tasks that are in no column apply
        to all workers who answered. A label that was given twice has two rows.
        """
        parts = [
            (f"column {number}" if owner is None else self.names[owner], column)
            for number, (owner, column) in enumerate(zip(self.owners, self.labels, strict=True), 1)
        ]
        named = set(self.linked)
        for group in self.groups if self.names else ():
            if group.columns is not None:
                sure = group.columns[0] * group.certain()[:, None]
                names = [self.names[place] for place in group.workers]
                parts += [(name, sure) for name in names if name not in named]
        if self.columns < self.transcript.workers:
            agreed = _one_hot(self.agreed, len(self.transcript.terms.labels))
            parts.append((EVERYBODY, agreed))
        rows = [
            (worker, task, label)
            for worker, column in parts
            for task, label in zip(*np.nonzero(column), strict=True)
            for _ in range(column[task, label])
        ]
        terms = self.transcript.terms
        return {
            "worker": np.array([worker for worker, _, _ in rows], object),
            "task": np.array([terms.tasks[task] for _, task, _ in rows], object),
            "label": np.array([terms.labels[label] for _, _, label in rows], object),
        }


def _one_hot(codes: Integers, labels: int) -> Integers:
    """1 at the code of each task, 0 everywhere if there is none."""
    return np.asarray(codes[:, None] == np.arange(labels), np.int64)


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
    >>> recovery.outcome, recovery.linked, recovery.reproduced
    ('all', ('w0', 'w1', 'w2', 'w3'), True)
    """
    _check(transcript)
    observed, (groups, likely) = _observed(transcript), _groups(transcript)
    names = tuple(transcript.assignments or ())
    known = [group for group in likely if group.known]
    outcome: RecoveryOutcome = "all"
    if likely and len(known) == len(likely):
        labels, owners = _known_columns(known, names)
    else:
        found = recover(observed)
        labels, owners = _counted(found.columns, len(transcript.terms.labels)), found.owners
        outcome = found.outcome
    off = _distance(transcript, labels)
    if off is not None and off > NEAR * transcript.terms.scale * transcript.workers:
        # Other labels explain the counts too: nothing was found.
        labels, owners, off, outcome = labels[:0], (), None, "none"
        known = [group for group in groups if group.known]
    if known and outcome != "all":
        labels, owners = _known_columns(known, names)
        outcome = "some"
    exact = observed.counts
    return Recovery(
        transcript,
        names,
        observed.rank,
        observed.needed,
        outcome,
        labels,
        owners,
        groups,
        np.full(len(transcript.terms.tasks), NONE) if exact is None else unanimous(exact),
        planner_of(transcript.terms).result(transcript.opened).truths.astype(np.int64),
        True if off == 0 else None,
    )


def _groups(transcript: Transcript) -> tuple[tuple[Group, ...], tuple[Group, ...]]:
    """Proven and likely candidate columns of all workers, if it is known who answered which tasks.

    Without assignments it is known if the counts show that all workers answered all tasks.
    """
    terms, first = transcript.terms, transcript.opened[0]
    if terms.mode is Mode.NOISED or first.workers != transcript.workers:
        return (), ()
    counts = first.totals.reshape(len(terms.tasks), -1)
    if transcript.assignments is not None:
        times = _times(transcript)
    elif terms.repeats == 1:
        times = np.ones((transcript.workers, len(terms.tasks)), np.int64)
    else:
        return (), ()
    if len(times) != transcript.workers or (times.sum(axis=0) != counts.sum(axis=1)).any():
        return (), ()
    return narrowed(
        View(counts, _observed(transcript).vectors, Contributions.of(transcript)), times
    )


def _known_columns(
    groups: Sequence[Group], names: Sequence[str]
) -> tuple[Integers, tuple[int | None, ...]]:
    """The columns of these groups; a column has an owner if it is the only one of its group."""
    pairs: list[tuple[int | None, Integers]] = []
    for group in groups:
        columns = np.empty(0) if group.columns is None else group.columns
        alone = bool(names) and (columns == columns[:1]).all()
        owners = group.workers if alone else (None,) * len(group.workers)
        pairs += zip(owners, columns, strict=True)
    pairs.sort(key=lambda pair: len(names) if pair[0] is None else pair[0])
    return np.array([column for _, column in pairs]), tuple(owner for owner, _ in pairs)


def _counted(codes: Integers, labels: int) -> Integers:
    """Columns of label codes (columns, tasks) as counts (columns, tasks, labels)."""
    return np.asarray(codes[:, :, None] == np.arange(labels), np.int64)


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
        None if transcript.assignments is None else _times(transcript) > 0,
    )


def _vectors(terms: EMTerms, number: int, opened: OpenedSum) -> Integers:
    if terms.mode is Mode.NOISED:
        slots = NoisedSlots(terms)
        return np.rint(slots.decoded(number, opened) * slots.unit(number)).astype(np.int64)
    codec = codec_of(terms)
    zero = round(-codec.low * codec.scale) if number else 0
    return (opened.totals - opened.workers * zero).reshape(len(terms.tasks), -1)


def _times(transcript: Transcript) -> Integers:
    """How often each worker (rows) was assigned each task."""
    assignments = transcript.assignments or {}
    at = {task: place for place, task in enumerate(transcript.terms.tasks)}
    times = np.zeros((len(assignments), len(at)), np.int64)
    for row, tasks in zip(times, assignments.values(), strict=True):
        np.add.at(row, [at[task] for task in tasks], 1)
    return times


def _distance(transcript: Transcript, labels: Integers) -> int | None:
    """The distance between the totals of the found labels and the opened ones.

    It is unknown if workers dropped out, because it is not known which.
    """
    opened = transcript.opened
    if {each.workers for each in opened} != {len(labels)} or len(labels) != transcript.workers:
        return None
    planner = EMPlanner(transcript.terms)
    workers = []
    for column in labels:
        task, label = np.nonzero(column)
        times = column[task, label]
        answers = np.repeat(task, times), np.repeat(label, times)
        workers.append(EMContributor(transcript.terms, *answers, planner))
    distances = []
    for number, each in enumerate(opened):
        ours = np.sum([worker.values(opened[:number]) for worker in workers], axis=0)
        distances.append(int(np.abs(ours - each.totals).max()))
    return max(distances)
