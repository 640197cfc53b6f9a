"""Tests of study `p4-figure-1`: shares, and the verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sottovoce_studies.p4.crowds import public, summary
from sottovoce_studies.p4.figure_1 import ZEROS, Finding, findings, judge
from sottovoce_studies.study import Outcome


def seen(**changes: Any) -> dict[str, Any]:
    """Answers as described in the paper, except for these numbers."""
    shares = [0.8, 0.1, 0.05, 0.05]
    return {
        "tasks": 1_000,
        "answers": 9_000,
        "truths": 1_000,
        "checked": 8_000,
        "correct": 6_000,
        "answer shares": shares,
        "truth shares": shares,
        "vote shares": shares,
    } | changes


def test_the_paper_says_72_percent() -> None:
    assert ZEROS == 0.72


def judged(adult: dict[str, Any] | None = None, web: dict[str, Any] | None = None) -> Outcome:
    return judge({"Web": web or seen(), "AdultContent": adult or seen()})


def test_the_claims_are_each_a_share_above_a_figure() -> None:
    skewed, zeros, right, rest = findings("x", seen())
    assert (skewed.share, skewed.figure) == (0.8, 0.375)  # 1.5 times a quarter
    assert (zeros.share, zeros.count, zeros.figure) == (0.8, 1_000, 0.72)
    assert (right.share, right.figure) == (0.75, 0.5)
    assert rest.share == pytest.approx(0.5)
    assert rest.figure == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("share", "count", "holds"),
    [(0.8, 900, "yes"), (0.8, 100, "unsure"), (0.64, 900, "no"), (0.72, 10**9, "unsure")],
)
def test_a_share_of_a_sample_counts_from_three_standard_errors_on(
    share: float, count: int, holds: str
) -> None:
    assert Finding("x", "y", share, count, 0.72).holds == holds


def test_a_share_of_all_tasks_is_not_a_sample() -> None:
    assert Finding("x", "y", 0.729, 177, 0.72, whole=True).holds == "yes"
    assert Finding("x", "y", 0.719, 177, 0.72, whole=True).holds == "no"


def test_what_the_paper_says_holds_where_it_is_so() -> None:
    outcome = judged()
    assert outcome.rulings.verdicts == ("holds", "holds", "not claimed")
    assert {ruling.verdict for ruling in outcome.claims.values()} == {"holds"}


@pytest.mark.parametrize(
    ("changes", "claim", "words"),
    [
        ({"truth shares": [0.56, 0.2, 0.14, 0.1]}, "P4-VI.B-3", "truth is 0 56.0 %"),
        ({"correct": 3_000}, "P4-VI.B-4", "answers are right 37.5 %"),
        ({"answer shares": [0.3, 0.25, 0.25, 0.2]}, "P4-VI.B-2", "answers are skewed 30.0 %"),
    ],
)
def test_each_claim_can_fail_on_one_dataset_or_on_both(
    changes: dict[str, Any], claim: str, words: str
) -> None:
    one, both = judged(seen(**changes)), judged(seen(**changes), seen(**changes))
    assert one.claims[claim].verdict == "partly"
    assert both.claims[claim].verdict == "fails"
    assert words in one.claims[claim].reason


def test_truths_of_a_part_of_the_tasks_decide_nothing() -> None:
    part = seen(truths=900, **{"truth shares": [0.5, 0.3, 0.1, 0.1]})
    assert judged(part, part).rulings.numbers.verdict == "cannot be checked"
    one = judged(part).rulings.numbers
    assert one.verdict == "partly"
    assert "gold for 900 of 1,000 tasks, not a random sample; 80.0 % of all" in one.reason


@pytest.mark.parametrize("found", [{}, {"Web": seen()}], ids=["none", "one"])
def test_without_both_datasets_nothing_is_said(found: dict[str, dict[str, Any]]) -> None:
    outcome = judge(found)
    assert outcome.charts
    assert outcome.rulings.verdicts == ("cannot be checked", "cannot be checked", "not claimed")
    assert "adult2" in outcome.rulings.numbers.reason
    assert {ruling.verdict for ruling in outcome.claims.values()} == {"cannot be checked"}


def test_a_chart_has_the_shares_of_answers_truths_and_votes() -> None:
    chart, _ = judged().charts
    assert [series.name for series in chart.series] == ["answers", "truths", "majority votes"]
    assert chart.xs() == (0, 1, 2, 3)


def test_the_truth_of_more_than_72_percent_of_web_is_the_first_label(
    real_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(real_data))
    found = summary(public()["Web"])
    assert found["truths"] == 177
    assert found["truth shares"][0] == pytest.approx(129 / 177)
