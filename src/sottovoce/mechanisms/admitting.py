"""Reports that arrive: from what is written back to codes, if the mechanism can have sent them."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.mechanisms.tables import parsed_points, parsed_subset, report_domain
from sottovoce.model import Alphabet, Domain, Grid, Label, ReportCodes
from sottovoce.seams import Mechanism

__all__ = ["admitted_codes", "code_type", "longest_report"]


def admitted_codes(reports: Sequence[Label], mechanism: Mechanism, domain: Domain) -> ReportCodes:
    """The codes of reports as `written_reports` wrote them. Errors say which, and quote none.

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
    """The most characters of one report in JSON, where letters beyond ASCII may be escaped."""
    match mechanism.alphabet:
        case Alphabet.SUBSETS:
            return len(json.dumps(" ".join(map(str, range(64)))))
        case Alphabet.POINTS | Alphabet.NUMBERS:
            return len(json.dumps(-sys.float_info.max))
        case alphabet:
            return max(len(json.dumps(label)) for _, label in _places(alphabet, domain))


@lru_cache(maxsize=64)
def _places(alphabet: Alphabet, domain: Domain) -> dict[tuple[type, Label], int]:
    written = report_domain(alphabet, domain)
    assert isinstance(written, Domain)  # noqa: S101 - subsets and numbers are handled before
    return {(type(label), label): code for code, label in enumerate(written.labels)}


def _read(
    reports: Sequence[Label], alphabet: Alphabet, domain: Domain
) -> tuple[ReportCodes, npt.NDArray[np.bool_]]:
    """The codes of reports, and which of them are written as reports of this alphabet are."""
    match alphabet:
        case Alphabet.SUBSETS:
            masks = [_mask(report) for report in reports]
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
            labels = _places(alphabet, domain)
            codes = [labels.get((type(report), report)) for report in reports]
            return np.array([code or 0 for code in codes], np.int32), _there(codes)


def _there(codes: list[int | None]) -> npt.NDArray[np.bool_]:
    return np.array([code is not None for code in codes], bool)


def _mask(report: Label) -> int | None:
    """The mask of a subset; None also where a member is there twice."""
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
    raise UsageError(f"report {place + 1:,} is none that this policy's mechanism sends")
