"""Conversion between tables and codes: answers for a mechanism, and its reports.

Reports from outside become codes only if the mechanism can have sent them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from sottovoce.errors import DataError, UsageError
from sottovoce.model import (
    NULL,
    Alphabet,
    Cells,
    Codes,
    Domain,
    FloatArray,
    Grid,
    Kind,
    Label,
    Names,
    ReportCodes,
    Reports,
    label_text,
)
from sottovoce.seams import Mechanism

NULL_TEXT = "NULL"
"""The text of a report without a value."""

_SIDES = ("below", "not below")
_ENDS = ("low", "high")


def answer_codes(values: Sequence[Label | None], domain: Domain) -> Codes:
    """Answers as codes of labels or of points of the grid; None is NULL. Errors quote no answer."""
    codes = np.full(len(values), NULL, np.int32)
    given = np.array([value is not None for value in values], bool)
    if domain.is_numeric:
        codes[given] = Grid.over(domain).codes(_numbers(values))
        return codes
    places = _places(domain)
    for row, value in enumerate(values):
        if value is not None:
            code = places.get(label_text(value))
            if code is None:
                raise DataError(f"answer {row + 1:,} is not one of the labels of {domain}")
            codes[row] = code
    return codes


def _places(domain: Domain) -> dict[str, int]:
    return {label_text(label): code for code, label in enumerate(domain.labels)}


def _numbers(values: Sequence[Label | None]) -> list[float]:
    try:
        return [float(value) for value in values if value is not None]
    except ValueError:
        raise DataError("an answer is not a number, but the policy asks for numbers") from None


def answer_cells(answers: Reports, domain: Domain) -> Cells:
    """A table of raw answers as cells under a policy's domain."""
    if domain.is_numeric:
        codes = Grid.over(domain).codes(answers.as_numbers().value)
    elif answers.domain.is_numeric:
        raise UsageError(f"the answers are numbers, but the policy asks for {domain}")
    else:
        places = _places(domain)
        known = np.array([places.get(label_text(label), NULL) for label in answers.domain.labels])
        codes = known[answers.value].astype(np.int32)
        if (codes == NULL).any():
            row = int(np.flatnonzero(codes == NULL)[0]) + 1
            raise DataError(f"answer {row:,} is not one of the labels of {domain}", row=row)
    return Cells(answers.worker, answers.task, codes, answers.workers, answers.tasks)


def report_domain(alphabet: Alphabet, domain: Domain) -> Domain | Kind:
    """The domain of a table of reports."""
    match alphabet:
        case Alphabet.LABELS:
            return domain
        case Alphabet.LABELS_OR_NULL:
            return Domain(domain.kind, (*domain.labels, NULL_TEXT))
        case Alphabet.SUBSETS:
            return Kind.CATEGORICAL
        case Alphabet.SIDES:
            return Domain.categorical(_SIDES)
        case Alphabet.SIDES_OR_NULL:
            return Domain.categorical((*_SIDES, NULL_TEXT))
        case Alphabet.ENDS:
            return Domain.categorical(_ENDS)
        case _:
            return Domain.numeric()


def recoded(reports: Reports, expected: Domain | Kind) -> Reports:
    """Check a table that was read without its policy, and give it the domain of `report_domain`."""
    if reports.domain == expected:
        return reports
    numbers = isinstance(expected, Domain) and expected.is_numeric
    if numbers != reports.domain.is_numeric and not (
        numbers and reports.domain.kind is Kind.ORDINAL
    ):
        raise UsageError(f"these are {reports.domain}, but the policy's reports are {expected}")
    if numbers:
        return reports.as_numbers()
    if isinstance(expected, Kind):
        return reports
    places = _places(expected)
    codes = np.array([places.get(label_text(label), NULL) for label in reports.domain.labels])
    value = codes[reports.value].astype(np.int32)
    if (value == NULL).any():
        row = int(np.flatnonzero(value == NULL)[0]) + 1
        raise DataError(
            f"report {row:,} is not one of the labels of {expected}: was it made under this "
            "policy?",
            row=row,
        )
    return replace(reports, value=value, domain=expected)


def written_reports(codes: ReportCodes, alphabet: Alphabet, domain: Domain) -> list[Any]:
    """Reports as they are written: labels, numbers, or a subset's label codes as `0 3 7`."""
    if alphabet is Alphabet.SUBSETS:
        masks = map(int, codes)
        return [" ".join(str(i) for i in range(64) if mask >> i & 1) for mask in masks]
    if alphabet in (Alphabet.POINTS, Alphabet.NUMBERS):
        numbers: list[Any] = Grid.over(domain).values(codes).tolist()
        return numbers
    written = report_domain(alphabet, domain)
    assert isinstance(written, Domain)  # noqa: S101 - the only kind without labels is above
    return [written.labels[code] for code in codes.tolist()]


def report_table(reports: Cells, alphabet: Alphabet, domain: Domain, *, simulated: bool) -> Reports:
    """Reports as a table."""
    written = report_domain(alphabet, domain)
    value: npt.NDArray[Any] = reports.code
    if alphabet is Alphabet.SUBSETS:
        masks, places = np.unique(reports.code.astype(np.uint64), return_inverse=True)
        value = places.astype(np.int32)
        written = Domain.categorical(written_reports(masks, alphabet, domain))
    elif alphabet in (Alphabet.POINTS, Alphabet.NUMBERS):
        value = Grid.over(domain).values(reports.code)
    assert isinstance(written, Domain)  # noqa: S101 - subsets have just been given labels
    return Reports(
        reports.worker,
        reports.task,
        value,
        reports.workers,
        reports.tasks,
        written,
        simulated=simulated,
    )


def report_cells(reports: Reports, alphabet: Alphabet, domain: Domain) -> Cells:
    """The codes of a table of reports that was read under `report_domain`."""
    code: ReportCodes
    if alphabet is Alphabet.SUBSETS:
        code = np.array([_mask(str(a)) for a in reports.domain.labels], np.uint64)[reports.value]
    elif alphabet is Alphabet.NUMBERS:
        grid = Grid.over(domain)
        code = np.asarray((reports.value - float(grid.low)) / float(grid.step), np.float64)
    elif alphabet is Alphabet.POINTS:
        code = _points(reports.value, Grid.over(domain))
    else:
        code = reports.value.astype(np.int32)
    return Cells(reports.worker, reports.task, code, reports.workers, reports.tasks)


def parsed_points(values: npt.NDArray[Any], grid: Grid) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """The nearest points of the grid as codes, and which values lie on one."""
    places = (values - float(grid.low)) / float(grid.step)
    codes = np.rint(places)
    on_grid = np.abs(places - codes) <= 1e-6 + 1e-12 * np.abs(codes)
    return codes, on_grid & (np.abs(codes) <= np.iinfo(np.int32).max)


def _points(values: npt.NDArray[Any], grid: Grid) -> Codes:
    codes, on_grid = parsed_points(values, grid)
    if not on_grid.all():
        row = int(np.flatnonzero(~on_grid)[0]) + 1
        raise DataError(
            f"report {row:,} is not on the policy's grid of steps of {float(grid.step):g}: "
            "it was not made under this policy",
            row=row,
        )
    return codes.astype(np.int32)


def _mask(text: str) -> int:
    mask = parsed_subset(text)
    if mask is None:
        raise DataError("a report is not a subset: write the numbers of its labels, as 0 3 7")
    return mask


def parsed_subset(text: str) -> int | None:
    """The mask of a subset that is written as `0 3 7`; None for anything else."""
    members = text.split(" ", 64)
    if not all(_is_member(member) for member in members):
        return None
    return sum(1 << int(member) for member in set(members))


def _is_member(text: str) -> bool:
    return len(text) <= 2 and text.isascii() and text.isdigit() and int(text) < 64


def names_of(values: Sequence[str]) -> Names:
    """Names as a vocabulary."""
    names = np.empty(len(values), dtype=object)
    names[:] = values
    return names


def admitted_codes(reports: Sequence[Label], mechanism: Mechanism, domain: Domain) -> ReportCodes:
    """The codes of reports that `written_reports` wrote. Errors name the row and quote nothing.

    >>> from sottovoce.mechanisms import RandomizedResponse
    >>> domain = Domain.categorical(["no", "yes"])
    >>> admitted_codes(["yes"], RandomizedResponse.calibrated(domain, 1.0), domain).tolist()
    [1]
    """
    codes, read = _read(reports, mechanism.alphabet, domain)
    fine = read & mechanism.admits(codes)
    if not fine.all():
        _refuse(int(np.argmin(fine)))
    return codes


def code_type(alphabet: Alphabet) -> np.dtype[Any]:
    """How codes of this alphabet are packed."""
    kinds = {Alphabet.SUBSETS: "<u8", Alphabet.NUMBERS: "<f8"}
    return np.dtype(kinds.get(alphabet, "<i4"))


def longest_report(mechanism: Mechanism, domain: Domain) -> int:
    """The maximum length of one report in JSON, where letters beyond ASCII may be escaped."""
    match mechanism.alphabet:
        case Alphabet.SUBSETS:
            return len(json.dumps(" ".join(map(str, range(64)))))
        case Alphabet.POINTS | Alphabet.NUMBERS:
            return len(json.dumps(-sys.float_info.max))
        case alphabet:
            return max(len(json.dumps(label)) for _, label in _sent_places(alphabet, domain))


@lru_cache(maxsize=64)
def _sent_places(alphabet: Alphabet, domain: Domain) -> dict[tuple[type, Label], int]:
    written = report_domain(alphabet, domain)
    assert isinstance(written, Domain)  # noqa: S101 - subsets and numbers are handled before
    return {(type(label), label): code for code, label in enumerate(written.labels)}


def _read(
    reports: Sequence[Label], alphabet: Alphabet, domain: Domain
) -> tuple[ReportCodes, npt.NDArray[np.bool_]]:
    """The codes of reports, and which of them are valid text for this alphabet."""
    match alphabet:
        case Alphabet.SUBSETS:
            masks = [_sent_mask(report) for report in reports]
            return np.array([mask or 0 for mask in masks], np.uint64), _there(masks)
        case Alphabet.POINTS:
            with np.errstate(over="ignore", invalid="ignore"):
                points, on_grid = parsed_points(_floats(reports), Grid.over(domain))
            return np.where(on_grid, points, 0).astype(np.int32), on_grid
        case Alphabet.NUMBERS:
            grid = Grid.over(domain)
            with np.errstate(over="ignore", invalid="ignore"):
                places = (_floats(reports) - float(grid.low)) / float(grid.step)
            return places, np.isfinite(places)
        case _:
            labels = _sent_places(alphabet, domain)
            codes = [labels.get((type(report), report)) for report in reports]
            return np.array([code or 0 for code in codes], np.int32), _there(codes)


def _there(codes: list[int | None]) -> npt.NDArray[np.bool_]:
    return np.array([code is not None for code in codes], bool)


def _sent_mask(report: Label) -> int | None:
    """The mask of a subset; None also if a member is repeated."""
    mask = parsed_subset(report) if isinstance(report, str) else None
    twice = mask is not None and str(report).count(" ") >= mask.bit_count()
    return None if twice else mask


def _floats(reports: Sequence[Label]) -> np.ndarray[Any, np.dtype[np.float64]]:
    for place, report in enumerate(reports):
        if type(report) not in (int, float):
            _refuse(place)
    try:
        return np.array(reports, np.float64)
    except OverflowError:
        raise UsageError("a report is too large a number") from None


def _refuse(place: int) -> NoReturn:
    raise UsageError(f"report {place + 1:,} is not one that this policy's mechanism can send")
