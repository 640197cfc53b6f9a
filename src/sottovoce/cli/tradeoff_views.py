"""A trade-off as people see it: a table, a chart, a page, one JSON object."""

from __future__ import annotations

import math
from typing import Any

from sottovoce.figures import Block, Chart, Figure, Level, Paragraph, Series, Table
from sottovoce.model.guarantee import rounded_up
from sottovoce.planning.tradeoff import CLEAN, CONSTANT, Tradeoff, TradeoffRow

__all__ = ["blocks", "chart", "columns", "rows", "summary", "title", "words"]

OURS = "recommended"


def title(source: str) -> str:
    """What the page and the figure are about."""
    return f"What privacy costs on {source if source != '-' else 'these answers'}"


def words(found: Tradeoff) -> str:
    """What every row has in common, in one line."""
    unit = f"epsilon per {found.unit}"
    return (
        f"{found.scored:,} tasks with a known truth; up to {found.answers:,} reports of a worker, "
        f"all seen together; {unit}; {found.trials} trials, seed {found.seed}, SIMULATED noise"
    )


def columns(found: Tradeoff) -> list[str]:
    """The heads of the table."""
    return ["epsilon", "pair", _measure(found), "s.e.", "90 % band", "true epsilon", ""]


def rows(found: Tradeoff) -> list[list[str]]:
    """The table: a row for each pair at each epsilon, then what needs no noise."""
    shown = [_shown(row, found) for row in found.rows]
    for name, value in ((_clean(found), found.clean), (CONSTANT, found.constant)):
        shown.append(["-", name, _number(value, found), "", "", "", ""])
    return shown


def chart(found: Tradeoff, source: str) -> Chart:
    """The measure by epsilon: ours, the papers', answers as they are and the best constant."""
    return Chart(
        title(source),
        f"epsilon per {found.unit}",
        "accuracy" if found.measure == "accuracy" else "mean absolute error",
        tuple(_series(found)),
        (Level(_clean(found), found.clean), Level(CONSTANT, found.constant)),
        note=" ".join(filter(None, [_note(found), *_weaker(found)])),
        better="higher" if found.measure == "accuracy" else "lower",
        x_scale="log" if len(found.recommended) > 2 else "linear",
    )


def blocks(found: Tradeoff, source: str) -> list[Block]:
    """The page: the figure, the table, and how they came about."""
    heads = tuple(head or "remark" for head in columns(found))
    return [
        Paragraph(_said(found)),
        Figure(chart(found, source), "Bands hold the middle 90 % of trials."),
        Table(heads, tuple(tuple(row) for row in rows(found)), words(found)),
    ]


def summary(found: Tradeoff) -> dict[str, Any]:
    """Everything as one JSON object."""
    table = found.table()
    records = [{name: _plain(table[name][i]) for name in table} for i in range(len(found.rows))]
    return {
        "measure": found.measure,
        "clean": found.clean,
        "clean_method": found.clean_method,
        "best_constant": found.constant,
        "unit": str(found.unit),
        "answers_of_a_worker": found.answers,
        "tasks": found.scored,
        "trials": found.trials,
        "seed": found.seed,
        "simulated": True,
        "recommended": {f"{e:g}": row.name for e, row in found.recommended.items()},
        "rows": records,
    }


def _clean(found: Tradeoff) -> str:
    return f"{CLEAN}, {found.clean_method}"


def _measure(found: Tradeoff) -> str:
    return "accuracy" if found.measure == "accuracy" else "MAE"


def _shown(row: TradeoffRow, found: Tradeoff) -> list[str]:
    spread = row.spread
    band = f"{_number(spread.low, found)} to {_number(spread.high, found)}"
    held = rounded_up(row.true_epsilon, 4) if math.isfinite(row.true_epsilon) else "none"
    held += f", delta {row.delta:g}" if row.delta else ""
    remark = OURS if row.recommended else "as published" if row.pair.published else ""
    return [
        f"{row.epsilon:g}", row.name, _number(spread.mean, found),
        f"{spread.standard_error:.2g}", band, held, remark,
    ]  # fmt: skip


def _series(found: Tradeoff) -> list[Series]:
    by_name: dict[str, list[TradeoffRow]] = {}
    for row in found.rows:
        by_name.setdefault(OURS if row.recommended else row.name, []).append(row)
    return [
        Series(
            name,
            tuple(row.epsilon for row in rows),
            tuple(row.spread.mean for row in rows),
            tuple(row.spread.low for row in rows),
            tuple(row.spread.high for row in rows),
            "ours" if name == OURS else "theirs",
        )
        for name, rows in by_name.items()
    ]


def _note(found: Tradeoff) -> str:
    chosen = {e: row.name for e, row in found.recommended.items()}
    if not chosen:
        return ""
    if len({*chosen.values()}) == 1:
        return f"Recommended at every epsilon: {next(iter(chosen.values()))}."
    return f"Recommended: {'; '.join(f'{name} at {e:g}' for e, name in chosen.items())}."


def _weaker(found: Tradeoff) -> list[str]:
    """What a figure must say of pairs that do not keep the epsilon at which they are drawn."""
    said = []
    for name in dict.fromkeys(row.name for row in found.rows):
        rows = [row for row in found.rows if row.name == name]
        held = [row.true_epsilon for row in rows]
        if rows[0].pair.published:
            ends = sorted({rounded_up(end, 4) for end in (min(held), max(held))}, key=float)
            said.append(f"{name} truly keeps epsilon {' to '.join(ends)}, not the one shown.")
        elif any(row.delta > ours.delta for row in rows for ours in found.recommended.values()):
            said.append(f"{name} keeps it with delta {rows[0].delta:g} only.")
    return said


def _said(found: Tradeoff) -> str:
    return (
        f"Answers as they are give {_measure(found)} {_number(found.clean, found)} "
        f"({found.clean_method}), the best "
        f"constant predictor {_number(found.constant, found)}. {_note(found)} It was chosen by a "
        "pilot round whose noise is not that of the trials shown. The noise is simulated."
    )


def _number(value: float, found: Tradeoff) -> str:
    return f"{value:.4f}" if found.measure == "accuracy" else f"{value:.4g}"


def _plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value
