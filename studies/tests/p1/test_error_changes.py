"""Tests of changes, differences, and the symmetry at epsilon 0."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from sottovoce_studies.p1.crowds import PeerGrades
from sottovoce_studies.p1.error_changes import Grid, Seen, absent, chart, lower_at, rows
from sottovoce_studies.p1.layers import PUBLISHED


def seen(*errors: tuple[float, float]) -> Seen:
    """Trials with the errors of two-layer TD and of one-layer MV, and .2 and .3 without noise."""
    known = {"clean TD": 0.2, "clean MV": 0.3, "best constant": 0.36}
    return Seen(tuple({"two-layer TD": a, "one-layer MV": b, **known} for a, b in errors))


def test_a_change_is_to_the_same_reader_without_noise() -> None:
    at = seen((0.3, 0.5), (0.5, 0.5))
    assert at.change("two-layer TD").mean == pytest.approx(0.2)
    assert at.change("one-layer MV").mean == pytest.approx(0.2)
    assert at.change("best constant").mean == pytest.approx(0.16)
    assert at.error("two-layer TD").mean == pytest.approx(0.4)


def test_differences_are_taken_trial_by_trial() -> None:
    at = seen((0.3, 0.5), (0.5, 0.7))
    gap = at.apart("two-layer TD", "one-layer MV")
    assert gap.mean == pytest.approx(-0.1)
    assert gap.standard_error == pytest.approx(0)
    assert lower_at({1.0: at}, "two-layer TD", "one-layer MV") == ([1.0], [])
    assert lower_at({1.0: at}, "one-layer MV", "two-layer TD") == ([], [1.0])


def test_a_printed_figure_has_the_noise_of_a_hundred_trials_too() -> None:
    at = seen((0.3, 0.5), (0.5, 0.5))
    deviation = math.sqrt(0.02)
    assert at.deviation("two-layer TD") == pytest.approx(deviation)
    off = at.errors_off("two-layer TD", 0.1)
    assert off == pytest.approx(0.1 / (deviation * math.sqrt(1 / 2 + 1 / 100)))
    assert at.off_symmetry(0.1, 0.2) == pytest.approx(0.2 / (deviation / 10))


def test_results_go_to_their_epsilon() -> None:
    grid = Grid(PeerGrades(), (1.0, 0.0), 2)
    cells = grid.cells(5)
    assert [cell.arguments[1:] for cell in cells] == [
        (1.0, 0, 5),
        (1.0, 1, 5),
        (0.0, 0, 5),
        (0.0, 1, 5),
    ]
    found = grid.seen([{"x": number} for number in range(4)])
    assert [trial["x"] for trial in found[0.0].trials] == [2, 3]


def test_every_method_has_a_row_with_the_printed_number(as_printed: Callable[..., Any]) -> None:
    found = [row for row in rows("Table 3", as_printed("Table 3")) if "method" in row]
    assert len(found) == 3 * len(PUBLISHED)
    assert all(row["difference"] == pytest.approx(0, abs=1e-12) for row in found)
    assert all(
        row["difference"] is None
        for row in rows("Table 2", as_printed("Table 2"), compared=False)
        if "method" in row
    )


def test_a_chart_has_the_printed_curve_and_the_best_constant(
    as_printed: Callable[..., Any],
) -> None:
    picture = chart("x", "Table 3", "", as_printed("Table 3"))
    assert [series.name for series in picture.series if series.role == "reference"] == [
        "two-layer TD, printed"
    ]
    assert [level.y for level in picture.levels] == [pytest.approx(0.11)]


def test_without_answers_nothing_can_be_checked() -> None:
    outcome = absent("Table 3", "x")
    assert outcome.verdict == "cannot be checked"
    assert len(outcome.rows) == 13
    assert outcome.charts
