"""Tests of the papers' numbers as data, and of rows and curves that compare them with ours."""

from __future__ import annotations

import pytest

from sottovoce.errors import UsageError
from sottovoce.planning.trials import Spread
from sottovoce_studies.paper_tables import compared_row, curve, printed, spread_by, within

TABLES = [
    "P1 Table 1",
    "P1 Table 2",
    "P1 Table 3",
    "P1 accuracy without noise",
    "P2 Table 1",
    "P2 data",
    "P2 time",
    "P4 Table II",
    "P4 examples",
    "P4 claims",
]
SEEN = Spread.of([0.1, 0.2, 0.3])  # mean 0.2, standard error 0.0577


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_a_source_and_an_entry_for_every_column(name: str) -> None:
    table = printed(name)
    assert table.source.startswith(name[:2])
    assert {len(row) for row in table.rows} == {len(table.columns)}


def test_the_tables_of_changes_fall_with_epsilon_in_every_column() -> None:
    for name in ("P1 Table 2", "P1 Table 3"):
        table = printed(name)
        assert table.column("epsilon") == (
            1.0,
            0.9,
            0.8,
            0.7,
            0.6,
            0.5,
            0.4,
            0.3,
            0.2,
            0.1,
            0.01,
            0.001,
            0.0,
        )
        for column in table.columns[1:]:
            assert list(table.column(column)) == sorted(table.column(column))


def test_a_number_is_found_by_its_column_and_row() -> None:
    assert printed("P1 Table 2").number("two-layer TD", 0.0) == 0.1992
    assert printed("P4 examples").number("bound", "Theorem 3") == 3.551
    assert printed("P2 time").column("milliseconds") == (789.3,)


def test_what_is_not_printed_is_refused() -> None:
    with pytest.raises(UsageError, match="no printed table is called 'P1 Table 9'"):
        printed("P1 Table 9")


def test_a_row_has_ours_theirs_and_the_difference() -> None:
    row = compared_row({"part": "Table 9", "epsilon": 1.0}, SEEN, 0.15)
    assert list(row) == ["part", "epsilon", "ours", "s.e.", "paper", "difference", "trials"]
    assert row["difference"] == pytest.approx(0.05)


def test_a_row_of_one_trial_has_no_standard_error() -> None:
    row = compared_row({"part": "Table 9"}, Spread.of([0.1]))
    assert row["s.e."] is None
    assert "paper" not in row


def test_a_curve_has_a_band_of_two_standard_errors() -> None:
    [point] = curve("ours", [1], [SEEN], "ours").points()
    assert point.low == pytest.approx(0.2 - 2 * 0.1 / 3**0.5)
    assert curve("ours", [1], [Spread.of([0.1])]).low is None


def test_a_figure_is_within_a_number_of_standard_errors() -> None:
    assert within(SEEN, 0.31)
    assert not within(SEEN, 0.31, errors=1)


def test_every_number_of_the_trials_has_its_spread() -> None:
    assert spread_by([{"a": 1.0, "b": 2.0}, {"a": 3.0, "b": 2.0}])["a"].mean == 2.0
