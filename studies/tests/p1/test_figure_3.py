"""Tests of study `p1-figure-3`: the cells it shares with the tables, and the verdict."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sottovoce_studies.p1 import figure_3, table_2, table_3
from sottovoce_studies.p1.error_changes import Answered
from sottovoce_studies.p1.figure_3 import Panel, judge

MANY, ONE = Answered(104, 1834), Answered(1, 1)


def panel(seen: Any, answered: Answered = MANY, table: str = "Table 3") -> Panel:
    return Panel("Duchenne smiles", "3b", table, answered, seen, seen)


def test_a_full_run_has_the_cells_of_both_tables(
    real_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(real_data))
    own = figure_3.STUDY.plan("full", 1).cells
    tables = [*table_2.STUDY.plan("full", 1).cells, *table_3.STUDY.plan("full", 1).cells]
    assert list(own) == tables


def test_shape_is_judged_at_the_nominal_epsilon_and_privacy_apart(
    as_printed: Callable[..., Any],
) -> None:
    many, one = (judge([panel(as_printed("Table 3"), each)]) for each in (MANY, ONE))
    assert many.rulings.verdicts == ("not claimed", "holds", "fails")
    assert one.rulings.verdicts == ("not claimed", "holds", "holds")


def test_a_method_that_tolerates_more_is_named(as_printed: Callable[..., Any]) -> None:
    outcome = judge([panel(as_printed("Table 3", {"one-layer MV": 0.01}))])
    assert outcome.rulings.shape.verdict == "partly"
    assert "two-layer TD changes less than one-layer MV" in outcome.rulings.shape.reason
    assert outcome.claims["P1-7.2-15"].verdict == "partly"


def test_stronger_privacy_that_costs_less_is_named(as_printed: Callable[..., Any]) -> None:
    seen = as_printed("Table 3")
    turned = {1.0: seen[0.0], 0.5: seen[0.5], 0.0: seen[1.0]}
    outcome = judge([panel(turned)])
    assert outcome.claims["P1-7.2-14"].verdict == "fails"
    assert outcome.claims["P1-7.2-15"].verdict == "holds"


def test_without_duchenne_the_stand_in_decides_nothing_about_shape(
    as_printed: Callable[..., Any],
) -> None:
    outcome = judge([panel(as_printed("Table 2"), table="Table 2")])
    assert outcome.rulings.verdicts == ("not claimed", "cannot be checked", "fails")
    assert {claim.verdict for claim in outcome.claims.values()} == {"cannot be checked"}
