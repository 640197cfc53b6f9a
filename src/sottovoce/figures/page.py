"""One HTML document that holds everything it shows: it loads nothing and runs no script."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sottovoce.errors import UsageError
from sottovoce.figures.canvas import check_matplotlib
from sottovoce.figures.chart import Chart
from sottovoce.figures.numbers import words_for
from sottovoce.figures.style import STYLE
from sottovoce.figures.svg import svg
from sottovoce.stores.writing import check_target, new_file
from sottovoce.version import __version__

__all__ = [
    "Block",
    "Cell",
    "Figure",
    "Heading",
    "Paragraph",
    "Table",
    "check_page",
    "page",
    "write_page",
]

Cell = str | int | float

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

_NUMBER = re.compile(r"[-+−]?\d([\d.,:%±()\[\]\s–−+-]|to|e)*|[-–]?")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a part of the page."""

    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of plain text."""

    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table; columns that hold only numbers, with or without their bands, stand to the right."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""

    def __post_init__(self) -> None:
        wrong = next((row for row in self.rows if len(row) != len(self.columns)), None)
        if wrong is not None:
            raise UsageError(
                f"a row of the table has {len(wrong)} cells for {len(self.columns)} columns: "
                "give one for each"
            )


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart as a picture, with the numbers it was drawn from."""

    chart: Chart
    caption: str = ""


Block = Heading | Paragraph | Table | Figure


def page(title: str, blocks: Sequence[Block]) -> str:
    """The whole document, as text."""
    body = "\n".join(_block(block, number) for number, block in enumerate(blocks))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{_escaped(title)}</title>
<style>{STYLE}</style>
</head>
<body>
<main>
<h1>{_escaped(title)}</h1>
{body}
</main>
<footer>Sottovoce {__version__}. One file: it loads nothing and runs no script.</footer>
</body>
</html>
"""


def check_page(path: Path, *, force: bool = False) -> None:
    """Refuse before the work a page with figures that could not be drawn or saved after it."""
    check_matplotlib()
    check_target(path, force=force)


def write_page(title: str, blocks: Sequence[Block], path: Path, *, force: bool = False) -> None:
    """Write the document to a file, whole or not at all."""
    with new_file(path, force=force) as temporary:
        temporary.write_text(page(title, blocks), encoding="utf-8")


def _block(block: Block, number: int) -> str:
    match block:
        case Heading(text):
            return f"<h2>{_escaped(text)}</h2>"
        case Paragraph(text):
            return f"<p>{_escaped(text)}</p>"
        case Table():
            return _table(block)
        case Figure():
            return _figure(block, number)


def _table(table: Table) -> str:
    right = [all(_is_number(row[i]) for row in table.rows) for i in range(len(table.columns))]
    caption = f"<caption>{_escaped(table.caption)}</caption>\n" if table.caption else ""
    head = "".join(_cell("th", *cell) for cell in zip(table.columns, right, strict=True))
    rows = [
        "".join(_cell("td", _text(cell), number) for cell, number in zip(row, right, strict=True))
        for row in table.rows
    ]
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    return (
        f'<div class="wide" tabindex="0">\n<table>\n{caption}'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n</div>"
    )


def _cell(tag: str, text: str, number: bool) -> str:
    scope = ' scope="col"' if tag == "th" else ""
    style = ' class="number"' if number else ""
    return f"<{tag}{scope}{style}>{_escaped(text)}</{tag}>"


def _figure(figure: Figure, number: int) -> str:
    chart = figure.chart
    told = _escaped(f"{chart.title}. {chart.y_words()} against {chart.x_label}.")
    # The note is text of the page: in a picture on a phone its letters would be too small.
    picture = _own_names(svg(replace(chart, note="")), f"figure{number}-")
    picture = picture.replace("<svg ", f'<svg role="img" aria-label="{told}" ', 1)
    words = f"{_paragraph(figure.caption)}{_paragraph(chart.note, 'note')}"
    caption = f"<figcaption>\n{words}</figcaption>\n" if words else ""
    numbers = f"<details>\n<summary>The numbers</summary>\n{_table(_numbers(chart))}\n</details>"
    return f'<figure>\n<div class="picture">\n{picture}</div>\n{caption}{numbers}\n</figure>'


def _paragraph(text: str, style: str = "") -> str:
    named = f' class="{style}"' if style else ""
    return f"<p{named}>{_escaped(text)}</p>\n" if text else ""


def _own_names(picture: str, prefix: str) -> str:
    """The picture with names no other picture of the page has."""
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}", picture)


def _numbers(chart: Chart) -> Table:
    """What was drawn, for those who cannot see it or want to copy it."""
    words = words_for(chart.values())
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


def _text(cell: Cell) -> str:
    return (
        cell if isinstance(cell, str) else f"{cell:,}" if isinstance(cell, int) else f"{cell:.4g}"
    )


def _is_number(cell: Cell) -> bool:
    return not isinstance(cell, str) or _NUMBER.fullmatch(cell) is not None


def _escaped(text: str) -> str:
    """Text that is only text, also where it holds what cannot be written or turns its direction."""
    plain = "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text)
    return html.escape(plain, quote=True)
