"""Blocks as HTML: text stays text, whatever it holds."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sottovoce.figures.blocks import (
    Badge,
    Block,
    Cell,
    Details,
    Facts,
    Figure,
    Figures,
    Heading,
    Link,
    Paragraph,
    Phrase,
    Table,
    Tone,
)
from sottovoce.figures.chart import Chart
from sottovoce.figures.numbers import words_for
from sottovoce.figures.svg import svg

__all__ = ["escaped", "marked_up"]

SIGNS: dict[Tone, str] = {"good": "✓", "partly": "≈", "bad": "✗", "open": "?"}
LONG = 24
"""A cell of so many letters gets room for a few words in a line."""

_NUMBER = re.compile(r"[-+−]?\d([\d.,:%±()\[\]\s–−+-]|to|e)*|[-–]?")


def marked_up(blocks: Sequence[Block], numbers: Iterator[int]) -> str:
    """The blocks one below the other; `numbers` has a number for each figure of the page."""
    return "\n".join(_block(block, numbers) for block in blocks)


def escaped(text: str) -> str:
    """Text that is only text, also where it holds what cannot be written or turns its direction."""
    plain = "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text)
    return html.escape(plain, quote=True)


def _block(block: Block, numbers: Iterator[int]) -> str:
    match block:
        case Heading(text, level, anchor):
            name = f' id="{anchor}"' if anchor else ""
            return f"<h{level}{name}>{escaped(text)}</h{level}>"
        case Paragraph(text):
            return f"<p>{_phrases(text)}</p>"
        case Facts(rows):
            body = "\n".join(f"<dt>{escaped(a)}</dt><dd>{escaped(b)}</dd>" for a, b in rows)
            return f"<dl>\n{body}\n</dl>"
        case Table():
            return _table(block)
        case Figure():
            return _figure(block, next(numbers))
        case Figures(figures):
            return f'<div class="figures">\n{marked_up(figures, numbers)}\n</div>'
        case Details(summary, blocks):
            inner = marked_up(blocks, numbers)
            return f"<details>\n<summary>{escaped(summary)}</summary>\n{inner}\n</details>"


def _phrases(text: str | tuple[Phrase, ...]) -> str:
    return "".join(map(_phrase, (text,) if isinstance(text, str) else text))


def _phrase(phrase: Phrase) -> str:
    match phrase:
        case Link(text, anchor):
            return f'<a href="#{anchor}">{escaped(text)}</a>'
        case Badge(text, tone):
            sign = f'<span aria-hidden="true">{SIGNS[tone]}</span>'
            return f'<strong class="badge {tone}">{sign} {escaped(text)}</strong>'
        case _:
            return escaped(phrase)


def _table(table: Table) -> str:
    right = [all(_is_number(row[i]) for row in table.rows) for i in range(len(table.columns))]
    caption = f"<caption>{escaped(table.caption)}</caption>\n" if table.caption else ""
    head = "".join(
        f'<th scope="col"{_classes(number)}>{escaped(text)}</th>'
        for text, number in zip(table.columns, right, strict=True)
    )
    body = "\n".join(f"<tr>{_row(table, i, right)}</tr>" for i in range(len(table.rows)))
    style = ' class="stacks"' if table.stacks else ""
    return (
        f'<div class="wide" tabindex="0">\n<table{style}>\n{caption}'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n</div>"
    )


def _row(table: Table, row: int, right: Sequence[bool]) -> str:
    cells = []
    for column, (cell, number) in enumerate(zip(table.rows[row], right, strict=True)):
        length = table.run_length(row, column)
        if length == 0:
            continue
        spans = f' rowspan="{length}"' if length > 1 else ""
        classes = _classes(number, not number and len(str(cell)) > LONG)
        cells.append(f"<td{spans}{classes}>{_cell(cell)}</td>")
    return "".join(cells)


def _classes(number: bool, long: bool = False) -> str:
    return ' class="number"' if number else ' class="long"' if long else ""


def _cell(cell: Cell) -> str:
    if isinstance(cell, int | float):
        return f"{cell:,}" if isinstance(cell, int) else f"{cell:.4g}"
    return _phrase(cell)


def _is_number(cell: Cell) -> bool:
    if isinstance(cell, str):
        return _NUMBER.fullmatch(cell) is not None
    return isinstance(cell, int | float)


def _figure(figure: Figure, number: int) -> str:
    chart = figure.chart
    told = escaped(f"{chart.title}. {chart.y_words()} against {chart.x_label}.")
    # The note is text of the page: in a picture on a phone its letters would be too small.
    picture = _own_names(svg(replace(chart, note="")), f"figure{number}-")
    picture = picture.replace("<svg ", f'<svg role="img" aria-label="{told}" ', 1)
    words = f"{_caption(figure.caption)}{_caption(chart.note, 'note')}"
    caption = f"<figcaption>\n{words}</figcaption>\n" if words else ""
    numbers = f"<details>\n<summary>The numbers</summary>\n{_table(_numbers(chart))}\n</details>"
    return f'<figure>\n<div class="picture">\n{picture}</div>\n{caption}{numbers}\n</figure>'


def _caption(text: str, style: str = "") -> str:
    named = f' class="{style}"' if style else ""
    return f"<p{named}>{escaped(text)}</p>\n" if text else ""


def _own_names(picture: str, prefix: str) -> str:
    """The picture with names no other picture of the page has."""
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}", picture)


def _numbers(chart: Chart) -> Table:
    """What was drawn, for those who cannot see it or want to copy it."""
    log = chart.y_scale == "log"
    words = (lambda value: f"{value:.4g}") if log else words_for(chart.values())
    points = [(point, series.name) for series in chart.series for point in series.points()]
    points.sort(key=lambda row: row[0].x)  # stable: the series keep their order
    rows = [
        (f"{point.x:g}", name, *("" if value is None else words(value) for value in point[1:]))
        for point, name in points
    ]
    rows += [("–", level.name, words(level.y), "", "") for level in chart.levels]
    columns = (chart.x_label, "series", chart.y_label, "low", "high")
    shown = 5 if any(series.low is not None for series in chart.series) else 3
    return Table(columns[:shown], tuple(row[:shown] for row in rows))
