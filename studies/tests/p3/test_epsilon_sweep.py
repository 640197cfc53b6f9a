"""Tests of a sweep over epsilons: its cells, tables and charts."""

from __future__ import annotations

from studies.tests.p3.made_up import sweep_seen

from sottovoce.planning.trials import Spread
from sottovoce_studies.p3.epsilon_sweep import falls, surely_below
from sottovoce_studies.p3.figure_1 import LIMIT, sweep
from sottovoce_studies.p3.pipeline import MOST, published, read_aware


def spreads(*means: float, apart: float = 0.0) -> list[Spread]:
    return [Spread.of([mean - apart, mean + apart]) for mean in means]


def test_a_fall_is_one_at_every_step_and_beyond_chance() -> None:
    assert falls(spreads(3, 2, 1))
    assert not falls(spreads(3, 1, 2))
    assert not falls(spreads(3, 2, 1, apart=1.5))


def test_a_mean_is_surely_below_by_two_standard_errors() -> None:
    assert surely_below(spreads(0.08, apart=0.009)[0], 0.1)
    assert not surely_below(spreads(0.08, apart=0.011)[0], 0.1)
    assert not surely_below(spreads(0.12)[0], 0.1)


def test_ours_takes_no_more_than_the_noise_truly_keeps() -> None:
    work = sweep("quick", "crh")
    cells = work.cells(7)
    assert [cell.function for cell in cells].count(published) == len(work.epsilons)
    ours = [cell.arguments for cell in cells if cell.function is read_aware]
    spent = [arguments[1] for arguments in ours]
    assert all(epsilon < at for epsilon, at in zip(spent, work.ours, strict=True))
    assert spent[-1] == MOST


def test_a_sweep_has_three_tables_and_three_charts() -> None:
    work = sweep("quick", "gtm")
    seen = sweep_seen(work, [0.05, 0.06, 0.07])
    assert [round(share, 3) for share in seen.shares()] == [0.05, 0.06, 0.07]
    rows = list(seen.rows("4"))
    assert len(rows) == 3 * len(work.epsilons)
    assert rows[0]["MAE GTM"] == seen.of("change")[0].mean
    charts = seen.charts("compare P3 Figure 4", "", ("lost", "noise", "errors"), LIMIT)
    assert [len(chart.levels) for chart in charts] == [1, 0, 2]
    assert charts[0].title.endswith("(compare P3 Figure 4a)")
    assert charts[2].title.endswith("(compare P3 Figure 4)")
    assert charts[2].series[-1].role == "ours"
