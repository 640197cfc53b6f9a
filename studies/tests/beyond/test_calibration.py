"""Tests of study `calibration`: the parts on drawn crowds and on public datasets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sottovoce_studies.beyond.calibration import STUDY, judge_crowds
from sottovoce_studies.beyond.label_trials import AUTO, FREQUENT, VOTE
from sottovoce_studies.beyond.number_trials import FORMER
from sottovoce_studies.beyond.public_calibration import KNOWN, judge_intervals, judge_labels
from sottovoce_studies.contests import CONSTANT


def trial(excess: float, loss: float) -> dict[str, float]:
    accuracies = dict.fromkeys((AUTO, VOTE, FREQUENT, CONSTANT), 0.5)
    return {
        **accuracies,
        "calibration error": 0.02 + excess,
        "perfect": 0.02,
        "log loss": loss,
        "log loss of votes": 0.5,
        "confidence": 0.6,
    }


def covering(coverage: float, score: float) -> dict[str, float]:
    return {"coverage": coverage, "score": score, "width": 1.0}


def test_confidences_of_drawn_crowds_are_pooled_over_trials() -> None:
    place = ("s 5, heterogeneous", 1.0)
    right, wrong = ({"confidence": [0.5] * 15, "right": [value] * 15} for value in (1.0, 0.0))
    mixed = {"confidence": [0.5] * 30, "right": [1.0, 0.0] * 15}
    for trials, error in (([mixed], 0.0), ([right], 0.5), ([right, wrong, mixed], 0.25)):
        judged = judge_crowds({place: trials})
        assert judged.rows[0]["error"] == pytest.approx(error, abs=0.05)
        assert judged.statements[0].true is (error == 0)


def test_excesses_count_in_the_mean_over_datasets_at_each_epsilon() -> None:
    found = {
        ("rte", None): [trial(0.06, 0.4)],
        ("dog", None): [trial(0.01, 0.4)],
        ("rte", 1.0): [trial(0.05, 0.4), trial(0.07, 0.4)],
        ("dog", 1.0): [trial(0.04, 0.4)],
    }
    excess, losses = judge_labels(found).statements
    assert (excess.true, excess.seen) == (False, "0.050 at epsilon 1")
    assert losses.true
    excess, _ = judge_labels({place: found[place] for place in [*found][:2]}).statements
    assert excess.true


def test_the_log_loss_must_be_below_that_of_votes() -> None:
    _, losses = judge_labels({("rte", None): [trial(0.0, 0.51)]}).statements
    assert (losses.true, losses.seen) == (False, "difference +0.010 clean")


@pytest.mark.parametrize(
    ("coverage", "score", "true"),
    [(0.9, 3.0, (True, True)), (0.8, 3.0, (False, True)), (1.0, 5.0, (False, False))],
)
def test_intervals_cover_and_score_better_than_before(
    coverage: float, score: float, true: tuple[bool, bool]
) -> None:
    found = {("emotion", 0): [{AUTO: covering(coverage, score), FORMER: covering(0.6, 4.0)}]}
    covers, scores = judge_intervals(found).statements
    assert (covers.true, scores.true) == true


def test_calories_are_judged_with_known_truths_only() -> None:
    found: dict[tuple[Any, ...], list[Any]] = {
        ("calories", 0): [{AUTO: covering(0.1, 5.0), FORMER: covering(0.1, 4.0)}]
    }
    assert all(statement.true for statement in judge_intervals(found).statements)
    found["calories", KNOWN] = [covering(0.8, 2.0), covering(0.86, 2.0)]
    covers, _ = judge_intervals(found).statements
    assert (covers.true, covers.seen) == (False, "calories 0.830")
    found["calories", KNOWN] = [{}]
    covers, _ = judge_intervals(found).statements
    assert not covers.true
    assert "does not learn" in covers.seen


def test_without_datasets_crowds_and_noise_are_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path))
    outcome = STUDY.run("quick")
    assert "Not in the cache: bluebirds, rte" in outcome.explanation
    assert {str(row["part"]) for row in outcome.rows} == {
        "Expected calibration error on drawn crowds",
        "Pure noise",
        "Weak signal, false warnings",
    }
