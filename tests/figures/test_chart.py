"""Charts that can be drawn, and charts that are refused before drawing."""

from __future__ import annotations

import math
from typing import Any

import pytest

from sottovoce.errors import UsageError
from sottovoce.figures import Chart, Level, Point, Series


def chart(**changes: Any) -> Chart:
    fields: dict[str, Any] = {
        "title": "t", "x_label": "x", "y_label": "y", "series": (Series("a", (1.0,), (2.0,)),)
    }  # fmt: skip
    return Chart(**fields | changes)


def test_points_come_in_the_order_of_x() -> None:
    series = Series("a", (2.0, 1.0), (0.9, 0.8), (0.7, 0.6), (1.0, 0.9))
    assert series.points() == (Point(1.0, 0.8, 0.6, 0.9), Point(2.0, 0.9, 0.7, 1.0))


def test_a_chart_knows_every_x_of_any_series() -> None:
    both = (Series("a", (4.0, 1.0), (0, 0)), Series("b", (2.0, 1.0), (0, 0)))
    assert chart(series=both).xs() == (1.0, 2.0, 4.0)


def test_bands_and_levels_have_a_place_on_the_axis() -> None:
    banded = Series("a", (1.0,), (2.0,), (1.5,), (2.5,))
    assert sorted(chart(series=(banded,), levels=(Level("l", 9),)).values()) == [1.5, 2, 2.5, 9]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"x": ()}, "series 'a' has no values"),
        ({"y": (1.0, 2.0)}, "y of series 'a' has 2 values for 1 x"),
        ({"y": (math.nan,)}, "y of series 'a' must be finite"),
        ({"y": (-math.inf,)}, "y of series 'a' must be finite"),
        ({"x": (1e200,)}, "x of series 'a' must be finite and at most 1e"),
        ({"low": (0.0,)}, "half a band"),
        ({"low": (), "high": ()}, "low of series 'a' has 0 values for 1 x"),
        ({"low": (3.0,), "high": (1.0,)}, "low end is above its high end"),
        ({"x": (1.0, 1.0), "y": (1.0, 2.0)}, "two values at the same x"),
        ({"name": "a\nb"}, "must be one line of printable text"),
        ({"name": "  "}, "must be one line of printable text"),
        ({"role": "mine"}, "role must be one of ours, theirs, reference, not 'mine'"),
    ],
)
def test_a_series_that_cannot_be_drawn_is_refused(fields: dict[str, Any], words: str) -> None:
    good: dict[str, Any] = {"name": "a", "x": (1.0,), "y": (2.0,)}
    with pytest.raises(UsageError, match=words):
        Series(**good | fields)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"series": ()}, "chart 't' has no series"),
        ({"series": (Series("a", (1.0,), (2.0,)),) * 2}, "two series of one name"),
        ({"title": ""}, "the chart's title must be one line"),
        ({"note": "a\u202eb"}, "the chart's note must be one line"),
        ({"better": "faster"}, "better must be one of higher, lower"),
        ({"x_scale": "sqrt"}, "x_scale must be one of linear, log"),
        ({"x_scale": "log", "series": (Series("a", (0.0,), (2.0,)),)}, "starts above 0, not at 0"),
        ({"y_scale": "sqrt"}, "y_scale must be one of linear, log"),
        ({"style": "pies"}, "style must be one of lines, bars"),
        ({"style": "bars", "x_scale": "log"}, "bars stand on linear axes"),
        (
            {"y_scale": "log", "series": (Series("a", (1.0,), (0.0,)),)},
            "logarithmic y starts above",
        ),
    ],
)
def test_a_chart_that_cannot_be_drawn_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        chart(**changes)


def test_a_level_is_a_finite_number() -> None:
    with pytest.raises(UsageError, match="y of level 'l' must be finite"):
        Level("l", math.nan)
