"""Tests of changes, differences, and P1's statements about curves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sottovoce_studies.p1.crowds import PeerGrades
from sottovoce_studies.p1.error_changes import (
    ALIKE,
    Answered,
    Grid,
    Seen,
    SettingsGrid,
    absent_chart,
    absent_rows,
    better_throughout,
    chart,
    distance,
    grows_as_epsilon_falls,
    lower_at,
    pooled,
    reversals,
    rows,
    votes_alike,
)
from sottovoce_studies.p1.layers import AS_PRINTED, PUBLISHED, Setting


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


def test_printed_numbers_that_are_met_have_no_distance(as_printed: Callable[..., Any]) -> None:
    choice = distance(AS_PRINTED, "Table 3", as_printed("Table 3"))
    assert (choice.met, choice.of) == (12, 12)
    assert choice.distance == pytest.approx(0, abs=1e-9)
    assert choice.values == AS_PRINTED.values


def test_a_printed_number_far_from_ours_is_not_met(as_printed: Callable[..., Any]) -> None:
    choice = distance(AS_PRINTED, "Table 3", as_printed("Table 3", {"two-layer MV": 0.5}))
    assert (choice.met, choice.of) == (9, 12)


def test_results_go_to_their_setting_and_epsilon() -> None:
    grid = SettingsGrid(PeerGrades(), (1.0, 0.0), 2, (AS_PRINTED, Setting("random")))
    assert [cell.arguments[1:3] for cell in grid.cells(5)] == [
        (1.0, 0),
        (1.0, 1),
        (0.0, 0),
        (0.0, 1),
    ]
    found = grid.seen([[{"x": number}, {"x": -number}] for number in range(4)])
    assert [trial["x"] for trial in found[AS_PRINTED][0.0].trials] == [2, 3]
    assert [trial["x"] for trial in found[Setting("random")][1.0].trials] == [0, -1]


def test_votes_are_alike_if_they_differ_as_little_as_in_print(
    as_printed: Callable[..., Any],
) -> None:
    assert pytest.approx(0.0139) == ALIKE
    assert votes_alike(as_printed("Table 3")).true
    assert not votes_alike(as_printed("Table 3", {"two-layer MV": 0.3})).true


def test_a_method_is_better_throughout_only_if_it_is_worse_at_no_epsilon(
    as_printed: Callable[..., Any],
) -> None:
    seen = as_printed("Table 3")
    assert better_throughout(seen, "two-layer TD", "one-layer TD").true
    assert not better_throughout(seen, "one-layer TD", "two-layer TD").true
    once_worse = seen | {1.0: as_printed("Table 3", {"one-layer TD": 0.01})[1.0]}
    assert pooled(once_worse, "two-layer TD", "one-layer TD").mean < 0
    assert (
        "worse at epsilon 1" in better_throughout(once_worse, "two-layer TD", "one-layer TD").seen
    )


def test_a_change_that_turns_back_does_not_grow(as_printed: Callable[..., Any]) -> None:
    seen = as_printed("Table 3")
    assert grows_as_epsilon_falls(seen, "two-layer TD").true
    turned = {1.0: seen[0.0], 0.5: seen[0.5], 0.0: seen[1.0]}
    assert reversals(turned, "two-layer TD") == [(1.0, 0.5), (0.5, 0.0)]
    assert not reversals(seen, "two-layer TD")
    assert not grows_as_epsilon_falls(turned, "two-layer TD").true


def test_a_change_that_stays_does_not_grow(as_printed: Callable[..., Any]) -> None:
    level = as_printed("Table 3", {"two-layer TD": 0.1})
    assert not grows_as_epsilon_falls(level, "two-layer TD").true


def test_differences_are_pooled_over_epsilons(as_printed: Callable[..., Any]) -> None:
    gap = pooled(as_printed("Table 3"), "two-layer TD", "one-layer TD")
    expected = ((0.0560 - 0.0735) + (0.0962 - 0.1562) + (0.1793 - 0.2277)) / 3
    assert gap.mean == pytest.approx(expected)
    assert gap.trials == 12


def test_the_guarantee_fails_for_many_answers_and_holds_for_one() -> None:
    ruling = Answered(104, 1834).ruling(1.0)
    assert ruling.verdict == "fails"
    assert ruling.reason.startswith("epsilon 4.6 per answer for 104 answers, not 1")
    assert Answered(1, 1).ruling(1.0).verdict == "holds"


def test_two_layers_protect_a_worker_with_many_answers_better_than_one_layer() -> None:
    two, one = Answered(100, 100).per_worker(1.0)
    assert two == pytest.approx(67.2, abs=0.05)
    assert one == pytest.approx(100)


def test_the_order_of_the_layers_per_worker_depends_on_epsilon() -> None:
    words = Answered(104, 1834).words(1.0)
    assert "69.9 with two layers and 104 with one at 1, 69.5 and 10.4 at 0.1" in words
    assert "at 4 of P1's 13 epsilons" in words


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


def test_without_answers_only_printed_numbers_are_shown() -> None:
    assert len(absent_rows("Table 3")) == 13
    assert len(absent_chart("Table 3", "x").series) == len(PUBLISHED)
