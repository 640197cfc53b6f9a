"""Every study: a quick run has rows and a verdict, and judges by the rule it states."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sottovoce.errors import UsageError
from sottovoce.figures import Figure, Table
from sottovoce.planning.spreads import Spread
from sottovoce.studies import STUDIES, Outcome, Study, study_named
from sottovoce.studies.beyond.aware_vs_papers import SKIPPED, is_met
from sottovoce.studies.beyond.calibration import reliability
from sottovoce.studies.beyond.never_worse import LABELS, RANGES, Case, best_other, judge
from sottovoce.studies.beyond.settings import settings
from sottovoce.studies.contests import CONSTANT, Contest
from sottovoce.studies.reporting import blocks, csv_columns, verdict_words
from sottovoce.studies.sources import Dataset

every_study = pytest.mark.parametrize("study", STUDIES.values(), ids=STUDIES)


@every_study
def test_a_quick_run_reaches_the_recorded_verdict(
    study: Study, real_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(real_data))
    outcome = study.run("quick")
    assert outcome.verdict == study.recorded, outcome.explanation
    _can_be_shown(study, outcome)


def _can_be_shown(study: Study, outcome: Outcome) -> None:
    assert outcome.charts
    assert outcome.explanation.endswith(".")
    assert sum(len(table.rows) for table in outcome.tables()) == len(outcome.rows) > 0
    assert {len(column) for column in csv_columns(outcome).values()} == {len(outcome.rows)}
    assert f"(quick run: {study.quick})" in verdict_words(study, outcome, "quick")
    assert "quick" not in verdict_words(study, outcome, "full")


@every_study
def test_a_study_says_what_it_is_about(study: Study) -> None:
    assert set(study.items) <= set(ITEMS)
    for text in (study.claim, study.source, study.setting, study.quick):
        assert text
        assert not text.endswith(".")


def test_every_table_and_figure_of_the_papers_has_its_study() -> None:
    covered = [item for study in STUDIES.values() for item in study.items]
    assert sorted(covered) == sorted(ITEMS)


def test_rows_without_their_dataset_are_skipped(outcomes: dict[str, Outcome]) -> None:
    rows = outcomes["aware-vs-papers"].rows
    assert [row["setting"] for row in rows if row["met"] == SKIPPED] == ["bluebirds"]
    assert outcomes["never-worse"].verdict == "skipped"


def test_every_chart_of_errors_has_the_best_constant(outcomes: dict[str, Outcome]) -> None:
    charts = outcomes["aware-vs-papers"].charts
    assert charts
    assert all([level.name for level in chart.levels] == [CONSTANT] for chart in charts)


def test_a_figure_is_met_within_two_standard_errors() -> None:
    spread = Spread(20, mean=0.5, standard_error=0.01, low=0.4, high=0.6)
    assert is_met(spread, 0.48)
    assert not is_met(spread, 0.4799)


def test_the_rows_are_those_that_were_asked_for() -> None:
    found = [(row.epsilon, row.figure) for row in settings()]
    assert found == [
        (2, 0.092), (3, 0.018), (1, 0.43), (2, 0.10),
        (1, 0.36), (2, 0.15), (4, 0.08),
        (2, 0.62), (4, 0.20), (1, 0.34), (1, 0.40), (4, 0.26),
        (1, 0.22), (2, 0.107), (2, 0.145), (1, 0.35),
    ]  # fmt: skip


def test_never_worse_covers_every_dataset_with_gold() -> None:
    assert len({*LABELS, *RANGES}) == 10


def test_worse_is_worse_beyond_what_is_allowed_and_two_standard_errors() -> None:
    case = Case("bluebirds", 1.0, Contest(Dataset("bluebirds", None, ()), 1.0, ()))
    other = {"one-layer + TD": 0.20, "two-layer + TD": 0.5, CONSTANT: 0.5}
    trials = [
        {"randomised response + aware": error, "randomised response + majority vote": 0.3, **other}
        for error in (0.215, 0.225, 0.235)  # 0.025 worse than TD, standard error 0.0058
    ]
    assert best_other(trials) == "one-layer + TD"
    assert judge([case], trials, 3).verdict == "fails"
    closer = [{**trial, "one-layer + TD": 0.205} for trial in trials]  # 0.020 - 0.012 < 0.01
    outcome = judge([case], closer, 3)
    assert outcome.verdict == "holds"
    assert outcome.rows[0]["difference"] == pytest.approx(0.02)


def test_numbers_may_be_worse_by_a_share_of_their_range() -> None:
    assert Case("emotion", 1.0, None).allowed == pytest.approx(2.0)
    assert Case("rte", 1.0, None).allowed == pytest.approx(0.01)


def test_calibration_error_is_the_mean_distance_over_bins_of_equal_mass() -> None:
    confidence = np.repeat([0.6, 0.9], 10)
    right = np.array([1.0] * 5 + [0.0] * 5 + [1.0] * 10)
    found = reliability(confidence, right, bins=2)
    assert found.error == pytest.approx((0.1 + 0.1) / 2)
    assert found.right.tolist() == [0.5, 1.0]


def test_bins_need_truths() -> None:
    with pytest.raises(UsageError, match="15 bins need as many truths, not 3"):
        reliability(np.ones(3), np.ones(3))


def test_another_seed_is_another_run() -> None:
    study = STUDIES["calibration"]
    first, second = (study.plan("quick", seed).cells[0].run() for seed in (1, 2))
    assert first != second


def test_an_unknown_study_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UsageError, match=r"no study 'aware_vs_paper': did you mean aware-vs-pap"):
        study_named("aware_vs_paper")
    with pytest.raises(UsageError, match="there are aware-vs-papers, never-worse, calibration"):
        study_named("x")


def test_an_unknown_size_is_refused() -> None:
    with pytest.raises(UsageError, match="quick and full, not 'huge'"):
        STUDIES["calibration"].run("huge")  # type: ignore[arg-type]
