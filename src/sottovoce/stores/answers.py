"""The column of answers as label codes or numbers, under a given domain or a guessed one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.errors import DataError
from sottovoce.model import Codes, Domain, FloatArray, Kind, Label
from sottovoce.model.reports import LARGEST
from sottovoce.stores.coding import (
    Vocabulary,
    cells_of,
    codes_of,
    fault_of,
    numbers_of,
    vocabulary_of,
)
from sottovoce.stores.faults import LONGEST, Fault, Faults
from sottovoce.stores.guessing import MOST_LABELS, guessed_kind
from sottovoce.stores.opening import Table

__all__ = [
    "Answers",
    "Labels",
    "answers_of",
    "beyond",
    "label_codes",
    "labels_of",
    "sorted_labels",
    "too_many_labels",
]


@dataclass(frozen=True, slots=True)
class Answers:
    """The column of answers, its domain and its faults."""

    values: Codes | FloatArray
    domain: Domain
    faults: Faults | None


@dataclass(frozen=True, slots=True)
class Labels:
    """The distinct cells of a column of labels, and the code or negative fault of each."""

    vocabulary: Vocabulary
    codes: Codes
    domain: Domain


def answers_of(table: Table, wanted: Domain | Kind | None, role: str = "answer") -> Answers:
    """The answers under the domain that is wanted, or inferred when None is."""
    kind = wanted.kind if isinstance(wanted, Domain) else wanted
    guessed = kind is None
    if kind is None:
        kind = guessed_kind(table, role)
    if kind is Kind.NUMERIC:
        domain = wanted if isinstance(wanted, Domain) else Domain.numeric()
        return _numbers(table, domain, role)
    wanted = wanted if isinstance(wanted, Domain) else kind
    labels = labels_of(table, wanted, role, guessed=guessed)
    values = codes_of(table, labels.vocabulary, labels.codes)
    return Answers(values, labels.domain, fault_of(values))


def _numbers(table: Table, domain: Domain, role: str) -> Answers:
    values, faults = numbers_of(table, role)
    outside = beyond(values, domain)
    if outside.any():
        faults = np.zeros(len(values), np.int8) if faults is None else faults
        faults = np.where(outside & (faults == 0), np.int8(Fault.OUTSIDE), faults)
    return Answers(values, domain, faults)


def beyond(values: FloatArray, domain: Domain) -> npt.NDArray[np.bool_]:
    """Which numbers are out of the domain's range, or too large to be added up."""
    with np.errstate(invalid="ignore"):
        return (values < max(domain.low, -LARGEST)) | (values > min(domain.high, LARGEST))


def labels_of(table: Table, wanted: Domain | Kind, role: str, *, guessed: bool) -> Labels:
    """The labels of a column; refused where they were only guessed to be some and are many."""
    vocabulary = vocabulary_of(table, cells_of(table, role))
    if guessed and len(vocabulary.cells) > MOST_LABELS:
        raise DataError(
            too_many_labels(len(vocabulary.cells)), file=table.name, column=table.columns[role]
        )
    domain, codes = label_codes(vocabulary.cells, vocabulary.missing, vocabulary.lengths, wanted)
    return Labels(vocabulary, codes, domain)


def too_many_labels(found: int) -> str:
    """What to say of a column of guessed labels that are hardly labels."""
    return (
        f"{found:,} distinct labels: are they numbers (--domain numeric) or ids, or is it another "
        "column (--columns answer=…)? --domain categorical takes them"
    )


def label_codes(
    distinct: Iterable[Any],
    missing: npt.NDArray[np.bool_],
    lengths: npt.NDArray[np.int64],
    wanted: Domain | Kind,
) -> tuple[Domain, Codes]:
    """The domain of distinct cells, unless it is given, and the code of each; below 0 a fault."""
    cells = [_scalar(cell) for cell in distinct]
    usable = ~missing & (lengths <= LONGEST)
    if isinstance(wanted, Domain):
        domain = wanted
    else:
        found = [
            cell for cell, good in zip(cells, usable, strict=True) if good and cell is not None
        ]
        domain = Domain(wanted, tuple(sorted_labels(found)) or ("",))
    places = {_key(label): code for code, label in enumerate(domain.labels)}
    codes = np.array([places.get(_key(cell), -Fault.UNKNOWN) for cell in cells], np.int32)
    codes[lengths > LONGEST] = -Fault.LONG
    codes[missing | np.array([cell is None for cell in cells], np.bool_)] = -Fault.EMPTY
    return domain, codes


def sorted_labels(labels: list[Label]) -> list[Label]:
    """By number where all are numbers, else as text."""
    try:
        return sorted(labels, key=lambda label: (float(label), str(label)))
    except ValueError:
        return sorted(labels, key=str)


def _scalar(cell: Any) -> Label | None:
    """A Python label; whole fractions become integers, since that is what pandas made them of."""
    value: Label = cell.item() if isinstance(cell, np.generic) else cell
    if isinstance(value, float):
        if np.isnan(value):
            return None
        return int(value) if value.is_integer() else value
    return value


def _key(label: Label | None) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)
