"""Reports as symbols of a channel for noise-aware inference, and as plain labels or numbers.

As symbols they have a finite law, coarsened if there are too many. Dropping digits of a report is
post-processing: the law of a coarse report is the sum of the laws of the reports in it, and stays
exact.

As labels and numbers they serve methods that do not model the noise.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from sottovoce.errors import DataError
from sottovoce.mechanisms.codes import report_cells
from sottovoce.model import (
    NULL,
    Alphabet,
    Domain,
    Evidence,
    FloatArray,
    Grid,
    NoisyChannel,
    PointChannel,
    Reading,
    Reports,
    SetChannel,
)
from sottovoce.seams import CellMechanism

MOST_POINTS = 256
"""Answers on a finer grid are assumed to lie on this many of its points."""
BINS = 256
"""The number of cells for reports that are numbers."""
SUMMED = 64
"""This many reports of a cell represent all of it if there are more."""

_NOTHING = "the report is NULL"


class LabelMechanism(CellMechanism, Protocol):
    """A mechanism whose reports are labels, with or without NULL."""

    @property
    def labels(self) -> int:
        """How many labels there are."""
        ...


class BoundedMechanism(CellMechanism, Protocol):
    """A mechanism whose reports are points of a grid that extends beyond the range."""

    @property
    def steps(self) -> int:
        """The number of steps of the range."""
        ...

    @property
    def beyond(self) -> int:
        """How many points a report may lie beyond either end of the range."""
        ...


def coded(
    reports: Reports,
    symbols: npt.NDArray[np.integer],
    channel: SetChannel | PointChannel | NoisyChannel,
) -> Evidence:
    """A table with symbols in place of reports, and their law."""
    table = replace(
        reports, value=symbols.astype(np.int32), domain=Domain.categorical(range(channel.symbols))
    )
    return Evidence(table, channel)


def label_evidence(
    mechanism: LabelMechanism,
    reports: Reports,
    domain: Domain,
    *,
    as_numbers: bool,
    states: tuple[FloatArray, FloatArray, FloatArray] | None = None,
) -> Evidence:
    """Each label is the set of itself; NULL, after the last label, is the empty set.

    `states` are P(the answer is reported) and P(one particular other symbol is) in each state that
    a worker may have drawn, and the state's probability; by default there is one state.
    """
    if domain.is_numeric or as_numbers:
        return listed_evidence(mechanism, reports, domain)
    labels, null = mechanism.labels, mechanism.hides_participation
    cells, symbols = report_cells(reports, mechanism.alphabet, domain), labels + null
    if states is None:
        same, other = mechanism.log_likelihood([0, 1], [0, 0])
        states = np.exp([same]), np.exp([other]), np.ones(1)
    starts = np.minimum(np.arange(symbols + 1), labels)
    channel = SetChannel(
        labels,
        starts.astype(np.int64),
        np.arange(labels, dtype=np.int32),
        *states,
        np.arange(symbols) == labels if null else np.zeros(0, bool),
    )
    return coded(reports, cells.code.astype(np.int64), channel)


def answer_points(domain: Domain) -> tuple[npt.NDArray[np.int64], FloatArray]:
    """Codes of answers, at most `MOST_POINTS` of them equally spaced, and their numbers."""
    grid = Grid.over(domain)
    count = min(grid.steps + 1, MOST_POINTS)
    codes = np.rint(np.linspace(0, grid.steps, count)).astype(np.int64)
    return codes, grid.values(codes)


def listed_evidence(mechanism: CellMechanism, reports: Reports, domain: Domain) -> Evidence:
    """Each report that occurs is a symbol."""
    cells = report_cells(reports, mechanism.alphabet, domain)
    listed = tuple(range(len(mechanism.channel().reports)))
    return coded(reports, cells.code.astype(np.int64), listed_channel(mechanism, domain, listed))


@lru_cache(maxsize=8)
def listed_channel(
    mechanism: CellMechanism, domain: Domain, reports: tuple[int, ...], *, masks: bool = False
) -> PointChannel:
    """The law of these reports (codes or masks of sets) given each answer."""
    # Cached, like those below: a simulation has the same channel in every trial.
    codes, points = answer_points(domain)
    rows = _with_null(codes, null=mechanism.hides_participation)
    columns = np.array(reports, np.uint64 if masks else np.int64)
    likelihood = np.exp(mechanism.log_likelihood(columns[None, :], rows[:, None]))
    return PointChannel(points, likelihood, mechanism.hides_participation)


def binned_evidence(mechanism: BoundedMechanism, reports: Reports, domain: Domain) -> Evidence:
    """Neighbouring reports are one symbol."""
    cells = report_cells(reports, mechanism.alphabet, domain)
    edges, channel = _binned(mechanism, domain)
    symbols = np.searchsorted(edges, cells.code + mechanism.beyond, side="right") - 1
    return coded(reports, symbols, channel)


@lru_cache(maxsize=8)
def _binned(
    mechanism: BoundedMechanism, domain: Domain
) -> tuple[npt.NDArray[np.int64], PointChannel]:
    first, count = -mechanism.beyond, mechanism.steps + 1 + 2 * mechanism.beyond
    # Cell b is edges[b] … edges[b + 1] - 1; each end, where reports are clamped, is its own cell.
    inner = np.linspace(1, count - 1, min(BINS, count - 2) + 1)
    edges = np.concatenate([[0], np.rint(inner).astype(np.int64), [count]])
    codes, points = answer_points(domain)
    rows = _with_null(codes, null=mechanism.hides_participation)
    likelihood = np.empty((len(rows), len(edges) - 1))
    for cell, size in enumerate(np.diff(edges).tolist()):
        some = edges[cell] + np.arange(min(size, SUMMED)) * size // min(size, SUMMED)
        law = np.exp(mechanism.log_likelihood(first + some[None, :], rows[:, None]))
        likelihood[:, cell] = law.mean(axis=1) * size
    likelihood /= likelihood.sum(axis=1, keepdims=True)
    return edges, PointChannel(points, likelihood, mechanism.hides_participation)


def _with_null(codes: npt.NDArray[np.int64], *, null: bool) -> npt.NDArray[np.int64]:
    return np.append(codes, NULL) if null else codes


def plain_labels(reports: Reports, alphabet: Alphabet, domain: Domain) -> Reports:
    """Labels unchanged; NULL, after the last label, is dropped."""
    if alphabet is Alphabet.LABELS:
        return reports
    return _rows(reports, reports.value < domain.size, reports.value, domain)


def plain_numbers(reports: Reports, codes: npt.NDArray[Any], domain: Domain) -> Reports:
    """Codes of a grid, perhaps between its points or beyond it, as numbers; NaN is dropped."""
    return _rows(reports, np.isfinite(codes), Grid.over(domain).values(codes), Domain.numeric())


def _rows(
    reports: Reports, kept: npt.NDArray[np.bool_], value: npt.NDArray[Any], domain: Domain
) -> Reports:
    if not kept.any():
        raise DataError("every report is NULL: there is nothing to infer from")
    rows = slice(None) if kept.all() else kept
    return replace(
        reports,
        worker=reports.worker[rows],
        task=reports.task[rows],
        value=value[rows],
        domain=domain,
        reading=left_out(reports, int(np.count_nonzero(~kept))),
    )


def left_out(reports: Reports, nulls: int) -> Reading | None:
    """How the table was read, with the number of dropped NULL reports."""
    if reports.reading is None or not nulls:
        return reports.reading
    return replace(reports.reading, dropped={**reports.reading.dropped, _NOTHING: nulls})
