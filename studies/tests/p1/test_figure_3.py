"""Tests of study `p1-figure-3`: the cells it shares with the tables, and the verdict."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sottovoce_studies.p1 import figure_3, table_2, table_3
from sottovoce_studies.p1.error_changes import Answered
from sottovoce_studies.p1.figure_3 import Panel, judge, pooled, reversals

MANY, ONE = Answered(104, 1834), Answered(1, 1)


def panel(seen: Any, answered: Answered = MANY) -> Panel:
    return Panel("Duchenne smiles", "3b", "Table 3", answered, seen)


def test_a_full_run_has_the_cells_of_both_tables(
    real_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(real_data))
    own = figure_3.STUDY.plan("full", 1).cells
    tables = [*table_2.STUDY.plan("full", 1).cells, *table_3.STUDY.plan("full", 1).cells]
    assert list(own) == tables


def test_it_fails_where_one_layer_at_the_true_guarantee_is_no_worse(
    as_printed: Callable[..., Any],
) -> None:
    outcome = judge([panel(as_printed("Table 3"))])
    assert (
        outcome.reason
        == "two layers have epsilon 4.6, not 1; one layer at this epsilon is no worse"
    )


def test_it_holds_in_shape_where_two_layers_win_at_their_true_guarantee(
    as_printed: Callable[..., Any],
) -> None:
    worse = as_printed("Table 3", {"equal TD": 0.3})
    assert judge([panel(worse)]).verdict == "holds in shape"
    assert judge([panel(as_printed("Table 3"), ONE)]).verdict == "holds in shape"


def test_it_fails_where_another_method_tolerates_more(as_printed: Callable[..., Any]) -> None:
    outcome = judge([panel(as_printed("Table 3", {"one-layer MV": 0.01}), ONE)])
    assert outcome.reason == "one-layer MV tolerates more than two-layer TD"


def test_it_fails_where_stronger_privacy_costs_less(as_printed: Callable[..., Any]) -> None:
    seen = as_printed("Table 3")
    turned = {1.0: seen[0.0], 0.5: seen[0.5], 0.0: seen[1.0]}
    assert reversals(turned, "two-layer TD") == [(1.0, 0.5), (0.5, 0.0)]
    assert not reversals(seen, "two-layer TD")
    assert judge([panel(turned, ONE)]).reason.startswith("one-layer MV changes less at epsilon 0.5")


def test_differences_are_pooled_over_epsilons(as_printed: Callable[..., Any]) -> None:
    gap = pooled(as_printed("Table 3"), "two-layer TD", "one-layer TD")
    expected = ((0.0560 - 0.0735) + (0.0962 - 0.1562) + (0.1793 - 0.2277)) / 3
    assert gap.mean == pytest.approx(expected)
    assert gap.trials == 12
