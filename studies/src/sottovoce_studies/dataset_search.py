"""Search for a dataset by the sizes that a paper prints, as by a fingerprint.

Every dataset of the cache is read and measured; the index is not trusted for its sizes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import Decimal

import numpy as np

from sottovoce.datasets import DatasetCard, list_datasets, load
from sottovoce.errors import DataError, UsageError
from sottovoce.model import Reports

__all__ = ["DatasetMatch", "DatasetSearch", "Fingerprint", "compared", "find"]

NEAR = 0.1
"""The largest relative difference of all sizes at which a dataset counts as near."""

LEAST_DIGITS = 3
"""Sparsities are compared to the digits given, and to no fewer."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The sizes of a dataset.

    `answers` counts distinct (worker, task) pairs and `rows` all rows of the source. A worker's
    sparsity is the share of the tasks that it did not answer (P4 Table II); `sparsity` is the mean
    over workers, which is also the share of pairs without an answer. Numbers have no `labels`.
    """

    workers: int
    tasks: int
    answers: int
    rows: int
    sparsity: float
    min_sparsity: float
    max_sparsity: float
    labels: int | None

    @classmethod
    def of(cls, reports: Reports, rows: int | None = None) -> Fingerprint:
        """The sizes of a table with one answer for each pair of worker and task."""
        tasks = len(reports.tasks)
        answered = np.bincount(reports.worker, minlength=len(reports.workers))
        sparsity = 1 - answered / tasks
        return cls(
            len(reports.workers),
            tasks,
            len(reports),
            len(reports) if rows is None else rows,
            1 - len(reports) / (len(reports.workers) * tasks),
            float(sparsity.min()),
            float(sparsity.max()),
            None if reports.domain.is_numeric else reports.domain.size,
        )


@dataclass(frozen=True, slots=True)
class DatasetMatch:
    """A dataset, and which of the requested sizes it has.

    `differing` maps a size to the pair of what was asked and what was found.
    """

    name: str
    fingerprint: Fingerprint
    matching: tuple[str, ...]
    differing: Mapping[str, tuple[float, float | None]]

    @property
    def exact(self) -> bool:
        """Whether every requested size is that of the dataset."""
        return not self.differing

    @property
    def distance(self) -> float:
        """The largest relative difference of a size; infinite for one that the dataset lacks."""
        return max((_apart(*pair) for pair in self.differing.values()), default=0.0)

    def __str__(self) -> str:
        same = " and ".join(filter(None, [", ".join(self.matching[:-1]), *self.matching[-1:]]))
        verb = "matches" if len(self.matching) == 1 else "match"
        parts = [f"{same} {verb}"] if same else []
        parts += [
            f"{size} {_figure(found)} instead of {_figure(asked)}"
            for size, (asked, found) in self.differing.items()
        ]
        return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class DatasetSearch:
    """The outcome of a search: exact and near matches, best first, and what was searched.

    `unreadable` maps the names of datasets that could not be read to the reason.
    """

    asked: Mapping[str, float]
    matches: tuple[DatasetMatch, ...]
    searched: tuple[str, ...]
    unreadable: Mapping[str, str]

    @property
    def exact(self) -> tuple[DatasetMatch, ...]:
        """The datasets that have every requested size."""
        return tuple(match for match in self.matches if match.exact)

    def __str__(self) -> str:
        near = [match.name for match in self.matches if not match.exact]
        found = [
            f"{len(names)} {kind}" + (f" ({', '.join(names)})" if names else "")
            for kind, names in (("exact", [match.name for match in self.exact]), ("near", near))
        ]
        sizes = ", ".join(f"{size} {_figure(value)}" for size, value in self.asked.items())
        count = f"{len(self.searched)} dataset{'s'[: len(self.searched) != 1]}"
        return f"searched {count} by {sizes}: found {', '.join(found)}"


def find(
    *,
    workers: int | None = None,
    tasks: int | None = None,
    answers: int | None = None,
    sparsity: float | None = None,
    min_sparsity: float | None = None,
    max_sparsity: float | None = None,
    labels: int | None = None,
) -> DatasetSearch:
    """Search the cached datasets by their sizes, for instance those that a paper prints.

    Counts must be equal; `answers` may be the distinct pairs or the rows of the source. Sparsities
    must be equal to the digits given, at least three. Near matches follow the exact ones: datasets
    that have at least half of the sizes, or all within 10 %.
    """
    given = {
        "workers": workers,
        "tasks": tasks,
        "answers": answers,
        "sparsity": sparsity,
        "min_sparsity": min_sparsity,
        "max_sparsity": max_sparsity,
        "labels": labels,
    }
    asked = {size: value for size, value in given.items() if value is not None}
    _check(asked)
    matches, searched, unreadable = [], [], {}
    for card in list_datasets():
        try:
            found = _measured(card)
        except DataError as error:
            unreadable[card.name] = str(error)
            continue
        searched.append(card.name)
        match = compared(card.name, found, asked)
        if 2 * len(match.matching) >= len(asked) or match.distance <= NEAR:
            matches.append(match)
    matches.sort(key=lambda match: (-len(match.matching), match.distance, match.name))
    return DatasetSearch(asked, tuple(matches), tuple(searched), unreadable)


def compared(name: str, found: Fingerprint, asked: Mapping[str, float]) -> DatasetMatch:
    """Compare the sizes of a dataset with the requested ones.

    >>> wsd = Fingerprint(34, 177, 1770, 1770, 0.705882, 0.0, 0.903955, 3)
    >>> print(compared("wsd", wsd, {"workers": 34, "tasks": 177, "answers": 770}))
    workers and tasks match; answers 1,770 instead of 770
    """
    matching, differing = [], {}
    for size, wanted in asked.items():
        value = getattr(found, size)
        if _equal(size, wanted, found):
            matching.append(size)
        else:
            differing[size] = (wanted, value)
    return DatasetMatch(name, found, tuple(matching), differing)


def _measured(card: DatasetCard) -> Fingerprint:
    reports, _ = load(card.name)
    rows = len(load(card.name, raw=True, repeats="keep")[0]) if card.has_raw else card.rows
    return Fingerprint.of(reports, rows)


def _check(asked: Mapping[str, float]) -> None:
    if not asked:
        sizes = ", ".join(field.name for field in fields(Fingerprint) if field.name != "rows")
        raise UsageError(f"give at least one size to search for: {sizes}")
    for size, value in asked.items():
        if size.endswith("sparsity"):
            if not 0 <= value <= 1:
                raise UsageError(f"{size} must lie in [0, 1], not {value:g}")
        elif value < 1:
            raise UsageError(f"{size} must be at least 1, not {value}")


def _equal(size: str, wanted: float, found: Fingerprint) -> bool:
    value = getattr(found, size)
    if size == "answers":
        return wanted in (found.answers, found.rows)
    if not size.endswith("sparsity"):
        return bool(value == wanted)
    exponent = Decimal(repr(float(wanted))).as_tuple().exponent
    digits = max(LEAST_DIGITS, -exponent if isinstance(exponent, int) else 0)
    return bool(abs(value - wanted) <= 0.5 * 10.0**-digits * (1 + 1e-9))


def _apart(asked: float, found: float | None) -> float:
    if found is None:
        return math.inf
    return abs(found - asked) / max(abs(asked), 1e-3)


def _figure(number: float | None) -> str:
    if number is None:
        return "none"
    return f"{number:,}" if isinstance(number, int) else f"{number:.6g}"
