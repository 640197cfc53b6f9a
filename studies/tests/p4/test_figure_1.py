"""Tests of study `p4-figure-1`: shares, and the verdict."""

from __future__ import annotations

from typing import Any

import pytest

from sottovoce_studies.p4.figure_1 import SAME, ZEROS, Finding, findings, judge


def seen(**changes: Any) -> dict[str, Any]:
    """Answers as described in the paper, except for these numbers."""
    shares = [0.8, 0.1, 0.05, 0.05]
    return {
        "tasks": 1_000,
        "answers": 9_000,
        "truths": 900,
        "checked": 8_000,
        "correct": 6_000,
        "answer shares": shares,
        "truth shares": shares,
        "vote shares": shares,
    } | changes


def test_the_paper_says_72_percent() -> None:
    assert ZEROS == 0.72


def test_the_three_claims_are_each_a_share_above_a_figure() -> None:
    skewed, zeros, right = findings("x", seen())
    assert (skewed.share, skewed.figure) == (0.8, 0.375)  # 1.5 times a quarter
    assert (zeros.share, zeros.count, zeros.figure) == (0.8, 900, 0.72)
    assert (right.share, right.figure) == (0.75, 0.5)


@pytest.mark.parametrize(
    ("share", "count", "holds"),
    [(0.8, 900, "yes"), (0.8, 100, "unsure"), (0.64, 900, "no"), (0.72, 10**9, "unsure")],
)
def test_a_share_counts_from_three_standard_errors_on(share: float, count: int, holds: str) -> None:
    assert Finding("x", "y", share, count, 0.72).holds == holds


def test_what_the_paper_says_holds_where_it_is_so() -> None:
    assert judge({SAME: seen()}).verdict == "holds in shape"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"truth shares": [0.56, 0.2, 0.14, 0.1]}, "truth is 0: 56 %"),
        ({"correct": 3_000}, "answers are right: 38 %"),
        ({"answer shares": [0.3, 0.25, 0.25, 0.2]}, "answers are skewed: 30 %"),
    ],
)
def test_each_claim_can_fail(changes: dict[str, Any], words: str) -> None:
    outcome = judge({SAME: seen(**changes)})
    assert outcome.verdict == "fails"
    assert words in outcome.reason


def test_what_too_few_truths_leave_open_is_not_judged() -> None:
    outcome = judge({SAME: seen(truths=100)})
    assert outcome.verdict == "cannot be checked"
    assert "truth is 0" in outcome.reason


def test_other_data_than_the_paper_s_refute_nothing() -> None:
    outcome = judge({"Web": seen(correct=0)})
    assert outcome.ruling == "cannot be checked: the dataset is not in the cache"
    assert judge({"Web": seen(correct=0), SAME: seen()}).verdict == "holds in shape"


def test_a_chart_has_the_shares_of_answers_truths_and_votes() -> None:
    (chart,) = judge({SAME: seen()}).charts
    assert [series.name for series in chart.series] == ["answers", "truths", "majority votes"]
    assert chart.xs() == (0, 1, 2, 3)
