"""Tests of study `p3-figure-1`: its verdicts."""

from __future__ import annotations

import pytest
from studies.tests.p3.made_up import sweep_seen, trials

from sottovoce_studies.p3.figure_1 import (
    NEAR_ONE,
    NOISES,
    judge,
    settings_tried,
    sweep,
    tried_crowd,
    tried_epsilons,
)
from sottovoce_studies.p3.pipeline import noise_of
from sottovoce_studies.paper_tables import spread_by

SWEEP = sweep("quick", "crh")
TRIED = [
    (values, [spread_by(trials(0.08 * noise, noise)) for noise in NOISES])
    for values in settings_tried("full")
]


def test_the_noise_is_1_where_it_is_judged() -> None:
    assert noise_of(NEAR_ONE, 10.0) == pytest.approx(1, abs=1e-3)


def test_numbers_hold_where_less_than_a_tenth_is_lost_at_noise_1() -> None:
    outcome = judge(sweep_seen(SWEEP, [0.2, 0.2, 0.09]), TRIED)
    assert outcome.rulings.verdicts == ("holds", "partly", "partly")
    assert outcome.rulings.numbers.reason.endswith("ours 0.090; less in 6 of 6 choices")
    assert judge(sweep_seen(SWEEP, [0.01, 0.05, 0.11]), TRIED).rulings.numbers.verdict == "fails"


def test_numbers_fail_where_chance_could_explain_them() -> None:
    ours = [[{"error": 0.1, "rounds": 3.0}] for _ in SWEEP.ours]
    results = [trials(2.0, 20.0), trials(0.5, 5.0), trials(0.09, 1.0, spread=0.02)]
    assert judge(SWEEP.seen([*results, *ours]), TRIED).rulings.numbers.verdict == "fails"


def test_shape_holds_where_the_loss_stays_below_a_tenth_of_the_noise() -> None:
    assert judge(sweep_seen(SWEEP, [0.07, 0.07, 0.08]), TRIED).rulings.shape.verdict == "holds"
    ruling = judge(sweep_seen(SWEEP, [0.2, 0.2, 0.09]), TRIED).rulings.shape
    assert "the loss is small against the noise (at most 0.200)" in ruling.reason
    assert "the loss changes slowly" in ruling.reason


def test_the_guarantee_holds_per_answer_over_a_public_range_alone() -> None:
    ruling = judge(sweep_seen(SWEEP, [0.07, 0.07, 0.08]), TRIED).rulings.guarantee
    assert ruling.verdict == "partly"
    assert "public range" not in ruling.reason
    assert "with the Delta of Lemma 4.7" in ruling.reason
    assert "per worker 15.6, which P3 does not claim" in ruling.reason


@pytest.mark.parametrize(("plain", "verdict"), [(0.5, "holds"), (0.09, "partly"), (0.07, "fails")])
def test_weights_are_the_reason_where_the_plain_mean_loses_more(plain: float, verdict: str) -> None:
    near = [{**trial, "change mean": plain} for trial in trials(0.08)]
    ours = [[{"error": 0.1, "rounds": 3.0}] for _ in SWEEP.ours]
    seen = SWEEP.seen([trials(0.3, 4.0), trials(0.16, 2.0), near, *ours])
    assert judge(seen, TRIED).claims["P3-V.A-5"].verdict == verdict


def test_every_choice_is_tried_at_the_same_noises() -> None:
    assert len(settings_tried("quick")) == 3
    wide = {"lambda1": "10", "range of answers": "-20..30"}
    assert tried_crowd(wide).crowd.domain.high == 30
    assert [noise_of(each, 50.0) for each in tried_epsilons(wide)] == pytest.approx(NOISES)
    assert [choice.met for choice in judge(sweep_seen(SWEEP, [0.07] * 3), TRIED).choices] == [2] * 6
