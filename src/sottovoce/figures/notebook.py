"""HTML of values for notebooks: their facts, the first rows of their table, and their odds."""

from __future__ import annotations

from sottovoce.errors import SottovoceError
from sottovoce.figures.html import fragment
from sottovoce.figures.page import Bar, Block, Cell, Facts, Hundred, Paragraph, Table
from sottovoce.mechanisms.policies import mechanism_of
from sottovoce.model import Policy
from sottovoce.model.display import Display, Displayed, cell_text, more_words


def html_of(value: Displayed) -> str:
    """The value as an HTML fragment without scripts and external files, at most 20 rows long."""
    display = value._display()
    odds = [Hundred(*display.odds)] if display.odds else []
    blocks: list[Block] = [Facts(display.facts)] if display.facts else []
    blocks += policy_odds(value) if isinstance(value, Policy) else odds
    if display.columns:
        blocks.append(_table(display))
    if display.more:
        blocks.append(Paragraph(more_words(display.more)))
    return fragment(display.title, blocks)


def policy_odds(policy: Policy) -> list[Block]:
    """The outcome for 100 answers under a policy; empty where no report stands for one answer."""
    if policy.sealed:
        return []
    try:
        odds = mechanism_of(policy).odds()
    except SottovoceError as error:  # such as a policy that does not keep its promise
        return [Paragraph(str(error))]
    return [Hundred(odds.of_100, odds.sentence)] if odds else []


def _table(display: Display) -> Table:
    bars = [name != "" and name == display.share for name in display.columns]
    rows = tuple(
        tuple(_cell(cell, bar) for cell, bar in zip(row, bars, strict=True)) for row in display.rows
    )
    return Table(display.columns, rows)


def _cell(cell: str | int | float, bar: bool) -> Cell:
    return Bar(float(cell)) if bar else cell_text(cell)
