"""Tests of study `p3-figure-5`: the verdict with and without real data."""

from __future__ import annotations

from dataclasses import replace

import pytest
from studies.tests.p3.made_up import sweep_seen

from sottovoce_studies.p3.crowds import Floorplan
from sottovoce_studies.p3.epsilon_sweep import Sweep
from sottovoce_studies.p3.figure_5 import NEAR_ONE, fits, judge

FLOORS = Floorplan(workers=10, tasks=12)
SWEEP = Sweep("stand-in", FLOORS, "crh", FLOORS.tasks, (100.0, NEAR_ONE), 2, (100.0,), 1)
CROWD = replace(SWEEP, name="a real crowd", ours=())


@pytest.mark.parametrize(
    ("shares", "verdict"),
    [([0.06, 0.07], "holds in shape"), ([0.06, 0.12], "fails"), ([0.03, 0.09], "fails")],
)
def test_it_is_judged_by_the_stand_in(shares: list[float], verdict: str) -> None:
    assert judge([sweep_seen(SWEEP, shares)]).verdict == verdict


def test_without_real_data_it_says_so() -> None:
    outcome = judge([sweep_seen(SWEEP, [0.06, 0.07])])
    assert outcome.explanation.endswith("no real numeric dataset is in the cache.")


def test_real_crowds_are_shown_and_not_judged() -> None:
    real = sweep_seen(CROWD, [0.3, 0.3])
    outcome = judge([sweep_seen(SWEEP, [0.06, 0.07]), real])
    assert not fits(real)
    assert outcome.verdict == "holds in shape"
    assert "a real crowd 0.30 to 0.30 (about 10 answers per task)" in outcome.explanation
    assert [len(table.rows) for table in outcome.tables()] == [4, 4, 4]
