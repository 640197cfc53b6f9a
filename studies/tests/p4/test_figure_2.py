"""Tests of study `p4-figure-2`: the statements of the text, and the verdict."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.p4.figure_2 import findings, judge
from sottovoce_studies.p4.sparse_tables import OURS, Found, Place
from sottovoce_studies.p4.sparse_trials import CLEAN

EPSILONS = (0.1, 1.0, 5.0)
AS_PUBLISHED: Mapping[str, Mapping[float, tuple[float, ...]]] = {
    "LP": {0.9: (4.0, 3.4, 3.4), 0.5: (3.0, 2.0, 2.0)},
    "RR": {0.9: (3.7, 3.6, 2.0), 0.5: (3.7, 3.4, 1.0)},
    "MF d 2": {0.9: (0.2, 0.2, 0.2), 0.5: (0.2, 0.2, 0.2)},
    "MF d 10": {0.9: (5.0, 0.2, 0.2), 0.5: (0.5, 0.2, 0.2)},
    OURS: {0.9: (1.0, 0.1, -0.5), 0.5: (0.1, -0.4, -0.7)},
    CONSTANT: {0.9: (0.1, 0.1, 0.1), 0.5: (0.1, 0.1, 0.1)},
}


def made_up(**other: Mapping[float, tuple[float, ...]]) -> Found:
    """Three almost identical trials at each place, with an error of 0.8 without noise."""
    table = {**AS_PUBLISHED, **{name.replace("_", " "): each for name, each in other.items()}}
    return {
        Place(2_000, 200, sparsity, epsilon): [
            {
                CLEAN: 0.8,
                **{name: 0.8 + each[sparsity][k] + trial / 1000 for name, each in table.items()},
            }
            for trial in range(3)
        ]
        for sparsity in (0.9, 0.5)
        for k, epsilon in enumerate(EPSILONS)
    }


def test_the_published_curves_hold_in_shape() -> None:
    outcome = judge(made_up())
    assert outcome.verdict == "holds in shape"
    assert "MF d 2" in outcome.reason
    assert "MF d 10" not in outcome.reason
    assert "no better than a constant" in outcome.reason


def test_a_dimension_that_learns_something_is_not_called_a_constant() -> None:
    good = {0.9: (0.0, 0.0, 0.0), 0.5: (0.0, 0.0, 0.0)}
    assert "constant" not in judge(made_up(MF_d_2=good)).reason


def test_both_dimensions_may_hold() -> None:
    assert "MF d 2 and MF d 10" in judge(made_up(MF_d_10=AS_PUBLISHED["MF d 2"])).reason


@pytest.mark.parametrize(
    ("name", "curves", "says"),
    [
        ("LP", {0.9: (3.4, 3.4, 3.4), 0.5: (3.0, 2.0, 2.0)}, "LP drops"),
        ("LP", {0.9: (4.0, 3.4, 2.0), 0.5: (3.0, 2.0, 1.0)}, "LP drops"),
        ("LP", {0.9: (4.0, 3.4, 3.4), 0.5: (4.2, 3.5, 3.5)}, "LP changes less"),
        ("RR", {0.9: (3.0, 3.6, 2.0), 0.5: (3.7, 3.4, 1.0)}, "RR keeps falling"),
        ("MF_d_2", {0.9: (4.5, 0.2, 0.2), 0.5: (4.5, 0.2, 0.2)}, "MF always has the smallest"),
        ("MF_d_2", {0.9: (0.6, 0.2, 0.2), 0.5: (0.2, 0.2, 0.2)}, "MF is not affected"),
    ],
)
def test_a_curve_that_goes_another_way_makes_the_claim_fail(
    name: str, curves: Mapping[float, tuple[float, ...]], says: str
) -> None:
    found = made_up(**{name: curves})
    assert any(each.says.startswith(says) and not each.holds for each in findings(found))
    assert judge(found).verdict == "fails"
