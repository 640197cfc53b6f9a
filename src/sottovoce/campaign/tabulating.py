"""A campaign's tables, chunk by chunk: reports, votes, truths, workers and tasks.

Reports, truths and weights of a simulated campaign are in columns that say so, as `perturb` names
the column of simulated reports: nothing that is copied from such a table loses the stamp.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection

from sottovoce.campaign.report_columns import (
    COUNT,
    NUMBER,
    TEXT,
    label_column,
    label_texts,
    report_column,
    reporting_mechanism,
    stamped,
)
from sottovoce.campaign.results import certainty_name, truth_columns, worker_columns
from sottovoce.campaign.sealed.opening import slot_names
from sottovoce.campaign.service import Service
from sottovoce.campaign.shelf import Shelved
from sottovoce.errors import Reason, Refused
from sottovoce.mechanisms.codes import code_type
from sottovoce.mechanisms.policies import sealed_of
from sottovoce.model import Alphabet
from sottovoce.server.database.campaigns import Stored, task_names, tasks_at
from sottovoce.server.database.results import find_result
from sottovoce.server.database.sealed_campaigns import find_opened
from sottovoce.server.database.stored_reports import (
    Packed,
    count_reports,
    factorized,
    packed_by_worker,
    worker_names,
)
from sottovoce.tables.writers import Chunk

__all__ = [
    "Table",
    "crowdkit_table",
    "reports_table",
    "tasks_table",
    "totals_table",
    "truths_table",
    "workers_table",
]

ROWS = 50_000
"""Rows of a result that are written at once."""


@dataclass(frozen=True, slots=True)
class Table:
    """Columns with their SQL types, how many rows there are, and the rows in chunks.

    A column with `words` holds places among them.
    """

    kinds: Mapping[str, str]
    rows: int
    chunks: Iterator[Chunk]
    words: Mapping[str, Sequence[Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Some reports, by pseudonym and then by the task's place."""

    worker: npt.NDArray[np.int32]
    task: npt.NDArray[np.uint32]
    code: npt.NDArray[Any]
    names: list[str]

    def workers(self, rows: npt.NDArray[np.intp] | slice = slice(None)) -> list[str]:
        return [self.names[worker] for worker in self.worker[rows].tolist()]


def reports_table(connection: Connection, stored: Stored) -> Table:
    """Worker, task and report, as `perturb` writes them."""
    report = report_column(stored)
    words: dict[str, Sequence[Any]] = {"task": task_names(connection, stored.number)}
    if report.labels is not None:
        words[report.name] = report.labels

    def chunks() -> Iterator[Chunk]:
        for rows in _by_worker(connection, stored):
            codes = rows.code if report.name in words else report.written(rows.code)
            yield rows.workers(), rows.task.tolist(), codes.tolist()

    kinds = {"worker": TEXT, "task": TEXT, report.name: report.kind}
    return Table(kinds, count_reports(connection, stored.number), chunks(), words)


def crowdkit_table(connection: Connection, stored: Stored) -> Table:
    """Task, worker and label: a row for each label that a report votes for, none for NULL."""
    mechanism, domain = reporting_mechanism(stored), stored.campaign.terms.policy.domain
    if domain.is_numeric or mechanism.alphabet not in _VOTING:
        raise Refused(
            Reason.NOT_FOUND,
            "the reports of this campaign are no labels, and crowd-kit's tables hold labels: take "
            "reports.csv",
        )
    kind, labels = label_column(domain)
    counted = sum(
        len(_votes(rows, mechanism.alphabet, domain.size)[0])
        for rows in _by_worker(connection, stored)
    )

    def chunks() -> Iterator[Chunk]:
        for rows in _by_worker(connection, stored):
            votes, codes = _votes(rows, mechanism.alphabet, domain.size)
            yield rows.task[votes].tolist(), rows.workers(votes), codes.tolist()

    kinds = {"task": TEXT, "worker": TEXT, "label": kind}
    names = task_names(connection, stored.number)
    return Table(kinds, counted, chunks(), {"task": names, "label": labels})


def truths_table(service: Service, connection: Connection, stored: Stored) -> Table:
    """Task, truth, confidence or standard error, and answers; by the task's place."""
    shelved = _shelved(service, connection, stored)
    policy = stored.campaign.terms.policy
    kind = NUMBER if shelved.columns.is_numeric else label_column(policy.domain)[0]
    total = len(shelved.columns.place)

    def chunks() -> Iterator[Chunk]:
        for start in range(0, total, ROWS):
            rows = np.arange(start, min(start + ROWS, total))
            task, truth, *others = truth_columns(shelved, policy, rows).values()
            yield task, label_texts(truth) if kind == TEXT else truth, *others

    names = ("task", stamped("truth", stored), certainty_name(shelved), "answers")
    return Table(dict(zip(names, (TEXT, kind, NUMBER, COUNT), strict=True)), total, chunks())


def workers_table(service: Service, connection: Connection, stored: Stored) -> Table:
    """Worker, weight and answers; by pseudonym."""
    shelved = _shelved(service, connection, stored)
    total = len(shelved.columns.weight)
    chunks = (
        list(worker_columns(shelved, start, start + ROWS).values())
        for start in range(0, total, ROWS)
    )
    kinds = {"worker": TEXT, stamped("weight", stored): NUMBER, "answers": COUNT}
    return Table(kinds, total, chunks)


def totals_table(connection: Connection, stored: Stored) -> Table:
    """Task, slot and noised count of a sealed campaign: all that was ever opened."""
    campaign = stored.campaign
    if not campaign.terms.policy.sealed:
        raise Refused(
            Reason.NOT_FOUND, "the campaign is not sealed, and has no totals: take reports.csv"
        )
    found = find_opened(connection, stored.number, campaign.tasks)
    if found is None:
        raise Refused(Reason.NOT_FOUND, "nothing is opened yet: keyholders open totals at the end")
    names = task_names(connection, stored.number)
    slots = slot_names(sealed_of(campaign.terms.policy), campaign.terms.policy.domain)
    width = len(slots)

    def chunks() -> Iterator[Chunk]:
        for start in range(0, len(names), max(1, ROWS // width)):
            places = range(start, min(start + max(1, ROWS // width), len(names)))
            tasks = [place for place in places for _ in slots]
            totals = found.totals[places.start : places.stop].ravel().tolist()
            yield tasks, [*range(width)] * len(places), totals

    kinds = {"task": TEXT, "slot": TEXT, "noised_total": COUNT}
    return Table(kinds, len(names) * width, chunks(), {"task": names, "slot": slots})


def tasks_table(connection: Connection, stored: Stored) -> Table:
    """Task, text and image, by place."""
    total = stored.campaign.tasks

    def chunks() -> Iterator[Chunk]:
        for start in range(0, total, ROWS):
            places = range(start, min(start + ROWS, total))
            tasks = tasks_at(connection, stored.number, places)
            yield [t.name for t in tasks], [t.text for t in tasks], [t.image for t in tasks]

    return Table(dict.fromkeys(("task", "text", "image"), TEXT), total, chunks())


def _by_worker(connection: Connection, stored: Stored) -> Iterator[_Rows]:
    campaign = stored.campaign
    kind = code_type(reporting_mechanism(stored).alphabet)
    for packed in packed_by_worker(connection, stored.number, kind, block=campaign.block):
        yield _sorted(packed)


def _sorted(packed: Packed) -> _Rows:
    submission, pseudonyms = factorized(packed.pseudonyms)
    worker = np.repeat(submission, packed.count)
    order = np.lexsort((packed.task, worker))
    return _Rows(worker[order], packed.task[order], packed.code[order], worker_names(pseudonyms))


_VOTING = (Alphabet.LABELS, Alphabet.LABELS_OR_NULL, Alphabet.SUBSETS)


def _votes(
    rows: _Rows, alphabet: Alphabet, labels: int
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """The rows that vote for a label, and the labels' codes; a set votes for each of its labels."""
    if alphabet is Alphabet.SUBSETS:
        bits = np.arange(labels, dtype=np.uint64)
        votes, codes = np.nonzero(rows.code[:, np.newaxis] >> bits & np.uint64(1))
        return votes, codes
    votes = np.flatnonzero(rows.code < labels)
    return votes, rows.code[votes].astype(np.intp)


def _shelved(service: Service, connection: Connection, stored: Stored) -> Shelved:
    found = find_result(connection, stored.number)
    if found is None:
        when = (
            "once the keyholders have opened the totals"
            if stored.campaign.terms.policy.sealed
            else "a few seconds after the first reports"
        )
        raise Refused(Reason.NOT_FOUND, f"nothing is inferred yet: truths come {when}")
    return service.shelf.result(connection, stored, found)
