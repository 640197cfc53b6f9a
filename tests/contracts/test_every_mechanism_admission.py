"""Every mechanism: what it sends is admitted as what it was, and nothing else is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from sottovoce.datasets.seeded_randomness import SeededRandomness
from sottovoce.errors import UsageError
from sottovoce.mechanisms.codes import admitted_codes, code_type, longest_report, written_reports
from sottovoce.model import Alphabet, Cells, ReportCodes

if TYPE_CHECKING:
    from tests.contracts.conftest import Case

OTHERS: list[Any] = [
    "svr_CANARY", "", " ", "0 0", "-1", "64", "0 1 2 3 4", "null", True, None, b"0",
    1e300, -1e300, 10**400, 2**53, float("inf"), float("nan"),
]  # fmt: skip
"""What none of these mechanisms sends."""


def drawn(case: Case) -> ReportCodes:
    """Reports on every answer, many times."""
    rows = np.resize(np.array(case.answers, np.int32), (200, 3))
    randomness, cells = SeededRandomness(3), case.cells(rows)
    reports: Cells = case.mechanism.perturb(
        cells, case.mechanism.draw(len(rows), randomness), randomness
    )
    return reports.code


def sent(case: Case, codes: ReportCodes) -> list[Any]:
    """The reports as they arrive: written, sent as JSON, read."""
    written = written_reports(codes, case.mechanism.alphabet, case.domain)
    arrived: list[Any] = json.loads(json.dumps(written))
    return arrived


def test_every_drawn_report_comes_back_as_its_code(case: Case) -> None:
    codes = drawn(case)
    admitted = admitted_codes(sent(case, codes), case.mechanism, case.domain)
    packed = admitted.astype(code_type(case.mechanism.alphabet))
    if case.mechanism.alphabet is Alphabet.NUMBERS:
        assert packed == pytest.approx(codes, rel=1e-12, abs=1e-9)
    else:
        assert packed.tolist() == codes.tolist()


def test_no_report_is_longer_than_the_longest(case: Case) -> None:
    longest = max(len(json.dumps(report)) for report in sent(case, drawn(case)))
    assert longest <= longest_report(case.mechanism, case.domain) <= 200


def test_nothing_else_is_admitted_nor_quoted(case: Case) -> None:
    before = sent(case, drawn(case))[:2]
    for report in OTHERS:
        with pytest.raises(UsageError) as refused:
            admitted_codes([*before, report], case.mechanism, case.domain)
        assert str(refused.value) in (
            "report 3 is not one that this policy's mechanism can send",
            "a report is too large a number",
        )
