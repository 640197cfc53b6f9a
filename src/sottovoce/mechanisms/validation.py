"""Validation of parameters and inputs; errors name the field and its allowed values.

Answers of mechanisms for numbers are the points 0, …, steps of a public grid.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.errors import DataError, UsageError
from sottovoce.model import NULL, WORDS, Cells, Codes, Domain, Grid, Kind, ReportCodes
from sottovoce.model.grid import FINEST
from sottovoce.model.policy import fields_of, short

LABELS = frozenset({Kind.CATEGORICAL, Kind.ORDINAL})
MOST_LABELS = 1 << 20


def check_integer(field: str, value: Any, low: int, high: int) -> None:
    """Refuse anything but an integer from low to high."""
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise UsageError(f"{field} must be an integer from {low:,} to {high:,}, not {short(value)}")


def check_labels(labels: Any) -> None:
    """Refuse fewer than two labels."""
    check_integer("labels", labels, 2, MOST_LABELS)


def check_weight(field: str, value: Any, high: int = WORDS - 1) -> None:
    """Refuse an invalid weight over 2^64: a symbol that cannot occur would reveal the answer."""
    check_integer(field, value, 1, high)


def label_count(domain: Domain, mechanism: str) -> int:
    """The number of labels of a domain; numbers are refused."""
    if domain.is_numeric:
        raise UsageError(f"{mechanism} takes labels, not numbers: use laplace or piecewise")
    check_labels(domain.size)
    return domain.size


def check_answers(cells: Cells, symbols: int, *, null: bool = False) -> Codes:
    """The cells' codes, all from 0 to symbols - 1, or NULL if that is allowed.

    The error never quotes an answer.
    """
    codes = cells.code
    if codes.dtype != np.int32:
        raise DataError(f"answers must be 4-byte codes, not {codes.dtype}")
    lowest = NULL if null else 0
    # As unsigned numbers negative codes are the largest: one pass finds both kinds of fault.
    if codes.size and (codes - lowest if null else codes).view(np.uint32).max() >= symbols - lowest:
        row = int(np.flatnonzero((codes < lowest) | (codes >= symbols))[0]) + 1
        raise DataError(
            f"answer {row:,} is not in the domain of the policy, which has {symbols:,} values"
            f"{' and NULL' if null else ' and no NULL'}",
            row=row,
        )
    return codes.astype(np.int32, copy=False)


def codes_within(codes: ReportCodes, low: int, high: int) -> npt.NDArray[np.bool_]:
    """A mask of the report codes from low to high."""
    return (codes >= low) & (codes <= high)


def mechanism_fields(
    document: Any, name: str, required: set[str], optional: frozenset[str] = frozenset()
) -> Mapping[str, Any]:
    """The fields of a mechanism's JSON form, which must have the given name."""
    fields = fields_of(document, f"the policy's mechanism {name}", required | {"name"}, optional)
    if fields["name"] != name:
        raise UsageError(f"the policy's mechanism is {fields['name']!r}, not {name!r}")
    return fields


def word_weight(fields: Mapping[str, Any], field: str) -> int:
    """A weight over 2^64, which is a string of digits in JSON."""
    text = fields[field]
    if isinstance(text, str) and text.isascii() and text.isdigit() and len(text) <= 20:
        return int(text)
    raise UsageError(f"the policy's {field} must be a string of up to 20 digits, not {short(text)}")


def integer(fields: Mapping[str, Any], field: str) -> int:
    """A small integer, which is an integer in JSON."""
    value = fields[field]
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise UsageError(f"the policy's {field} must be an integer, not {short(value)}")


NUMBERS = frozenset({Kind.NUMERIC, Kind.ORDINAL})

MOST_ENTRIES = 1 << 22
"""The maximum size of a channel that is written out."""

FARTHEST = 1 << 30
"""Points of the grid beyond which noise is rejected."""


def grid_of(domain: Domain, mechanism: str) -> Grid:
    """The grid of a domain; labels without an order are refused."""
    if domain.kind not in NUMBERS:
        raise UsageError(
            f"{mechanism} takes numbers or labels in order, not {domain}: use randomized-response"
        )
    return Grid.over(domain)


def has_grid(domain: Domain) -> bool:
    """Whether answers are numbers, or ordered labels that are equally spaced."""
    if domain.kind is not Kind.ORDINAL:
        return domain.is_numeric
    try:
        Grid.over(domain)
    except UsageError:
        return False
    return True


def check_steps(steps: Any) -> None:
    """Refuse a grid with no step, or with too many."""
    check_integer("steps", steps, 1, FINEST)


def check_entries(answers: int, reports: int) -> None:
    """Refuse to write out a channel that is too large to use."""
    if answers * reports > MOST_ENTRIES:
        raise UsageError(
            f"the channel has {answers:,} answers and {reports:,} reports, more than "
            f"{MOST_ENTRIES:,} entries: use log_likelihood, or a coarser step"
        )


def check_within(what: str, codes: npt.ArrayLike, low: int, high: int) -> npt.NDArray[np.int64]:
    """Codes, all from low to high; the error names the row and never the code."""
    given = np.asarray(codes)
    wrong = (given < low) | (given > high)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0]) + 1
        raise DataError(f"{what} {row:,} is not a code from {low:,} to {high:,}", row=row)
    return given.astype(np.int64)
