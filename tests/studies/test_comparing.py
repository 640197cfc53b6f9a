"""Rows and curves of ours beside the paper's."""

from __future__ import annotations

import pytest

from sottovoce.planning.trials import Spread
from sottovoce_studies.paper_tables import beside, curve, spread_by, within

SEEN = Spread.of([0.1, 0.2, 0.3])  # mean 0.2, standard error 0.0577


def test_a_row_has_ours_theirs_and_the_difference() -> None:
    row = beside({"part": "Table 9", "epsilon": 1.0}, SEEN, 0.15)
    assert list(row) == ["part", "epsilon", "ours", "s.e.", "paper", "difference", "trials"]
    assert row["difference"] == pytest.approx(0.05)


def test_a_row_of_one_trial_has_no_standard_error() -> None:
    row = beside({"part": "Table 9"}, Spread.of([0.1]))
    assert row["s.e."] is None
    assert "paper" not in row


def test_a_curve_has_a_band_of_two_standard_errors() -> None:
    [point] = curve("ours", [1], [SEEN], "ours").points()
    assert point.low == pytest.approx(0.2 - 2 * 0.1 / 3**0.5)
    assert curve("ours", [1], [Spread.of([0.1])]).low is None


def test_a_figure_is_within_so_many_standard_errors() -> None:
    assert within(SEEN, 0.31)
    assert not within(SEEN, 0.31, errors=1)


def test_every_number_of_the_trials_has_its_spread() -> None:
    assert spread_by([{"a": 1.0, "b": 2.0}, {"a": 3.0, "b": 2.0}])["a"].mean == 2.0
