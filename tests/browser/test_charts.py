"""The charts: whatever the numbers are, they are drawn, told and readable."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from tests.browser.accessibility import axe
from tests.browser.watched_page import Watched, watch

from sottovoce.testing.server_thread import RunningServer

# Draws with the module itself, in a page of the server that has nothing else in it.
DRAW = """async ([kind, chart, width]) => {
  const charts = await import("/static/charts/chart.js");
  const room = document.createElement("div");
  if (width) room.style.width = `${width}px`;
  const heading = document.querySelector("main h1");
  document.querySelector("main").replaceChildren(heading, room);
  const restore = (key, value) => (value === "nan" ? NaN : value === "infinity" ? Infinity : value);
  room.append(charts[kind](JSON.parse(chart, restore)));
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
}"""

LINE = {
    "title": "Accuracy",
    "x": {"label": "epsilon", "values": [0.5, 1, 2, 4]},
    "series": [
        {"name": "found", "values": [0.6, 0.7, 0.8, 0.9], "low": [0.5, 0.6, 0.7, 0.8],
         "high": [0.7, 0.8, 0.9, 1.0]},
    ],
    "reference": [{"name": "guessing", "value": 0.5}],
    "marker": {"x": 2, "label": "here"},
}  # fmt: skip
LABELS = [{"label": f"t{i}", "value": i % 7} for i in range(30)]


@pytest.fixture(scope="module")
def watched(chromium: Browser, server: RunningServer) -> Iterator[Watched]:
    made = watch(chromium, server.url)
    made.page.goto("/")
    yield made
    made.close()


@pytest.fixture(scope="module")
def page(watched: Watched) -> Page:
    return watched.page


def _drawn(page: Page, kind: str, chart: dict[str, Any], width: int | None = 600) -> Locator:
    page.evaluate(DRAW, [kind, json.dumps(chart), width])
    return page.locator("figure.chart")


def _ticks(figure: Locator) -> list[str]:
    return figure.locator("svg text").all_text_contents()


def _line(**changes: Any) -> dict[str, Any]:
    return {**LINE, **changes}


def _series(*values: Any) -> dict[str, Any]:
    """One line over 1, 2, 3 …, with nothing to compare it with."""
    given = list(range(1, len(values) + 1))
    return {
        "title": "Values",
        "x": {"label": "rounds", "values": given},
        "series": [{"name": "found", "values": list(values)}],
    }


def test_a_line_is_drawn_said_to_those_who_do_not_see_it_and_in_a_table(page: Page) -> None:
    figure = _drawn(page, "lineChart", LINE)
    assert figure.locator("polyline").count() == 1
    assert figure.locator("polygon").count() == 1
    assert figure.locator("circle.point").count() == 4 + 1
    assert {"guessing 0.5", "here", "epsilon"} <= set(_ticks(figure))

    drawing = figure.get_by_role("img", name="Accuracy")
    assert drawing.is_visible()
    described = "found: from 0.6 to 0.9. guessing: 0.5. Over epsilon."
    assert drawing.locator("desc").text_content() == described

    figure.get_by_text("Show the numbers").click()
    rows = [row.all_text_contents() for row in _rows(figure)]
    assert rows[0] == ["epsilon", "found", "from", "to"]
    assert rows[1] == ["0.5", "0.6", "0.5", "0.7"]
    assert rows[-1][:2] == ["guessing", "0.5"]


def _rows(figure: Locator) -> list[Locator]:
    rows = figure.locator("table tr")
    rows.first.wait_for()  # the table is made when it is unfolded
    return [rows.nth(i).locator("th, td") for i in range(rows.count())]


def test_ticks_are_round_numbers(page: Page) -> None:
    shown = _ticks(_drawn(page, "lineChart", _series(0.137, 0.2931, 0.871)))
    assert {"0", "0.2", "0.4", "0.6", "0.8", "1"} <= set(shown)
    shown = _ticks(_drawn(page, "lineChart", _series(113, 4_870)))
    assert {"0", "1,000", "2,000", "5,000"} <= set(shown)


def test_what_is_no_number_leaves_a_gap(page: Page) -> None:
    for missing in (None, "nan", "infinity"):
        figure = _drawn(page, "lineChart", _series(1, 2, missing, 4, 5, 6, missing, 8))
        assert figure.locator("polyline").count() == 2  # the last value stands alone
        assert figure.locator("circle.point").count() == 6
        figure.get_by_text("Show the numbers").click()
        assert _rows(figure)[3].all_text_contents() == ["3", "–"]


NOTHING = [
    ("lineChart", {**_series(), "series": []}),
    ("lineChart", _series()),
    ("lineChart", _series(None, "nan")),
    ("histogram", {"title": "Values", "bars": []}),
    ("heatStrip", {"title": "Values", "cells": [{"label": "a", "value": None}]}),
    ("dots", {"title": "Values", "points": []}),
]
STRANGE = [
    ("lineChart", _series(0.5)),
    ("lineChart", _series(0)),
    ("lineChart", _series(3, 3, 3)),
    ("lineChart", _series(-5e-9, 3e-9)),
    ("lineChart", _series(1e300, -1e300)),
    ("lineChart", _series(1e-300, 2e-300)),
    ("lineChart", _series(*range(5_000))),
    ("histogram", {"title": "Values", "bars": [{"label": "only", "value": 7}]}),
    ("histogram", {"title": "Values", "bars": [{"label": "a", "value": 0}]}),
    ("histogram", {"title": "Values", "bars": [{"label": "a", "value": -2.5}]}),
    ("heatStrip", {"title": "Values", "cells": [{"label": "only", "value": 0}]}),
    ("heatStrip", {"title": "Values", "cells": [{"label": "only", "value": 1e-9}]}),
    ("dots", {"title": "Values", "points": [{"label": "only", "value": 2}]}),
    ("dots", {"title": "Values", "points": [{"label": "a", "value": 1e12}] * 900}),
]


def test_nothing_is_said_to_be_nothing(page: Page) -> None:
    for kind, chart in NOTHING:
        assert "Nothing to show yet" in _ticks(_drawn(page, kind, chart)), (kind, chart)


def test_strange_numbers_are_drawn_within_the_chart(page: Page) -> None:
    inside = """(drawing) => {
      const {width, height} = drawing.viewBox.baseVal, room = drawing.getBBox();
      return [room.x, room.y, width - room.x - room.width, height - room.y - room.height];
    }"""
    for kind, chart in STRANGE:
        drawing = _drawn(page, kind, chart).locator("svg").first
        drawn = drawing.inner_html()
        assert "NaN" not in drawn, (kind, drawn)
        assert "Infinity" not in drawn, (kind, drawn)
        assert min(drawing.evaluate(inside)) >= -2, f"something lies outside: {drawn}"


def test_bars_cells_and_dots_are_one_for_each_value(page: Page) -> None:
    assert (
        _drawn(page, "histogram", {"title": "H", "bars": LABELS}).locator("rect.bar").count() == 30
    )
    strip = _drawn(page, "heatStrip", {"title": "S", "cells": LABELS})
    assert strip.locator("rect.cell").count() == 30
    assert strip.locator("rect.cell.none").count() == 5  # hollow, whatever one's eyes tell apart
    dots = _drawn(page, "dots", {"title": "D", "points": LABELS})
    assert dots.locator("circle.dot").count() == 30
    assert "median 3" in _ticks(dots)


def test_a_chart_is_redrawn_when_its_width_changes(page: Page) -> None:
    figure = _drawn(page, "lineChart", LINE, 600)
    drawing = figure.locator("svg").first
    expect(drawing).to_have_attribute("viewBox", re.compile(r"^0 0 600 "))
    figure.locator("..").evaluate("(room) => { room.style.width = '320px'; }")
    expect(drawing).to_have_attribute("viewBox", re.compile(r"^0 0 320 "))


def test_charts_are_accessible_in_the_dark_and_on_a_phone(page: Page) -> None:
    three = [{**LINE["series"][0], "name": name} for name in ("one", "two", "three")]  # type: ignore[index]
    page.emulate_media(color_scheme="dark")
    figure = _drawn(page, "lineChart", _line(series=three), None)
    figure.get_by_text("Show the numbers").click()
    axe(page)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 390, "height": 844})
    axe(page)
