"""The column of answers as label codes or numbers, under a given domain or a guessed one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.errors import DataError
from sottovoce.model import Codes, Domain, FloatArray, Kind, Label
from sottovoce.model.reports import LARGEST
from sottovoce.stores.coding import cells_of, codes_of, fault_of, numbers_of, vocabulary_of
from sottovoce.stores.faults import LONGEST, Fault, Faults
from sottovoce.stores.guessing import MOST_LABELS, guessed_kind
from sottovoce.stores.opening import Table

__all__ = ["Answers", "answers_of", "sorted_labels"]


@dataclass(frozen=True, slots=True)
class Answers:
    """The column of answers, its domain and its faults."""

    values: Codes | FloatArray
    domain: Domain
    faults: Faults | None


def answers_of(table: Table, wanted: Domain | Kind | None, role: str = "answer") -> Answers:
    """The answers under the domain that is wanted, or inferred when None is."""
    kind = wanted.kind if isinstance(wanted, Domain) else wanted
    guessed = kind is None
    if kind is None:
        kind = guessed_kind(table, role)
    if kind is Kind.NUMERIC:
        domain = wanted if isinstance(wanted, Domain) else Domain.numeric()
        return _numbers(table, domain, role)
    return _labels(table, wanted if isinstance(wanted, Domain) else kind, role, guessed=guessed)


def _numbers(table: Table, domain: Domain, role: str) -> Answers:
    values, faults = numbers_of(table, role)
    with np.errstate(invalid="ignore"):
        outside = (values < max(domain.low, -LARGEST)) | (values > min(domain.high, LARGEST))
    if outside.any():
        faults = np.zeros(len(values), np.int8) if faults is None else faults
        faults = np.where(outside & (faults == 0), np.int8(Fault.OUTSIDE), faults)
    return Answers(values, domain, faults)


def _labels(table: Table, wanted: Domain | Kind, role: str, *, guessed: bool) -> Answers:
    vocabulary = vocabulary_of(table, cells_of(table, role))
    if guessed and len(vocabulary.cells) > MOST_LABELS:
        raise DataError(
            f"{len(vocabulary.cells):,} distinct labels: are they numbers (--domain numeric) or "
            "ids, or is it another column (--columns answer=…)? --domain categorical takes them",
            file=table.name,
            column=table.columns[role],
        )
    cells = [_scalar(cell) for cell in vocabulary.cells]
    usable = ~vocabulary.missing & (vocabulary.lengths <= LONGEST)
    if isinstance(wanted, Domain):
        domain = wanted
    else:
        found = [
            cell for cell, good in zip(cells, usable, strict=True) if good and cell is not None
        ]
        domain = Domain(wanted, tuple(sorted_labels(found)) or ("",))
    places = {_key(label): code for code, label in enumerate(domain.labels)}
    codes = np.array([places.get(_key(cell), -Fault.UNKNOWN) for cell in cells], np.int32)
    codes[vocabulary.lengths > LONGEST] = -Fault.LONG
    codes[vocabulary.missing | np.array([cell is None for cell in cells])] = -Fault.EMPTY
    values = codes_of(table, vocabulary, codes)
    return Answers(values, domain, fault_of(values))


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
