"""Tests of study `p3-figure-5`: the verdict with and without real data."""

from __future__ import annotations

from dataclasses import replace

import pytest
from studies.tests.p3.made_up import sweep_seen, trials

from sottovoce_studies.p3.crowds import Floorplan
from sottovoce_studies.p3.epsilon_sweep import Sweep
from sottovoce_studies.p3.figure_5 import NEAR_ONE, OPEN, floorplan, judge, statements
from sottovoce_studies.paper_tables import spread_by

FLOORS = Floorplan(workers=10, tasks=12)
SWEEP = Sweep("stand-in", FLOORS, "crh", FLOORS.tasks, (100.0, NEAR_ONE), 2, (100.0,), 1)
CROWD = replace(SWEEP, name="a real crowd", ours=())


@pytest.mark.parametrize(
    ("shares", "seen"),
    [
        ([0.06, 0.07], "below a tenth of the noise: 0.070"),
        ([0.06, 0.12], "false: the loss falls as epsilon grows; the loss is below a tenth"),
        ([0.03, 0.09], "false: the loss falls as epsilon grows"),
    ],
)
def test_the_stand_in_is_told_and_shape_is_not_judged_by_it(shares: list[float], seen: str) -> None:
    outcome = judge([sweep_seen(SWEEP, shares)])
    assert outcome.rulings.verdicts == ("cannot be checked", "cannot be checked", "holds")
    assert seen in outcome.rulings.shape.reason
    assert outcome.claims["P3-V.B-1"] == outcome.rulings.shape


def test_without_real_data_it_says_so() -> None:
    outcome = judge([sweep_seen(SWEEP, [0.06, 0.07])])
    assert outcome.explanation.endswith("no real numeric dataset is in the cache.")


def test_real_crowds_are_shown_and_not_judged() -> None:
    real = sweep_seen(CROWD, [0.3, 0.3])
    outcome = judge([sweep_seen(SWEEP, [0.06, 0.07]), real])
    assert [each.true for each in statements(real)] == [True, True, False]
    assert outcome.rulings.shape.verdict == "cannot be checked"
    assert outcome.rulings.shape.reason.endswith(
        "with 10 answers a task (real a real crowd 0.30 with 10)"
    )
    assert "a real crowd 0.30 to 0.30 (about 10 answers per task)" in outcome.explanation
    assert [len(table.rows) for table in outcome.tables()] == [4, 4, 4]


def test_the_search_for_the_data_is_told() -> None:
    outcome = judge([sweep_seen(SWEEP, [0.06, 0.07])], searched="searched 14 datasets")
    assert outcome.rulings.numbers.reason.endswith("not public; searched 14 datasets")


def test_other_errors_of_walkers_are_tried() -> None:
    assert [floorplan({"errors of walkers": each}).bias for each in OPEN["errors of walkers"]] == [
        0.05,
        0.15,
    ]
    tried = [({"errors of walkers": "15 %"}, spread_by(trials(0.2)))]
    [choice] = judge([sweep_seen(SWEEP, [0.06, 0.07])], tried).choices
    assert (choice.met, choice.of) == (0, 1)
