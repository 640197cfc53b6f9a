"""Tests of study `default-regret`: distances to the best method, figures, and means under noise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sottovoce_studies.beyond.default_regret import (
    LABELS,
    NOISE,
    NUMBERS,
    STUDY,
    collapses,
    judge,
)
from sottovoce_studies.beyond.label_trials import AUTO, FREQUENT
from sottovoce_studies.beyond.number_trials import MEANS, POOLED
from sottovoce_studies.beyond.public_sets import (
    HELD_OUT,
    HELD_OUT_NUMBERS,
    LABEL_SETS,
    NUMBER_SETS,
    provenance,
)
from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.study import Outcome


def clean(default: float, best: float, error: float = 0.0) -> dict[str, dict[str, float]]:
    baselines = {FREQUENT: 0.5, CONSTANT: 0.5}
    return {
        "accuracy": {AUTO: default, "td": best, "crh": best - 0.1, **baselines},
        "standard error": {AUTO: 0.0, "td": error, "crh": error},
    }


def judged(
    labels: dict[str, Any], numbers: dict[str, Any] | None = None, noise: Any = ()
) -> Outcome:
    found: dict[str, dict[tuple[Any, ...], list[Any]]] = {
        LABELS: {(name,): [seen] for name, seen in labels.items()},
        NUMBERS: {(name,): [seen] for name, seen in (numbers or {}).items()},
        NOISE: {("emotion", "Laplace", 1.0): list(noise)} if noise else {},
    }
    return judge(found, "Sets of a test")


def test_quick_runs_leave_held_out_sets_alone() -> None:
    assert not {*LABEL_SETS["quick"], *NUMBER_SETS["quick"]} & {*HELD_OUT, *HELD_OUT_NUMBERS}
    assert len(LABEL_SETS["full"]) == 10


def test_the_study_says_which_sets_were_used_for_tuning() -> None:
    words = provenance(("rte", "product"))
    assert words.startswith("Used for tuning: rte; held out (")
    assert words.endswith("): product")


def test_without_datasets_it_cannot_be_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path))
    reason = "cannot be checked: no dataset in the cache"
    assert str(STUDY.run("quick").rulings) == f"numbers {reason}; shape {reason}"


def test_the_mean_distance_on_tuning_sets_counts_and_that_on_others_is_reported() -> None:
    close = {"rte": clean(0.9, 0.902), "dog": clean(0.8, 0.81), "face": clean(0.5, 0.53)}
    outcome = judged(close)
    assert str(outcome.rulings.numbers) == "holds"
    assert "Distances on held-out sets: face 0.0300." in outcome.explanation
    far = judged({"rte": clean(0.9, 0.92), "dog": clean(0.8, 0.80)})
    assert far.rulings.numbers.verdict == "partly"
    assert "mean distance on tuning sets is at most 0.008 (0.0100)" in far.rulings.numbers.reason


def test_a_default_better_than_all_others_has_no_distance() -> None:
    [row] = [row for row in judged({"rte": clean(0.93, 0.92)}).rows if row["part"] == LABELS]
    assert row["distance"] == 0.0


def test_a_collapse_is_beyond_two_paired_standard_errors() -> None:
    assert collapses(0.07, 0.01)
    assert not collapses(0.07, 0.02)
    assert not collapses(0.04, 0.0)
    assert judged({"face": clean(0.5, 0.6, 0.01)}).rulings.shape.verdict == "fails"


def test_figures_of_numbers_are_upper_limits() -> None:
    numbers = {
        "emotion": {AUTO: 12.3, "mean": 12.0, CONSTANT: 17.0},
        "calories": {AUTO: 330.0, "mean": 338.0, CONSTANT: 298.0},
    }
    ruling = judged({}, numbers).rulings.numbers
    assert str(ruling) == "partly: false: the error on emotion is at most 12.2 (12.3)"


@pytest.mark.parametrize(("excess", "verdict"), [(1.0, "partly"), (-1.0, "holds")])
def test_numbers_under_noise_must_not_be_worse_than_a_mean(excess: float, verdict: str) -> None:
    noise = [
        {AUTO: 17 + excess + jitter, POOLED: 17.0, MEANS: 60.0, CONSTANT: 16.0}
        for jitter in (-0.1, 0.0, 0.1)
    ]
    outcome = judged({}, noise=noise)
    assert outcome.rulings.shape.verdict == verdict
