"""Export tables of a campaign, chunk by chunk: reports, votes, truths, totals, workers and tasks.

Columns with reports, truths or weights of a simulated campaign carry the stamp in their names, as
in `perturb`, so that copied columns keep it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection

from sottovoce.errors import Reason, Refused
from sottovoce.mechanisms.codes import code_type, report_domain, written_reports
from sottovoce.mechanisms.policies import mechanism_of, sealed_of
from sottovoce.mechanisms.sealed_sum import Layout, SealedSum
from sottovoce.model import Alphabet, Domain, Grid, Label, ReportCodes, label_text
from sottovoce.seams import Mechanism
from sottovoce.server.campaigns.drafts import requesters_tasks
from sottovoce.server.campaigns.result_cache import CachedResult
from sottovoce.server.campaigns.results import certainty_name, truth_columns, worker_columns
from sottovoce.server.database.campaigns import Stored, known_truths, task_names
from sottovoce.server.database.results import find_result
from sottovoce.server.database.sealed_campaigns import find_opened
from sottovoce.server.database.stored_reports import (
    PackedReports,
    count_reports,
    factorized,
    packed_by_worker,
    worker_names,
)
from sottovoce.server.service import Service
from sottovoce.tables.writers import Chunk

TEXT, NUMBER, COUNT, MARK = "VARCHAR", "DOUBLE", "BIGINT", "BOOLEAN"

ANSWERED = "answered"

ROWS = 50_000
"""Rows of a result per chunk."""

_VOTING = (Alphabet.LABELS, Alphabet.LABELS_OR_NULL, Alphabet.SUBSETS)


@dataclass(frozen=True, slots=True)
class ReportColumn:
    """The column of reports: its name, its SQL type, and the labels if codes are their places."""

    name: str
    kind: str
    labels: Sequence[Label] | None
    alphabet: Alphabet
    domain: Domain

    def written(self, codes: ReportCodes) -> npt.NDArray[Any]:
        """Reports as text: labels, numbers, or sets as `0 3 7`."""
        if self.labels is not None:
            return _array(self.labels, self.kind)[codes]
        if self.alphabet is not Alphabet.SUBSETS:
            return Grid.over(self.domain).values(codes)
        # There are far fewer sets than reports, and each is slow to write.
        masks: npt.NDArray[np.uint64]
        masks, places = np.unique(codes, return_inverse=True)
        return _array(written_reports(masks, self.alphabet, self.domain), self.kind)[places]


def report_column(stored: Stored) -> ReportColumn:
    """The column of a campaign's reports; a sealed campaign has none."""
    alphabet, domain = reporting_mechanism(stored).alphabet, stored.campaign.terms.policy.domain
    written = report_domain(alphabet, domain)
    kind, labels = TEXT if alphabet is Alphabet.SUBSETS else NUMBER, None
    if isinstance(written, Domain) and not written.is_numeric:
        kind, labels = label_column(written)
    return ReportColumn(stamped("report", stored), kind, labels, alphabet, domain)


def reporting_mechanism(stored: Stored) -> Mechanism:
    """The mechanism of the reports; refused if they are sealed."""
    if stored.campaign.terms.policy.sealed:
        raise Refused(
            Reason.NOT_FOUND,
            "nobody can read the reports of a sealed campaign; export totals.csv or truths.csv",
        )
    return mechanism_of(stored.campaign.terms.policy)


def stamped(column: str, stored: Stored) -> str:
    """The name of a column that comes from reports."""
    return f"simulated_{column}" if stored.campaign.simulated else column


def label_column(domain: Domain) -> tuple[str, list[Label]]:
    """The type of a column of labels, and the labels: integers if all are, otherwise texts."""
    if all(isinstance(label, int) for label in domain.labels):
        return COUNT, list(domain.labels)
    return TEXT, label_texts(domain.labels)


def label_texts(labels: Sequence[Label]) -> list[Label]:
    """Labels as text."""
    return [label_text(label) for label in labels]


def _array(cells: Sequence[Any], kind: str) -> npt.NDArray[Any]:
    array = np.empty(len(cells), np.int64 if kind == COUNT else object)
    array[:] = cells
    return array


def slot_names(sealed: SealedSum, domain: Domain) -> list[str]:
    """The meaning of each slot in the totals of a task.

    >>> from sottovoce.mechanisms.sealed_sum import SealedSum
    >>> domain = Domain.categorical(["no", "yes"])
    >>> slot_names(SealedSum.calibrated(domain, 1.0), domain)
    ['yes']
    >>> slot_names(SealedSum.calibrated(domain, 1.0, hidden=True), domain)
    ['yes less no', 'answered']
    """
    if sealed.layout is Layout.HISTOGRAM:
        return _bins(sealed.size, domain)
    if sealed.layout is Layout.SUM:
        return ["steps from the middle", ANSWERED] if sealed.hidden else ["steps above the least"]
    labels = [label_text(label) for label in domain.labels]
    if sealed.size > 2:
        return labels
    return [f"{labels[1]} less {labels[0]}", ANSWERED] if sealed.hidden else labels[1:]


def _bins(size: int, domain: Domain) -> list[str]:
    """Equal parts of the range, each named by its ends."""
    grid = Grid.over(domain)
    low, width = Fraction(grid.low), (Fraction(grid.high) - Fraction(grid.low)) / size
    ends = [f"{float(low + place * width):g}" for place in range(size + 1)]
    return [f"{ends[place]} to {ends[place + 1]}" for place in range(size)]


@dataclass(frozen=True, slots=True)
class ExportTable:
    """A table: columns with SQL types, the number of rows, and the rows in chunks.

    A column with `words` holds indices into them.
    """

    kinds: Mapping[str, str]
    rows: int
    chunks: Iterator[Chunk]
    words: Mapping[str, Sequence[Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class _SortedRows:
    """A chunk of reports, sorted by pseudonym and then by the task's place."""

    worker: npt.NDArray[np.int32]
    task: npt.NDArray[np.uint32]
    code: npt.NDArray[Any]
    names: list[str]

    def workers(self, rows: npt.NDArray[np.intp] | slice = slice(None)) -> list[str]:
        return [self.names[worker] for worker in self.worker[rows].tolist()]


def reports_table(connection: Connection, stored: Stored) -> ExportTable:
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
    return ExportTable(kinds, count_reports(connection, stored.number), chunks(), words)


def crowdkit_table(connection: Connection, stored: Stored) -> ExportTable:
    """Task, worker and label: one row per label that a report votes for, none for NULL."""
    mechanism, domain = reporting_mechanism(stored), stored.campaign.terms.policy.domain
    if domain.is_numeric or mechanism.alphabet not in _VOTING:
        raise Refused(
            Reason.NOT_FOUND,
            "the reports of this campaign are not labels, which crowd-kit needs; export "
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
    return ExportTable(kinds, counted, chunks(), {"task": names, "label": labels})


def truths_table(service: Service, connection: Connection, stored: Stored) -> ExportTable:
    """Task, truth, confidence or standard error, answers, and known if any is; by place."""
    cached = _cached(service, connection, stored)
    policy = stored.campaign.terms.policy
    kind = NUMBER if cached.columns.is_numeric else label_column(policy.domain)[0]
    total = len(cached.columns.place)

    def chunks() -> Iterator[Chunk]:
        for start in range(0, total, ROWS):
            rows = np.arange(start, min(start + ROWS, total))
            task, truth, *others = truth_columns(cached, policy, rows).values()
            yield task, label_texts(truth) if kind == TEXT else truth, *others

    names = ("task", stamped("truth", stored), certainty_name(cached), "answers")
    kinds = dict(zip(names, (TEXT, kind, NUMBER, COUNT), strict=True))
    return ExportTable(kinds | ({"known": MARK} if cached.known else {}), total, chunks())


def workers_table(service: Service, connection: Connection, stored: Stored) -> ExportTable:
    """Worker, weight and answers; by pseudonym."""
    cached = _cached(service, connection, stored)
    total = len(cached.columns.weight)
    chunks = (
        list(worker_columns(cached, start, start + ROWS).values())
        for start in range(0, total, ROWS)
    )
    kinds = {"worker": TEXT, stamped("weight", stored): NUMBER, "answers": COUNT}
    return ExportTable(kinds, total, chunks)


def totals_table(connection: Connection, stored: Stored) -> ExportTable:
    """Task, slot and noisy count of a sealed campaign: everything that was opened."""
    campaign = stored.campaign
    if not campaign.terms.policy.sealed:
        raise Refused(
            Reason.NOT_FOUND, "the campaign is not sealed and has no totals; export reports.csv"
        )
    found = find_opened(connection, stored.number, campaign.tasks)
    if found is None:
        raise Refused(
            Reason.NOT_FOUND, "nothing is opened yet; keyholders open the totals after closing"
        )
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
    return ExportTable(kinds, len(names) * width, chunks(), {"task": names, "slot": slots})


def tasks_table(connection: Connection, stored: Stored) -> ExportTable:
    """Task, text, image, and the known truth if there is one; by place."""
    total = stored.campaign.tasks
    names = ["name", "text", "image"]
    if known_truths(connection, stored.number):
        names.append("known")

    def chunks() -> Iterator[Chunk]:
        for start in range(0, total, ROWS):
            places = range(start, min(start + ROWS, total))
            tasks = requesters_tasks(connection, stored.number, places)
            yield [[getattr(task, name) for task in tasks] for name in names]

    return ExportTable(dict.fromkeys(("task", *names[1:]), TEXT), total, chunks())


def _by_worker(connection: Connection, stored: Stored) -> Iterator[_SortedRows]:
    campaign = stored.campaign
    kind = code_type(reporting_mechanism(stored).alphabet)
    for packed in packed_by_worker(connection, stored.number, kind, block=campaign.block):
        yield _sorted(packed)


def _sorted(packed: PackedReports) -> _SortedRows:
    submission, pseudonyms = factorized(packed.pseudonyms)
    worker = np.repeat(submission, packed.count)
    order = np.lexsort((packed.task, worker))
    return _SortedRows(
        worker[order], packed.task[order], packed.code[order], worker_names(pseudonyms)
    )


def _votes(
    rows: _SortedRows, alphabet: Alphabet, labels: int
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """The rows that vote for a label, and the labels' codes; a set votes for each of its labels."""
    if alphabet is Alphabet.SUBSETS:
        bits = np.arange(labels, dtype=np.uint64)
        votes, codes = np.nonzero(rows.code[:, np.newaxis] >> bits & np.uint64(1))
        return votes, codes
    votes = np.flatnonzero(rows.code < labels)
    return votes, rows.code[votes].astype(np.intp)


def _cached(service: Service, connection: Connection, stored: Stored) -> CachedResult:
    found = find_result(connection, stored.number)
    if found is None:
        when = (
            "once the keyholders have opened the totals"
            if stored.campaign.terms.policy.sealed
            else "a few seconds after the first reports"
        )
        raise Refused(Reason.NOT_FOUND, f"nothing is inferred yet; truths appear {when}")
    return service.result_cache.result(connection, stored, found)
