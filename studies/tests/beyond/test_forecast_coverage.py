"""Tests of study `forecast-coverage`: cells, and the rule for its verdict."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce_studies.beyond.forecast_coverage import GOLD, NAMED, NONE, judge
from sottovoce_studies.beyond.forecast_trials import NO_FORECAST, _taken, alone, campaign, coverage
from sottovoce_studies.crowds import LabelCrowd

CROWD = LabelCrowd(30, 80, 40, 2, "able")


def forecast(outcome: float, low: float, high: float) -> dict[str, float]:
    return {"outcome": outcome, "expected": (low + high) / 2, "low": low, "high": high}


def judged(gold: list[dict[str, float]], none: list[dict[str, float]]) -> tuple[str, str]:
    found = {("rte", GOLD, "local", 1.0): gold, ("rte", NONE, "local", 1.0): none}
    devices = {(("rte", 40, 40, 2.0), NAMED): [forecast(0.1, 0.0, 0.2)] * 5}
    outcome = judge(found, {("rte", "local", 1.0): 0.1}, devices)
    return outcome.rulings.numbers.verdict, outcome.explanation


def test_narrow_bands_that_hold_are_what_is_claimed() -> None:
    good = [forecast(0.1, 0.05, 0.17)] * 10
    assert judged(good, good)[0] == "holds"


def test_a_band_that_holds_because_it_is_wide_does_not_count() -> None:
    wide = [forecast(0.1, 0.0, 0.2)] * 10
    verdict, words = judged(wide, wide)
    assert verdict == "partly"
    assert "as sampling makes them (fails): 2.00" in words


def test_outcomes_outside_count_against_it() -> None:
    mixed = [forecast(0.1, 0.05, 0.17)] * 8 + [forecast(0.4, 0.05, 0.17)] * 2
    assert "inside the 90 % band (fails): 80.0 %" in judged(mixed, mixed)[1]


def test_forecasts_that_were_refused_are_counted_apart() -> None:
    good = forecast(0.1, 0.05, 0.17)
    found = {("rte", NONE, "local", 1.0): [good, NO_FORECAST]}
    outcome = judge(found, {("rte", "local", 1.0): 0.1}, {})
    [row] = [row for row in outcome.results if row["part"] == "Bands by dataset"]
    assert (row["forecasts"], row["cannot tell"], row["inside"]) == (1, 1, 1.0)


def test_the_width_by_sampling_is_that_of_the_tasks() -> None:
    answers, truths = CROWD.draw(0)
    width = alone(CROWD, "clean", 0.0, 1)
    votes = np.bincount(answers.task, answers.value) / np.bincount(answers.task)
    wrong = np.mean((votes > 0.5) != truths)
    assert width == pytest.approx(3.29 * np.sqrt(wrong * (1 - wrong) / 20), abs=0.1)


@pytest.mark.parametrize("way", ["local", "sealed"])
def test_a_pilot_foretells_the_rest(way: str) -> None:
    found = coverage(CROWD, True, way, 4.0, 0, 1)  # type: ignore[arg-type]
    assert 0 <= found["low"] <= found["expected"] <= found["high"] <= 1
    assert found["low"] <= found["outcome"] <= found["high"]


def test_devices_take_the_least_covered_tasks_and_no_more_than_they_afford() -> None:
    answers, _ = CROWD.draw(0)
    rows = _taken(answers, 20, 12, np.random.default_rng(1))
    assert np.bincount(answers.worker[rows]).max() == 12
    covered = np.bincount(answers.task[rows], minlength=80)
    assert covered.max() - covered.min() <= 2  # 3 in the mean; by chance from 0 to 8


def test_a_campaign_with_devices_has_a_forecast() -> None:
    found = campaign(CROWD, 30, 40, 4.0, 0, 1, False)
    assert found["low"] <= found["expected"] <= found["high"]
