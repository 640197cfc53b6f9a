"""Reports that arrive: from what is written back to codes, if the mechanism can have sent them."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.mechanisms.sampling import Sampled
from sottovoce.mechanisms.tables import parsed_points, parsed_subset, report_domain
from sottovoce.model import Alphabet, Domain, Grid, Label, ReportCodes
from sottovoce.seams import Mechanism

__all__ = ["admitted_codes", "code_type", "longest_report"]

FARTHEST = 1 << 30
"""Points of the grid beyond which no noise is believed."""


def admitted_codes(reports: Sequence[Label], mechanism: Mechanism, domain: Domain) -> ReportCodes:
    """The codes of reports as `written_reports` wrote them. Errors say which, and quote none.

    >>> from sottovoce.mechanisms import RandomizedResponse
    >>> domain = Domain.categorical(["no", "yes"])
    >>> admitted_codes(["yes"], RandomizedResponse.calibrated(domain, 1.0), domain).tolist()
    [1]
    """
    if isinstance(mechanism, Sampled):
        return admitted_codes(reports, mechanism.mechanism, domain)
    match mechanism.alphabet:
        case Alphabet.SUBSETS:
            return _subsets(reports, mechanism)
        case Alphabet.POINTS:
            return _points(reports, mechanism, domain)
        case Alphabet.NUMBERS:
            return _numbers(reports, domain)
        case alphabet:
            places = _places(alphabet, domain)
            codes = [places.get((type(report), report)) for report in reports]
            if None in codes:
                _refuse(codes.index(None))
            return np.array(codes, np.int32)


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


def _subsets(reports: Sequence[Label], mechanism: Any) -> ReportCodes:
    symbols = (mechanism.bins or mechanism.labels) + mechanism.null
    masks = []
    for place, report in enumerate(reports):
        mask = parsed_subset(report) if isinstance(report, str) else None
        if mask is None or mask >> symbols or mask.bit_count() != mechanism.size:
            _refuse(place)
        if str(report).count(" ") >= mechanism.size:  # a member that is there twice
            _refuse(place)
        masks.append(mask)
    return np.array(masks, np.uint64)


def _points(reports: Sequence[Label], mechanism: Any, domain: Domain) -> ReportCodes:
    grid = Grid.over(domain)
    with np.errstate(over="ignore", invalid="ignore"):
        codes, on_grid = parsed_points(_floats(reports), grid)
    # Noise without bounds of its own (random-variance Gaussian) still lands on a finite grid.
    beyond = getattr(mechanism, "beyond", FARTHEST)
    fine = on_grid & (codes >= -beyond) & (codes <= grid.steps + beyond)
    if not fine.all():
        _refuse(int(np.argmin(fine)))
    return codes.astype(np.int32)


def _numbers(reports: Sequence[Label], domain: Domain) -> ReportCodes:
    grid = Grid.over(domain)
    with np.errstate(over="ignore", invalid="ignore"):
        places = (_floats(reports) - float(grid.low)) / float(grid.step)
    fine = np.abs(places) <= FARTHEST
    if not fine.all():
        _refuse(int(np.argmin(fine)))
    return places


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
