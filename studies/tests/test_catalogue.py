"""Tests that a quick run of every study reaches the recorded verdict and can be shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from sottovoce.errors import UsageError
from sottovoce_studies.catalogue import ITEMS, STUDIES, study_named
from sottovoce_studies.cells import Remembered
from sottovoce_studies.claims import CLAIMS
from sottovoce_studies.study import Outcome, Study
from sottovoce_studies.verdicts import csv_columns, verdict_words

SHARED = Remembered()
"""Cells that several studies share are computed once, as by the command."""

every_study = pytest.mark.parametrize("study", STUDIES.values(), ids=STUDIES)


@every_study
def test_a_quick_run_reaches_the_recorded_verdict(
    study: Study, real_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(real_data))
    outcome = study.run("quick", kept=SHARED)
    recorded = study.quick_recorded or study.recorded
    assert outcome.rulings.verdicts == recorded, str(outcome.rulings)
    _can_be_shown(study, outcome)
    _tried_what_is_open(study, outcome)
    judged = {name for name, claim in CLAIMS.items() if claim.judge == study.name}
    assert outcome.claims.keys() == judged


def _can_be_shown(study: Study, outcome: Outcome) -> None:
    assert outcome.charts
    assert outcome.explanation.endswith(".")
    assert sum(len(table.rows) for table in outcome.tables()) == len(outcome.rows) > 0
    assert {len(column) for column in csv_columns(outcome).values()} == {len(outcome.rows)}
    assert f"(quick run: {study.quick})" in verdict_words(study, outcome, "quick")
    assert "quick" not in verdict_words(study, outcome, "full")


def _tried_what_is_open(study: Study, outcome: Outcome) -> None:
    assert bool(study.open) == bool(outcome.choices)
    for choice in outcome.choices:
        assert choice.values.keys() == study.open.keys()
        assert all(value in study.open[point] for point, value in choice.values.items())


@every_study
def test_a_study_says_what_it_is_about(study: Study) -> None:
    assert set(study.items) <= set(ITEMS)
    for text in (study.claim, study.source, study.setting, study.quick):
        assert text
        assert not text.endswith(".")


def test_every_table_and_figure_of_the_papers_has_its_study() -> None:
    covered = [item for study in STUDIES.values() for item in study.items]
    assert sorted(covered) == sorted(ITEMS)


def test_another_seed_is_another_run() -> None:
    study = STUDIES["calibration"]
    first, second = (study.plan("quick", seed).cells[0].run() for seed in (1, 2))
    assert first != second


def test_an_unknown_study_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UsageError, match=r"no study 'aware_vs_paper': did you mean aware-vs-pap"):
        study_named("aware_vs_paper")
    with pytest.raises(UsageError, match="see `sottovoce reproduce --list`"):
        study_named("x")


@pytest.mark.parametrize("name", ["p2-figure-3", "P2 Figure 3", "P2_figure_3"])
def test_a_figure_names_its_study(name: str) -> None:
    assert study_named(name) is STUDIES["worker-private-em"]


def test_an_unknown_size_is_refused() -> None:
    with pytest.raises(UsageError, match="quick and full, not 'huge'"):
        STUDIES["calibration"].run("huge")  # type: ignore[arg-type]
