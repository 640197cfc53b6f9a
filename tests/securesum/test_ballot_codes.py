"""Answers as codes, by the policy's formula."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.errors import DataError
from sottovoce.mechanisms.sealed_sum import Layout
from sottovoce.model import NULL, Domain, Label
from sottovoce.securesum.ballot import Ballot, ballot_codes

VOTES = Ballot(Layout.VOTES, 3, hidden=True)
SUM = Ballot(Layout.SUM, 256, hidden=False)
BINS = Ballot(Layout.HISTOGRAM, 16, hidden=False)
STARS = Domain.ordinal([1, 2, 3])


def test_a_label_is_its_place_and_none_is_null() -> None:
    assert ballot_codes([3, "1", None], STARS, VOTES).tolist() == [2, 0, NULL]


@given(st.integers(0, 256 * 8))
def test_a_number_is_its_nearest_step_half_to_even(eighths: int) -> None:
    """Numbers that floats represent exactly, so that the exact formula must come out."""
    found = ballot_codes([eighths / 8], Domain.numeric(0, 256), SUM)
    assert found.tolist() == [round(Fraction(eighths, 8))]


@given(st.floats(-40, 60.5))
def test_every_number_of_the_range_has_a_code_near_it(number: float) -> None:
    domain = Domain.numeric(-40, 60.5)
    step, bin_ = (ballot_codes([number], domain, ballot)[0] for ballot in (SUM, BINS))
    assert 0 <= step <= 256
    assert abs(-40 + step * 100.5 / 256 - number) <= 100.5 / 512 + 1e-9
    assert 0 <= bin_ <= 15
    assert -1e-9 <= number - (-40 + bin_ * 100.5 / 16) <= 100.5 / 16 + 1e-9


def test_the_last_bin_has_the_end_of_the_range_and_every_other_its_beginning() -> None:
    found = ballot_codes([0, 1, 14.999, 15, 16], Domain.numeric(0, 16), BINS)
    assert found.tolist() == [0, 1, 14, 15, 15]


@pytest.mark.parametrize(
    ("values", "domain", "ballot"),
    [
        (["secret"], STARS, VOTES),
        (["secret"], Domain.numeric(0, 1), SUM),
        ([987654321.0], Domain.numeric(0, 1), SUM),
        ([np.nan], Domain.numeric(0, 1), BINS),
    ],
)
def test_what_is_no_answer_is_refused_without_being_quoted(
    values: list[Label], domain: Domain, ballot: Ballot
) -> None:
    with pytest.raises(DataError) as refusal:
        ballot_codes(values, domain, ballot)
    assert "secret" not in str(refusal.value)
    assert "987" not in str(refusal.value)
