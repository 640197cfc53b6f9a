"""Pages as one self-contained HTML document without scripts and external files, and fragments.

All text is escaped. The style supports screens, phones, dark mode and paper.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from itertools import count
from pathlib import Path

from sottovoce.figures.canvas import check_matplotlib
from sottovoce.figures.chart import Chart
from sottovoce.figures.number_format import words_for
from sottovoce.figures.page import (
    Badge,
    Bar,
    Block,
    Cell,
    Details,
    Facts,
    Figure,
    Figures,
    Heading,
    Hundred,
    Link,
    Paragraph,
    Phrase,
    Table,
    Tone,
)
from sottovoce.figures.picture import svg
from sottovoce.files.atomic_output import check_target, new_file
from sottovoce.version import __version__

SIGNS: dict[Tone, str] = {"good": "✓", "partly": "≈", "bad": "✗", "open": "?"}

LONG = 24
"""Cells with more letters than this get a minimum width."""

_NUMBER = re.compile(r"[-+−]?\d([\d.,:%±()\[\]\s–−+-]|to|e)*|[-–]?")

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def page(title: str, blocks: Sequence[Block], *, report: bool = False) -> str:
    """The whole document, as text; a report has room for figures side by side and wide tables."""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escaped(title)}</title>
<style>{_style("page")}{_style("report") if report else ""}</style>
</head>
<body>
<main>
<h1>{escaped(title)}</h1>
{marked_up(blocks, count(1))}
</main>
<footer>Sottovoce {__version__}. One file: it loads nothing and runs no script.</footer>
</body>
</html>
"""


@cache
def _style(name: str) -> str:
    """A style sheet next to this file: of a page, of a fragment, or what a report has in addition.

    A fragment is for a notebook: every colour is the notebook's own. A report has wide tables,
    figures side by side, and lines no longer than they read.
    """
    return "\n" + files("sottovoce.figures").joinpath(f"{name}.css").read_text(encoding="utf-8")


def fragment(title: str, blocks: Sequence[Block]) -> str:
    """The blocks for a notebook, which has its own page, fonts and colours."""
    return (
        f'<div class="sottovoce">\n<style>{_style("fragment")}</style>\n'
        f"<p><strong>{escaped(title)}</strong></p>\n{marked_up(blocks, count(1))}\n</div>"
    )


def check_page(path: Path, *, force: bool = False) -> None:
    """Check early that a page with figures can be drawn and saved."""
    check_matplotlib()
    check_target(path, force=force)


def write_page(title: str, blocks: Sequence[Block], path: Path, *, force: bool = False) -> None:
    """Write the document to a file, whole or not at all."""
    with new_file(path, force=force) as temporary:
        temporary.write_text(page(title, blocks), encoding="utf-8")


def marked_up(blocks: Sequence[Block], numbers: Iterator[int]) -> str:
    """The blocks as HTML; `numbers` gives each figure of the page a number."""
    return "\n".join(_block(block, numbers) for block in blocks)


def escaped(text: str) -> str:
    """Text with HTML escaped and unprintable characters replaced, such as direction marks."""
    plain = "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text)
    return html.escape(plain, quote=True)


def _block(block: Block, numbers: Iterator[int]) -> str:
    match block:
        case Heading(text, level, anchor):
            name = f' id="{anchor}"' if anchor else ""
            return f"<h{level}{name}>{escaped(text)}</h{level}>"
        case Paragraph(text):
            phrases = (text,) if isinstance(text, str) else text
            return f"<p>{''.join(map(_phrase, phrases))}</p>"
        case Facts(rows):
            body = "\n".join(f"<dt>{escaped(a)}</dt><dd>{escaped(b)}</dd>" for a, b in rows)
            return f"<dl>\n{body}\n</dl>"
        case Table():
            return _table(block)
        case Figure():
            return _figure(block, next(numbers))
        case Figures(figures):
            return f'<div class="figures">\n{marked_up(figures, numbers)}\n</div>'
        case Hundred(filled, sentence):
            return _hundred(filled, sentence)
        case Details(summary, blocks):
            inner = marked_up(blocks, numbers)
            return f"<details>\n<summary>{escaped(summary)}</summary>\n{inner}\n</details>"


def _hundred(filled: int, sentence: str) -> str:
    dots = "●" * filled + "○" * (100 - filled)
    rows = "<br>".join(dots[row : row + 10] for row in range(0, 100, 10))
    label = f'role="img" aria-label="{filled} of 100"'
    return f'<div class="hundred" {label}>{rows}</div>\n<p>{escaped(sentence)}</p>'


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
    if isinstance(cell, Bar):
        width = f"width:{100 * min(max(cell.share, 0.0), 1.0):.0f}%"
        return f'<span class="bar"><span style="{width}"></span></span> {cell}'
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
    """The picture with ids that are unique on the page."""
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}", picture)


def _numbers(chart: Chart) -> Table:
    """The numbers of a chart as a table, for screen readers and for copying."""
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
