"""Faults of cells, and their messages."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from sottovoce.errors import DataError
from sottovoce.model import Domain
from sottovoce.model.reports import LARGEST
from sottovoce.tables.relation import Relation

LONGEST = 1000
"""The largest number of characters of a name or a label."""

Faults = npt.NDArray[np.int8]
"""For each row a Fault, or 0."""


class Fault(IntEnum):
    """Why a cell cannot be used."""

    EMPTY = 1
    LONG = 2
    UNKNOWN = 3
    TEXT = 4
    INFINITE = 5
    OUTSIDE = 6


REASONS = {
    Fault.EMPTY: "empty {}",
    Fault.LONG: "{} longer than 1,000 characters",
    Fault.UNKNOWN: "{} not among the labels",
    Fault.TEXT: "{} not a number",
    Fault.INFINITE: "{} NaN or infinite",
    Fault.OUTSIDE: "{} out of range",
}
"""Names for the counts of dropped rows, by role."""


def shown(value: object) -> str:
    """The value that was read, cut to 40 characters."""
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= 40 else text[:39] + "…"


def counted(
    faults: Mapping[str, Faults | None], rows: int
) -> tuple[npt.NDArray[np.int64] | None, dict[str, int]]:
    """The positions of the sound rows (None: all), and the others by reason; a row counts once."""
    sound = np.ones(rows, np.bool_)
    reasons: dict[str, int] = {}
    for role, fault in faults.items():
        if fault is not None:
            counts = np.bincount(fault[sound], minlength=len(Fault) + 1)
            reasons |= {REASONS[k].format(role): int(counts[k]) for k in Fault if counts[k]}
            sound &= fault == 0
    return (np.flatnonzero(sound) if reasons else None), reasons


def raise_first(
    table: Relation, faults: Mapping[str, Faults | None], domain: Domain | None
) -> None:
    """Raise for the first faulty cell, if there is one."""
    firsts = [
        (int(np.argmax(fault != 0)), role)
        for role, fault in faults.items()
        if fault is not None and fault.any()
    ]
    if not firsts:
        return
    position, role = min(firsts, key=lambda first: first[0])
    fault = faults[role]
    kind = Fault(int(fault[position])) if fault is not None else Fault.EMPTY
    (cell,) = table.one(f"SELECT {role} FROM {table.relation} LIMIT 1 OFFSET {position}")
    raise DataError(
        complaint(kind, role, cell, domain, private=table.private),
        file=table.name,
        row=table.row_of(position),
        column=table.columns[role],
    )


def complaint(
    kind: Fault, role: str, cell: object, domain: Domain | None, *, private: bool = False
) -> str:
    """The message for a faulty cell."""
    found = "this cell" if private else shown(cell)
    way = 'fix it, or pass bad_rows="drop"'
    match kind:
        case Fault.EMPTY:
            return f"empty cell: {way}"
        case Fault.LONG:
            return (
                f"{found} has {len(str(cell)):,} characters, more than {LONGEST:,}: "
                "is a quote missing?"
            )
        case Fault.UNKNOWN:
            return f"{found} is not one of the labels of {' '.join(str(domain).split())}: {way}"
        case Fault.TEXT:
            return f"{found} is not a number: {way}"
        case Fault.INFINITE:
            return f"{found} is not a finite number: {way}"
        case Fault.OUTSIDE:
            low, high = (domain.low, domain.high) if domain else (0, 0)
            low, high = max(low, -LARGEST), min(high, LARGEST)
            return f"{found} is outside the range {low:g}..{high:g}: {way}"
