"""Fits gathered reports, or the totals of a sealed campaign, into a result to store.

The reports of a campaign and their fit stay in memory; new reports are added. In a large campaign
the rounds start from that fit while it is open, unless reports were deleted. A result also says
whether the campaign has settled: more reports hardly change its truths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.api.infer import infer
from sottovoce.api.infer_opened import infer_opened, opened_under
from sottovoce.api.known_truths import aligned, clamped
from sottovoce.errors import SottovoceError, UsageError
from sottovoce.inference.agreement import agreement_of
from sottovoce.mechanisms.codes import names_of, report_table
from sottovoce.mechanisms.policies import mechanism_of
from sottovoce.model import (
    Cells,
    Codes,
    Domain,
    FloatArray,
    Gold,
    Grid,
    Names,
    Policy,
    Reading,
    Reports,
    Result,
    State,
)
from sottovoce.server.database.campaigns import Stored
from sottovoce.server.database.results import Columns, StoredResult, Summary
from sottovoce.server.database.sealed_campaigns import OpenedTotals
from sottovoce.server.database.stored_reports import PackedReports, factorized, worker_names
from sottovoce.tables.vocabulary import in_order
from sottovoce.version import __version__

FEWER = 0.9
"""A checkpoint is used once it has at most this share of the current reports."""

CHANGED = 0.01
"""The largest mean change of truths between the two, over all tasks, of a settled campaign."""


FEWEST = 5
"""Reports that every task must have: with fewer, truths may stay the same by chance."""

STARTED_FROM = 20_000
"""Number of reports from which a fit starts from the last one: small fits take no time."""

KEPT = ("settled", "checkpoint", "changed", "changed_since")
"""Fields that a result without a checkpoint takes from the one before."""

NOTHING_LEFT = "there is nothing to infer from: every report was deleted"


@dataclass(slots=True, eq=False)
class GatheredReports:
    """Reports up to a submission and a number of erasures: 8 or 12 bytes each, 24 a submission."""

    names: Names
    erasures: int
    sequence: int = 0
    known: Gold | None = None
    last: Result | None = None
    pseudonyms: bytearray = field(default_factory=bytearray)
    _parts: list[PackedReports] = field(default_factory=list)

    def add(self, packed: PackedReports) -> None:
        """Add submissions."""
        self.sequence = max(self.sequence, packed.sequence)
        self.pseudonyms += packed.pseudonyms
        self._parts.append(packed)

    def __len__(self) -> int:
        return sum(len(part) for part in self._parts)

    @property
    def nbytes(self) -> int:
        """The memory they take, including task names and the last fit."""
        arrays = sum(p.count.nbytes + p.task.nbytes + p.code.nbytes for p in self._parts)
        if self.last is not None and self.last.confusions is not None:
            arrays += self.last.confusions.nbytes
        return arrays + len(self.pseudonyms) + 100 * len(self.names)

    def reports(self, policy: Policy) -> tuple[Reports, npt.NDArray[np.int32]]:
        """The table as read from the exported file, row by row, and its tasks' places.

        Equal to the last bit: rows are by worker and then by the task's place, names in the order
        in which they appear.
        """
        whole = self._joined()
        code, distinct = factorized(bytes(self.pseudonyms))
        worker = np.repeat(code, whole.count)
        order = np.argsort(worker.astype(np.int64) * len(self.names) + whole.task, kind="stable")
        places = np.arange(len(self.names), dtype=np.int32)
        task, places = in_order(whole.task[order].astype(np.int32), places)
        workers = names_of(worker_names(distinct))
        cells = Cells(worker[order], task, whole.code[order], workers, self.names[places])
        alphabet = mechanism_of(policy).alphabet
        return report_table(cells, alphabet, policy.domain, simulated=False), places

    def _joined(self) -> PackedReports:
        if len(self._parts) > 1:
            columns: dict[str, Any] = {
                name: np.concatenate([getattr(part, name) for part in self._parts])
                for name in ("count", "task", "code")
            }
            # Pseudonyms are stored once, next to the parts.
            self._parts = [PackedReports(self.sequence, b"", **columns)]
        return self._parts[0]


@dataclass(frozen=True, slots=True)
class FittedResult:
    """A result to store: its summary and its packed columns."""

    found: StoredResult
    content: bytes


def fitted(
    gathered: GatheredReports, stored: Stored, before: Summary | None, checkpoint: Columns
) -> FittedResult:
    """Truths and weights from the gathered reports, or why there are none."""
    campaign = stored.campaign
    policy = campaign.terms.policy
    summary = Summary(
        reports=len(gathered),
        counted=campaign.counts.reports,
        policy_hash=policy.hash,
        version=__version__,
        settled=before is not None and before.settled,
        checkpoint=before.checkpoint if before else 0,
        changed=before.changed if before else None,
        changed_since=before.changed_since if before else 0,
    )
    try:
        is_open = campaign.state is State.OPEN
        summary, columns = _inferred(gathered, policy, summary, is_open=is_open)
    except SottovoceError as error:
        return _packed(gathered, replace(summary, problem=str(error)), checkpoint)
    except Exception as error:
        # The message of an unexpected error could contain a report.
        problem = (
            f"inference failed ({type(error).__name__}); it will be tried again with new reports"
        )
        return _packed(gathered, replace(summary, problem=problem), checkpoint)
    columns = replace(
        columns, before_place=checkpoint.before_place, before_truth=checkpoint.before_truth
    )
    return _packed(
        gathered, *with_stability(summary, columns, campaign.tasks, policy.domain, before)
    )


def _packed(gathered: GatheredReports, summary: Summary, columns: Columns) -> FittedResult:
    found = StoredResult(gathered.sequence, gathered.erasures, summary)
    if summary.problem is not None:
        nothing = Columns.none()
        columns = replace(
            nothing, before_place=columns.before_place, before_truth=columns.before_truth
        )
    return FittedResult(found, columns.pack())


def _inferred(
    gathered: GatheredReports, policy: Policy, summary: Summary, *, is_open: bool
) -> tuple[Summary, Columns]:
    if not len(gathered):
        return replace(summary, problem=NOTHING_LEFT), Columns.none()
    reports, places = gathered.reports(policy)
    counted = replace(reports, reading=Reading("the campaign", len(reports)))
    start = gathered.last if is_open and len(reports) >= STARTED_FROM else None
    result = _learnt(counted, policy, gathered.known, start)
    gathered.last = replace(result, origin=None, posterior=None)
    reading = result.provenance.reading
    summary = replace(
        summary,
        workers=len(result.workers),
        tasks=len(result.tasks),
        method=result.provenance.method,
        rounds=int(result.rounds),
        converged=bool(result.converged),
        warnings=result.warnings,
        left_out=sum(reading.dropped.values()) if reading else 0,
        known=result.provenance.known,
        calibration=result.provenance.calibration,
        started_from=result.provenance.started_from,
        alpha=_alpha(reports, policy),
    )
    return summary, _columns(result, reports, places, gathered)


def _learnt(reports: Reports, policy: Policy, known: Gold | None, start: Result | None) -> Result:
    """Truths from the reports and the known truths of tasks that have reports."""
    if known is None or not np.isin(known.tasks, reports.tasks).any():
        return infer(reports, policy=policy, start=start)
    try:
        return infer(reports, policy=policy, known=known, start=start)
    except UsageError:  # the method, or its model for this policy, cannot learn
        result = infer(reports, policy=policy, start=start)
        given = aligned(known, result.tasks, result.domain)
        return clamped(result, given, "the method of this policy cannot learn from known truths")


def _alpha(reports: Reports, policy: Policy) -> tuple[float, float, float] | None:
    """Krippendorff's alpha of reports that can each be read by itself, with its interval."""
    mechanism = mechanism_of(policy)
    if not mechanism.is_plain or mechanism.hides_participation:
        return None
    found = agreement_of(mechanism.plain(reports, policy.domain)).alpha
    if found.value is None or found.low is None or found.high is None:
        return None
    return found.value, found.low, found.high


def _columns(result: Result, reports: Reports, places: Codes, gathered: GatheredReports) -> Columns:
    """Truths by place; workers are already sorted by pseudonym."""
    order = np.argsort(places)
    none = Columns.none()
    return Columns(
        places[order],
        result.truths[order],
        _certainty(result)[order],
        result.answers[order],
        np.frombuffer(factorized(bytes(gathered.pseudonyms))[1], np.uint8),
        result.weights,
        np.bincount(reports.worker, minlength=len(reports.workers)),
        none.before_place,
        none.before_truth,
    )


def _certainty(result: Result) -> FloatArray:
    certainty = result.confidence if result.standard_error is None else result.standard_error
    assert certainty is not None  # noqa: S101 - every result has one of the two
    return certainty


def fitted_totals(found: OpenedTotals, stored: Stored, names: Sequence[str]) -> FittedResult:
    """Truths from opened totals, or why there are none. There are no weights."""
    campaign = stored.campaign
    counts, policy = campaign.counts, campaign.terms.policy
    summary = Summary(
        reports=counts.reports,
        counted=counts.reports,
        policy_hash=policy.hash,
        version=__version__,
        workers=found.workers,
        left_out=0 if found.answered is None else counts.reports - int(found.answered.sum()),
    )
    try:
        opened = opened_under(policy, names_of(names), found.totals, found.answered, found.workers)
        result = infer_opened(opened)
    except SottovoceError as error:
        return _packed_totals(stored, replace(summary, problem=str(error)), Columns.none())
    except Exception as error:
        # The message of an unexpected error could contain a total.
        problem = f"inference failed ({type(error).__name__})"
        return _packed_totals(stored, replace(summary, problem=problem), Columns.none())
    summary = replace(
        summary,
        tasks=len(result.tasks),
        method=result.provenance.method,
        rounds=int(result.rounds),
        converged=bool(result.converged),
        warnings=result.warnings,
    )
    return _packed_totals(stored, summary, _totals_columns(result, names))


def _packed_totals(stored: Stored, summary: Summary, columns: Columns) -> FittedResult:
    # A sealed campaign is closed before its totals are opened: there is only one result.
    found = StoredResult(
        stored.campaign.counts.submissions, stored.campaign.counts.erasures, summary
    )
    return FittedResult(found, columns.pack())


def _totals_columns(result: Result, names: Sequence[str]) -> Columns:
    place = {name: at for at, name in enumerate(names)}
    places = np.array([place[str(name)] for name in result.tasks], np.int32)
    order = np.argsort(places)
    return replace(
        Columns.none(),
        place=places[order],
        truth=result.truths[order],
        certainty=_certainty(result)[order],
        answers=np.asarray(result.answers)[order].astype(np.int64),
    )


def with_stability(
    summary: Summary, columns: Columns, tasks: int, domain: Domain, before: Summary | None
) -> tuple[Summary, Columns]:
    """The result with the campaign's stability, and with the checkpoint for later results.

    A result is compared with a checkpoint of at least 10 % fewer reports, and becomes the next
    checkpoint. The campaign has settled once every task has 5 reports and truths have changed by at
    most 1 % in between: for labels the share that changed, for numbers how far they moved on
    average, as a share of the range. It stays settled, because it is announced once. The change
    between the last two checkpoints stays in the result until the next one.
    """
    checkpoint = before.checkpoint if before else 0
    if before is not None and checkpoint > FEWER * summary.reports:
        kept = {name: getattr(before, name) for name in KEPT}
        return replace(summary, **kept), columns
    enough = len(columns.place) == tasks and int(columns.answers.min()) >= FEWEST
    change = _change(columns, tasks, domain)
    now = replace(columns, before_place=columns.place, before_truth=columns.truth)
    summary = replace(
        summary,
        settled=(before is not None and before.settled) or (enough and change <= CHANGED),
        checkpoint=summary.reports,
        changed=change if checkpoint else None,
        changed_since=checkpoint,
    )
    return summary, now


def _change(columns: Columns, tasks: int, domain: Domain) -> float:
    """The change of truths since the checkpoint, over all tasks that have a truth now.

    A new truth counts as fully changed.
    """
    if columns.before_truth.dtype.kind != columns.truth.dtype.kind:
        return 1.0
    moved = np.ones(tasks)
    before = _spread(columns.before_place, columns.before_truth, tasks)
    now = _spread(columns.place, columns.truth, tasks)
    known = ~(np.isnan(before) | np.isnan(now))
    distance = np.abs(now - before)[known]
    if columns.is_numeric:
        grid = Grid.over(domain)
        moved[known] = distance / float(grid.high - grid.low)
    else:
        moved[known] = distance > 0
    return float(moved[~np.isnan(now)].mean())


def _spread(
    place: npt.NDArray[np.int32], truth: npt.NDArray[np.generic], tasks: int
) -> npt.NDArray[np.float64]:
    spread = np.full(tasks, np.nan)
    spread[place] = truth
    return spread
