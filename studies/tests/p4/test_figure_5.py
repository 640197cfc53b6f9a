"""Tests of study `p4-figure-5`: the verdict by the dataset that P4 had."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.p4.figure_5 import ABSENT, findings, judge
from sottovoce_studies.p4.sparse_tables import OURS, Curves
from sottovoce_studies.p4.sparse_trials import CLEAN

EPSILONS = (0.1, 3.0, 5.0)


def made_up(**other: tuple[float, float, float]) -> Curves:
    seen: Mapping[str, tuple[float, float, float]] = {
        "LP": (3.0, 1.1, 1.1),
        "RR": (1.1, 1.0, 0.4),
        "2-Layer": (1.1, 1.0, 0.7),
        "MF d 2": (0.6, 0.6, 0.6),
        "MF d 10": (2.0, 1.5, 0.6),
        OURS: (1.0, 0.5, 0.2),
        CONSTANT: (0.5, 0.5, 0.5),
    }
    seen = {**seen, **{name.replace("_", " "): each for name, each in other.items()}}
    return {
        epsilon: [{CLEAN: 0.3, **{name: 0.3 + each[k] for name, each in seen.items()}}]
        for k, epsilon in enumerate(EPSILONS)
    }


def test_mf_that_is_lowest_in_most_cases_holds_in_shape() -> None:
    outcome = judge({"AdultContent": made_up()})
    assert outcome.verdict == "holds in shape"
    assert outcome.reason == "on AdultContent with MF d 2, no better than a constant"


def test_the_public_web_is_named_where_it_is_otherwise() -> None:
    outcome = judge({"Web": made_up(MF_d_2=(1.8, 1.8, 1.8)), "AdultContent": made_up()})
    assert outcome.verdict == "holds in shape"
    assert outcome.reason.endswith("not on the public Web")


@pytest.mark.parametrize(
    ("name", "curve", "says"),
    [
        ("MF_d_2", (1.2, 1.2, 0.2), "MF has the lowest"),
        ("2-Layer", (1.1, 2.0, 1.4), "2-Layer is comparable"),
        ("RR", (1.4, 1.0, 0.8), "RR drops"),
    ],
)
def test_a_curve_that_goes_another_way_makes_the_claim_fail(
    name: str, curve: tuple[float, float, float], says: str
) -> None:
    outcome = judge({"AdultContent": made_up(**{name: curve})})
    assert outcome.verdict == "fails"
    assert says in outcome.reason


def test_without_the_dataset_that_p4_had_nothing_is_said() -> None:
    outcome = judge({"Web": made_up()})
    assert (outcome.verdict, outcome.reason) == ("cannot be checked", ABSENT)


def test_the_drop_of_rr_is_said_of_adult_content_only() -> None:
    drops = [each for each in findings("Web", made_up()) if "drops" in each.says]
    assert not drops


def test_rr_keeps_four_fifths_at_epsilon_3() -> None:
    kept = findings("AdultContent", made_up())[0]
    assert kept.holds
    assert kept.seen == "0.8007"
