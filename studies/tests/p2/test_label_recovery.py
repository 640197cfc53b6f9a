"""Tests of study `label-recovery`: its runs, and the verdict."""

from __future__ import annotations

from sottovoce.securesum.em.terms import Mode
from sottovoce_studies.p2.em_trials import Setting, attacked
from sottovoce_studies.p2.label_recovery import PAPER_SCALE, judge, settings

DENSE = Setting(5, 1.0, "as_published", PAPER_SCALE)
SPARSE = Setting(5, 0.7, "as_published", PAPER_SCALE)
SEEN = {
    "rounds": 9,
    "rank": 6,
    "needed": 6,
    "exact": 5,
    "named": 0,
    "answers": 100,
    "right": 100,
    "guessed": 70,
}


def test_every_mode_is_attacked_in_every_size() -> None:
    for size in ("quick", "full"):
        assert {each.mode for each in settings(size)} == set(Mode)
        papers = [each for each in settings(size) if each.scale == PAPER_SCALE]
        assert {each.share < 1 for each in papers} == {True, False}


def test_the_theorem_fails_where_labels_are_recovered_with_names() -> None:
    outcome = judge({DENSE: [SEEN], SPARSE: [{**SEEN, "named": 5}]})
    assert outcome.verdict == "fails"
    assert (
        "was recovered in 2 of 2 runs, and under its worker's name in 1 of 1" in outcome.explanation
    )


def test_the_theorem_holds_in_shape_where_labels_have_no_names() -> None:
    assert judge({DENSE: [SEEN], SPARSE: [SEEN]}).verdict == "holds in shape"
    assert judge({DENSE: [SEEN]}).verdict == "holds in shape"


def test_the_theorem_holds_where_a_worker_is_missing_in_most_runs() -> None:
    part = {**SEEN, "exact": 4, "named": 4}
    whole = {**SEEN, "named": 5}
    assert judge({SPARSE: [part, part, whole]}).verdict == "holds"
    assert judge({SPARSE: [part, whole]}).verdict == "fails"


def test_other_scales_than_the_papers_do_not_decide() -> None:
    other = Setting(5, 0.7, "as_published", 10)
    assert judge({other: [{**SEEN, "named": 5}]}).verdict == "holds"


def test_charts_and_tables_show_shares_by_scale() -> None:
    other = Setting(5, 1.0, "as_published", 10)
    outcome = judge({other: [{**SEEN, "exact": 1}], DENSE: [SEEN]})
    [chart] = outcome.charts
    assert [series.y for series in chart.series] == [(0.2, 1.0)]
    assert [row["5, all"] for row in outcome.rows if "L" in row] == [0.2, 1.0]


def test_an_attack_is_the_same_for_the_same_seed_with_and_without_noise() -> None:
    noised = Setting(5, 0.7, "noised", None, "epsilon 1, counts")
    assert attacked(noised, 0, 1) == attacked(noised, 0, 1)
    assert attacked(SPARSE, 0, 1)["named"] == 5
