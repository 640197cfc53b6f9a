"""Charts as pictures."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import matplotlib
import pytest
from matplotlib.text import Text
from tests.figures.charts import TRADE_OFF

from sottovoce.errors import OutputExists, UsageError
from sottovoce.figures import Chart, Level, Series, save, svg
from sottovoce.figures.canvas import INK
from sottovoce.figures.picture import drawn

PLAIN = Chart("t", "x", "y", (Series("a", (1.0,), (0.5,)),))


@pytest.fixture(scope="module")
def text() -> str:
    return svg(TRADE_OFF)


def test_the_same_chart_is_the_same_text_here_and_from_another_process(text: str) -> None:
    assert svg(TRADE_OFF) == text
    code = "from tests.figures.charts import TRADE_OFF; from sottovoce.figures import svg; "
    code += "import sys; sys.stdout.write(svg(TRADE_OFF))"
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root
    )
    assert done.stdout == text


def test_a_picture_is_one_element_without_comments_dates_or_fonts(text: str) -> None:
    assert ET.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314 - our own text
    assert text.startswith("<svg ")
    assert not [word for word in ("<!--", "<metadata", "<text", "font-family") if word in text]


def test_a_picture_and_the_settings_of_others_leave_each_other_alone() -> None:
    before = dict(matplotlib.rcParams)
    plain = svg(PLAIN)
    assert dict(matplotlib.rcParams) == before
    with matplotlib.rc_context({"font.size": 30, "lines.linewidth": 9, "axes.grid": True}):
        assert svg(PLAIN) == plain


def test_epsilons_are_written_as_they_are_and_series_differ_in_color_marker_and_dash() -> None:
    with drawn(TRADE_OFF) as figure:
        labels = [label.get_text() for label in figure.axes[0].get_xticklabels()]
        lines = figure.axes[0].get_lines()[: len(TRADE_OFF.series)]
    assert labels == ["0.1", "0.5", "1", "2", "4", "8"]
    for style in ("get_color", "get_marker", "_unscaled_dash_pattern"):
        seen = [getattr(line, style) for line in lines]
        values = [str(value() if callable(value) else value) for value in seen]
        assert len(set(values)) == len(lines), style


def test_labels_of_close_x_are_left_out() -> None:
    xs = tuple(1 + i / 1000 for i in range(50))
    with drawn(replace(PLAIN, series=(Series("a", xs, xs),), x_scale="log")) as figure:
        figure.draw_without_rendering()
        boxes = [label.get_window_extent() for label in figure.axes[0].get_xticklabels()]
    assert len(boxes) >= 3
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


def test_a_logarithmic_y_is_marked_at_powers_of_ten() -> None:
    xs = (1.0, 2.0, 3.0)
    chart = replace(PLAIN, series=(Series("a", xs, (1e-12, 1e-6, 1.0)),), y_scale="log")
    with drawn(chart) as figure:
        labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == ["10⁻¹²", "10⁻¹⁰", "10⁻⁸", "10⁻⁶", "10⁻⁴", "10⁻²", "1"]


def test_six_series_and_the_papers_own_differ_without_colour_too() -> None:
    xs = (1.0, 2.0, 3.0)
    named = tuple(Series(f"method {i}", xs, (i, i, i)) for i in range(6))
    printed = tuple(Series(f"paper {i}", xs, (i, i, i), role="reference") for i in range(2))
    with drawn(replace(PLAIN, series=(*printed, *named))) as figure:
        lines = figure.axes[0].get_lines()
    looks = [(line.get_marker(), str(line._unscaled_dash_pattern)) for line in lines]
    assert len({marker for marker, _ in looks}) == 8
    assert len({dash for _, dash in looks[2:]}) == 6
    assert [line.get_color() for line in lines[:2]] == [INK, INK]
    assert len({line.get_color() for line in lines}) == 7


def test_x_that_are_whole_are_marked_at_whole_numbers() -> None:
    xs = tuple(map(float, [*range(3, 11), *range(20, 101, 10)]))
    with drawn(replace(PLAIN, series=(Series("a", xs, xs),))) as figure:
        ticks = figure.axes[0].get_xticks()
    assert all(tick == round(tick) for tick in ticks)


def test_labels_on_a_logarithmic_x_are_evenly_apart() -> None:
    xs = tuple(10.0**k for k in range(15))
    with drawn(replace(PLAIN, series=(Series("a", xs, xs),), x_scale="log")) as figure:
        labels = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert labels == ["1", "10²", "10⁴", "10⁶", "10⁸", "10¹⁰", "10¹²", "10¹⁴"]


@pytest.mark.parametrize(
    ("values", "starts"), [((8.0, 22.0), True), ((0.6, 0.9), False), ((-0.1, 0.4), False)],
)  # fmt: skip
def test_y_starts_at_0_where_that_leaves_room_for_what_differs(
    values: tuple[float, ...], starts: bool
) -> None:
    with drawn(replace(PLAIN, series=(Series("a", (1.0, 2.0), values),))) as figure:
        low, high = figure.axes[0].get_ylim()
    assert (low == 0) == starts
    assert low <= min(values) <= max(values) <= high


def test_bars_stand_side_by_side_from_0_to_their_values() -> None:
    xs = (0.0, 1.0, 2.0)
    both = (
        Series("a", xs, (0.2, 0.5, 0.3), (0.1, 0.4, 0.2), (0.3, 0.6, 0.4)),
        Series("paper", xs, (0.3, 0.4, 0.3), role="reference"),
    )
    with drawn(replace(PLAIN, series=both, style="bars")) as figure:
        axes = figure.axes[0]
        bars = sorted((bar.get_x(), bar.get_x() + bar.get_width(), bar.get_height())
                      for bar in axes.patches)  # fmt: skip
        hatches = {bar.get_hatch() for bar in axes.patches}
        low, _ = axes.get_ylim()
    assert [height for *_, height in bars] == [0.2, 0.3, 0.5, 0.4, 0.3, 0.3]
    assert all(left[1] <= right[0] + 1e-9 for left, right in pairwise(bars))
    assert len(hatches) == 2
    assert low == 0


@pytest.mark.parametrize("levels", [(0.5, 0.5, 0.5), (0.0, 0.01, 0.99, 1.0), (0.3,)])
def test_labels_of_levels_do_not_overlap(levels: tuple[float, ...]) -> None:
    named = tuple(
        Level(f"a rather long name of level {y}, no. {i}", y) for i, y in enumerate(levels)
    )
    with drawn(replace(PLAIN, levels=named)) as figure:
        figure.draw_without_rendering()
        texts = figure.axes[0].texts
        boxes = sorted(Text.get_window_extent(text).intervaly.tolist() for text in texts)
    assert len(boxes) == len(levels)
    assert all(below[1] <= above[0] for below, above in pairwise(boxes))


@pytest.mark.parametrize(
    "chart",
    [
        TRADE_OFF,
        replace(TRADE_OFF, title="W" * 200, note="a long note " * 40, x_label="x " * 90),
        replace(TRADE_OFF, levels=(Level("unbreakable" * 9, 0.5),), y_label="why " * 40),
        replace(PLAIN, series=(Series("a very long name " * 12, (1.0,), (1e9,)),)),
        replace(PLAIN, title="costs $5 and $6_{x}", y_label="ε, 誤差"),
    ],
    ids=["plausible", "long texts", "long labels", "long name", "dollars and scripts"],
)
def test_nothing_is_cut_off(chart: Chart) -> None:
    with drawn(chart) as figure:
        figure.draw_without_rendering()
        axes = figure.axes[0].get_tightbbox()
        others = [*figure.texts, *figure.legends]
        boxes = [axes, *(artist.get_window_extent() for artist in others)]
        width, height = figure.bbox.width, figure.bbox.height
    assert min(min(box.x0, box.y0) for box in boxes) >= -0.5
    assert max(box.x1 for box in boxes) <= width + 0.5
    assert max(box.y1 for box in boxes) <= height + 0.5


def test_the_ending_says_what_is_saved_and_the_same_chart_is_the_same_png(tmp_path: Path) -> None:
    for name, start in (("a.PNG", b"\x89PNG"), ("b.png", b"\x89PNG")):
        save(PLAIN, tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.PNG", "b.png"]
    assert (tmp_path / "a.PNG").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"a\.pdf is no picture: end its name in \.svg or \.png"):
        save(PLAIN, tmp_path / "a.pdf")


def test_a_picture_is_not_replaced_unasked(tmp_path: Path) -> None:
    (tmp_path / "a.svg").write_text("mine")
    with pytest.raises(OutputExists):
        save(PLAIN, tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text() == "mine"
    save(PLAIN, tmp_path / "a.svg", force=True)
    assert (tmp_path / "a.svg").read_text().startswith("<svg ")
    assert [path.name for path in tmp_path.iterdir()] == ["a.svg"]


def test_without_matplotlib_one_is_told_what_to_install_and_text_still_works() -> None:
    code = """
import sys
sys.modules["matplotlib"] = None
from sottovoce.errors import NotInstalled
from sottovoce.figures import Chart, Series, svg, text_chart
chart = Chart("t", "x", "y", (Series("a", (1.0,), (0.5,)),))
assert "0.500" in text_chart(chart)
try:
    svg(chart)
except NotInstalled as error:
    print(error)
"""
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.startswith("a plot needs matplotlib, which is not installed: pip install ")
    assert "[plots]" in told.stdout
