"""Charts in plain text."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from tests.figures.charts import EPSILONS, TRADE_OFF, any_chart

from sottovoce.figures import Chart, Level, Series, text_chart


def simple(*series: Series, levels: tuple[Level, ...] = ()) -> Chart:
    return Chart("title", "epsilon", "accuracy", series, levels)


@given(any_chart(), st.integers(40, 140))
def test_no_line_is_wider_than_asked(chart: Chart, width: int) -> None:
    assert max(map(cell_len, text_chart(chart, width).splitlines())) <= width


@pytest.mark.parametrize("width", [60, 80, 120])
def test_every_value_is_shown_next_to_its_series(width: int) -> None:
    rows = [line for line in text_chart(TRADE_OFF, width).splitlines() if line.startswith("  ")]
    told = [line.split()[-1] for line in rows][: 4 * len(EPSILONS)]
    by_x = zip(*(series.y for series in TRADE_OFF.series), strict=True)
    assert told == [f"{y:.3f}" for group in by_x for y in group]


def test_every_x_has_its_group() -> None:
    heads = [line for line in text_chart(TRADE_OFF).splitlines() if line.startswith("epsilon per")]
    assert [float(line.split()[3]) for line in heads] == list(EPSILONS)


def test_a_band_reaches_from_its_low_to_its_high_end() -> None:
    chart = simple(Series("a", (1.0,), (0.5,), (0.0,), (1.0,), "ours"))
    assert f"├{'─' * 14}●{'─' * 14}┤ 0.500" in text_chart(chart, 41)


def test_a_larger_value_stands_further_right() -> None:
    lines = text_chart(simple(Series("a", (1.0,), (0.2,)), Series("b", (1.0,), (0.7,)))).split("\n")
    first, second = (line.index("○") for line in lines if "○" in line)
    assert first < second


def test_equal_values_stand_in_one_column() -> None:
    lines = text_chart(simple(Series("a", (1.0, 2.0), (0.5, 0.5)))).splitlines()
    assert len({line.index("○") for line in lines if "○" in line}) == 1


def test_a_level_runs_through_headings_and_rows_and_is_named() -> None:
    chart = simple(Series("a", (1.0, 2.0), (0.1, 0.2)), levels=(Level("best constant", 0.9),))
    *drawn, named = (line for line in text_chart(chart).splitlines() if "┆" in line)
    assert named == "┆ best constant: 0.900"
    assert len({line.index("┆") for line in drawn}) == 1
    assert len(drawn) == 4


def test_a_name_too_long_keeps_its_ends_and_is_told_in_full() -> None:
    text = text_chart(TRADE_OFF, 60)
    assert "recommende…on + aware " in text
    assert "randomised response + majority" in text


def test_names_that_would_look_the_same_are_numbered() -> None:
    names = [f"{'randomised' * 3} {middle} {'majority' * 3}" for middle in ("one", "two")]
    text = text_chart(simple(*(Series(name, (1.0,), (0.5,)) for name in names)), 60)
    assert "  1. " in text
    assert "  2. " in text


def test_a_long_x_label_does_not_hide_x() -> None:
    text = text_chart(replace(TRADE_OFF, x_label="epsilon " * 20), 60)
    assert [line.split()[-1] for line in text.splitlines() if line.startswith("epsilon")] != []
    assert all(f"psilon  {x:g} " in text for x in EPSILONS)


def test_which_way_is_better_is_said() -> None:
    assert "accuracy (lower is better)" in text_chart(replace(TRADE_OFF, better="lower"))


def test_a_series_without_a_value_at_x_has_no_row_there() -> None:
    chart = simple(Series("a", (1.0,), (0.5,)), Series("b", (2.0,), (0.6,)))
    assert text_chart(chart).count("○") == 2


def test_a_logarithmic_axis_is_marked_at_powers_of_ten() -> None:
    chart = replace(simple(Series("a", (1.0, 2.0, 3.0), (1e-6, 1e-3, 1.0))), y_scale="log")
    lines = text_chart(chart, 60).splitlines()
    places = [line.index("○") for line in lines if "○" in line]
    assert places[1] - places[0] == pytest.approx(places[2] - places[1], abs=1)
    [axis] = [line.split() for line in lines if "1e-3" in line and "○" not in line]
    assert {"1e-6", "1e-3", "1e0"} <= set(axis)
