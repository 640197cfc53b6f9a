"""Tests of study `aware-vs-papers`: the figures to reach, and when one is met."""

from __future__ import annotations

from pathlib import Path

import pytest

from sottovoce.planning.trials import Spread
from sottovoce_studies.beyond.aware_vs_papers import SKIPPED, STUDY, is_met, settings
from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.study import Outcome


def _judged(theirs: float, ours: float = 0.01) -> Outcome:
    """Errors of theirs, of ours, and 0.5 of the best constant, without datasets."""
    work = STUDY.plan("quick", 1)
    contests = [cell.arguments[0] for cell in work.cells]
    return work.judge(
        [
            {**{pair.name: theirs for pair in each.pairs}, each.pairs[0].name: ours, CONSTANT: 0.5}
            for each in contests
        ]
    )


@pytest.fixture(autouse=True)
def _no_datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path))


def test_rows_without_their_dataset_are_said_to_be_skipped() -> None:
    outcome = _judged(0.02)
    assert [row["setting"] for row in outcome.rows if row["met"] == SKIPPED] == ["bluebirds"]
    assert outcome.rulings.verdicts == ("holds", "holds", "not claimed")
    assert "1 skipped" in outcome.explanation


def test_a_pipeline_of_the_papers_that_errs_less_refutes_it() -> None:
    rulings = _judged(0.005).rulings
    assert str(rulings.shape) == "fails: a paper's pipeline has a smaller error in 4 rows"
    assert rulings.numbers.verdict == "holds"


def test_a_figure_that_is_not_reached_refutes_the_numbers_only() -> None:
    rulings = _judged(0.9, ours=0.8).rulings
    assert str(rulings) == "numbers fails: 0 of 4 figures reached; shape holds"


def test_every_chart_of_errors_has_the_best_constant() -> None:
    for chart in _judged(0.02).charts:
        assert CONSTANT in [series.name for series in chart.series]


def test_a_figure_is_met_within_two_standard_errors() -> None:
    spread = Spread(20, mean=0.5, standard_error=0.01, low=0.4, high=0.6)
    assert is_met(spread, 0.48)
    assert not is_met(spread, 0.4799)


def test_the_rows_are_those_that_were_asked_for() -> None:
    found = [(row.epsilon, row.figure) for row in settings()]
    assert found == [
        (2, 0.092),
        (3, 0.018),
        (1, 0.43),
        (2, 0.10),
        (1, 0.36),
        (2, 0.15),
        (4, 0.08),
        (2, 0.62),
        (4, 0.20),
        (1, 0.34),
        (1, 0.40),
        (4, 0.26),
        (1, 0.22),
        (2, 0.107),
        (2, 0.145),
        (1, 0.35),
    ]
