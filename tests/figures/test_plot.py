"""Pictures of results, comparisons, plans and tradeoffs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import sottovoce
from sottovoce import Comparison, Domain, Reports, Scenario, UsageError
from sottovoce.datasets import CategoricalCrowd, NumericCrowd, generate
from sottovoce.errors import install_command
from sottovoce.figures.charts import result_chart

ANSWERS, GOLD = generate(CategoricalCrowd(workers=8, tasks=30, labels=3, redundancy=4, seed=7))


def numbers() -> tuple[Reports, sottovoce.Gold]:
    return generate(NumericCrowd(workers=8, tasks=30, seed=7))


def test_a_result_is_drawn_by_confidence_by_standard_error_or_by_weight() -> None:
    labels = result_chart(sottovoce.infer(ANSWERS))
    assert (labels.x_label, sum(labels.series[0].y)) == ("confidence", 30)
    table, _ = numbers()
    mean = result_chart(sottovoce.infer(table, "mean"))
    assert (mean.x_label, sum(mean.series[0].y)) == ("standard error", 30)
    no_error = [
        name
        for name in ("median", "crh", "gtm")
        if sottovoce.infer(table, name).standard_error is None
    ]
    for name in no_error:
        chart = result_chart(sottovoce.infer(table, name))
        assert (chart.x_label, sum(chart.series[0].y)) == ("weight", 8)


def test_a_result_is_shown_as_svg_and_png_and_saved(tmp_path: Path) -> None:
    drawn = sottovoce.plot(sottovoce.infer(ANSWERS))
    assert repr(drawn) == "Plot(title='Confidence of 30 truths')"
    assert drawn._repr_svg_().startswith("<svg")
    assert drawn._repr_png_().startswith(b"\x89PNG")
    drawn.save(tmp_path / "a.png")
    with pytest.raises(sottovoce.OutputExists):
        drawn.save(tmp_path / "a.png")
    drawn.save(str(tmp_path / "a.png"), force=True)
    with drawn.figure() as figure:
        assert len(figure.axes) == 1


def test_methods_are_drawn_with_their_scores() -> None:
    table, gold = numbers()
    for rows in (sottovoce.compare(ANSWERS, GOLD), sottovoce.compare(table, gold, ["mean", "crh"])):
        assert isinstance(rows, list)
        with sottovoce.plot(rows).figure() as figure:
            [axes] = figure.axes
            names = [label.get_text() for label in axes.get_yticklabels()]
        assert names == [row.method for row in reversed(rows)]
        assert all(isinstance(row, Comparison) and row.method in repr(rows) for row in rows[:6])
        assert rows[0].method in rows._repr_html_()


def test_plans_and_tradeoffs_are_drawn_and_have_short_reprs() -> None:
    scenario = Scenario(Domain.categorical("ab"), tasks=6, workers=6, answers_per_worker=3)
    made = sottovoce.plan(scenario, [1.0], ways="local", trials=19, cache=False)
    found = sottovoce.tradeoff(ANSWERS, GOLD, [1.0], trials=2)
    for value in (made, found, made.recommendations[0]):
        assert len(repr(value)) <= 1000
        assert "<table>" in value._repr_html_()
    for drawn in (made, found):
        assert sottovoce.plot(drawn)._repr_svg_().startswith("<svg")


def test_anything_else_is_refused() -> None:
    wrong: list[Any] = [[], "result.csv", ANSWERS]
    for each in wrong:
        with pytest.raises(UsageError, match="plot draws a Result, a Plan, a Tradeoff or what"):
            sottovoce.plot(each)


def test_without_matplotlib_the_extra_is_named() -> None:
    code = """
import sys
sys.modules["matplotlib"] = None
import sottovoce
try:
    sottovoce.plot(None)
except sottovoce.NotInstalled as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "matplotlib" in done.stdout
    assert install_command("plots") in done.stdout
