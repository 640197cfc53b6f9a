"""Tests of study `p3-figure-1`: the verdict."""

from __future__ import annotations

import pytest
from studies.tests.p3.made_up import sweep_seen, trials

from sottovoce_studies.p3.figure_1 import NEAR_ONE, judge, sweep
from sottovoce_studies.p3.pipeline import noise_of
from sottovoce_studies.paper_tables import spread_by

SWEEP = sweep("quick", "crh")
OTHERS = {10.0: spread_by(trials(0.08))}


def test_the_noise_is_1_where_it_is_judged() -> None:
    assert noise_of(NEAR_ONE, 10.0) == pytest.approx(1, abs=1e-3)


def test_it_holds_where_less_than_a_tenth_is_lost_at_noise_1() -> None:
    assert judge(sweep_seen(SWEEP, [0.2, 0.2, 0.09]), OTHERS).verdict == "holds"
    assert judge(sweep_seen(SWEEP, [0.01, 0.01, 0.11]), OTHERS).verdict == "fails"


def test_it_fails_where_chance_could_explain_it() -> None:
    ours = [[{"error": 0.1, "rounds": 3.0}] for _ in SWEEP.ours]
    results = [trials(2.0, 20.0), trials(0.5, 5.0), trials(0.09, 1.0, spread=0.02)]
    assert judge(SWEEP.seen([*results, *ours]), OTHERS).verdict == "fails"
