"""Pages as one self-contained HTML document without scripts and external files, and fragments.

All text is escaped. The style supports screens, phones, dark mode and paper.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
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
<style>{STYLE}{REPORT_STYLE if report else ""}</style>
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


def fragment(title: str, blocks: Sequence[Block]) -> str:
    """The blocks for a notebook, which has its own page, fonts and colours."""
    return (
        f'<div class="sottovoce">\n<style>{FRAGMENT_STYLE}</style>\n'
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


STYLE = """
:root {
  color-scheme: light dark;
  --paper: #faf8f4; --card: #fff; --ink: #1d2424; --soft: #566162; --line: #e1ddd3;
  --accent: #1f5f5b;
  --good: #00557f; --partly: #6b5200; --bad: #983200;
  --good-tint: #e1f0f9; --partly-tint: #fbf2d5; --bad-tint: #fdebe0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14191a; --card: #1c2324; --ink: #e6e9e6; --soft: #9fabaa; --line: #303a3a;
    --accent: #7cc7bf;
    --good: #86caef; --partly: #e8cf74; --bad: #ffa678;
    --good-tint: #102c3b; --partly-tint: #332b0f; --bad-tint: #3b1f11;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 0 1.25rem; max-width: 46rem; background: var(--paper);
  color: var(--ink);
  font: 1.0625rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  overflow-wrap: anywhere; -webkit-text-size-adjust: 100%;
}
main { padding: 2.5rem 0 2rem; }
h1, h2 { line-height: 1.2; text-wrap: balance; }
h1 {
  margin: 0 0 1.25rem; font-size: clamp(1.6rem, 5.5vw, 2.3rem); font-weight: 650;
  letter-spacing: -.015em;
}
h2 { margin: 2.5rem 0 .5rem; font-size: 1.25rem; }
h3 { margin: 2rem 0 .5rem; font-size: 1.1rem; line-height: 1.3; }
p { margin: .6rem 0 1rem; white-space: pre-line; }
a { color: var(--accent); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1rem; margin: .6rem 0 1rem; }
dt { color: var(--soft); font-weight: 600; }
dd { margin: 0; }
.badge {
  display: inline-block; padding: .05em .55em; border: 2px solid; border-radius: .7em;
  font-size: .9em; font-weight: 650; line-height: 1.45; white-space: nowrap;
}
.good { color: var(--good); background: var(--good-tint); }
.partly { color: var(--partly); background: var(--partly-tint); border-style: dashed; }
.bad { color: var(--bad); background: var(--bad-tint); border-width: 3px; border-style: double; }
.open { color: var(--soft); border-style: dotted; }
figure {
  margin: 1.75rem 0; background: var(--card); border: 1px solid var(--line);
  border-radius: 14px; overflow: hidden;
}
.picture { padding: 1rem; background: #fff; }
.picture svg { display: block; width: 100%; max-width: 40rem; height: auto; margin: 0 auto; }
figcaption { padding: .9rem 1.25rem 0; color: var(--soft); font-size: .95rem; line-height: 1.5; }
figcaption p { margin: 0 0 .5rem; }
figcaption .note { font-size: .875rem; }
.picture + figcaption, .picture + details { border-top: 1px solid var(--line); }
details { padding: .75rem 1.25rem .9rem; font-size: .95rem; }
summary { color: var(--accent); font-weight: 600; cursor: pointer; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.wide { margin: 1rem 0 1.5rem; overflow-x: auto; overflow-wrap: break-word; }
details .wide { margin: .5rem 0 0; }
table {
  width: 100%; border-collapse: collapse; font-size: .95rem; line-height: 1.4;
  font-variant-numeric: tabular-nums;
}
caption { padding: 0 0 .6rem; color: var(--soft); text-align: left; line-height: 1.5; }
th, td {
  padding: .4rem .9rem .4rem 0; text-align: left; vertical-align: baseline;
  border-bottom: 1px solid var(--line);
}
th { color: var(--soft); font-weight: 600; vertical-align: bottom; border-bottom-width: 2px; }
th:last-child, td:last-child { padding-right: 0; }
.number { text-align: right; }
td.number { white-space: nowrap; }
.long { min-width: 11rem; }
footer {
  padding: 1rem 0 2rem; color: var(--soft); font-size: .85rem;
  border-top: 1px solid var(--line);
}
@media (max-width: 30rem) {
  body { padding: 0 1rem; }
  figure { margin-inline: -.75rem; }
  .picture { padding: .6rem .4rem; }
  table { font-size: .875rem; }
  th, td { padding-right: .45rem; }
  figcaption, details { padding-inline: .75rem; }
}
@media (max-width: 42rem) {
  .stacks thead { position: absolute; clip-path: inset(50%); }
  .stacks tr, .stacks td { display: block; padding: .15rem 0; border: 0; }
  .stacks tr { padding: .7rem 0; border-bottom: 1px solid var(--line); }
  .stacks td[rowspan] { padding-bottom: .5rem; font-weight: 600; }
  .stacks td:empty { display: none; }
}
@media print {
  :root {
    --paper: #fff; --card: #fff; --ink: #000; --soft: #444; --line: #ccc; --accent: #000;
    --good: #00405f; --partly: #4d3b00; --bad: #7a2800; color-scheme: light;
  }
  body { max-width: none; font-size: 10.5pt; }
  figure, tr { break-inside: avoid; }
  h2, h3, caption { break-after: avoid; }
  summary { display: none; }
}
"""

FRAGMENT_STYLE = """
.sottovoce p { margin: .3em 0; }
.sottovoce dl {
  display: grid; grid-template-columns: max-content 1fr; gap: .1em 1em; margin: .3em 0;
}
.sottovoce dt { font-weight: normal; opacity: .7; }
.sottovoce dd { margin: 0; overflow-wrap: anywhere; }
.sottovoce table { border-collapse: collapse; background: transparent; color: inherit; }
.sottovoce th, .sottovoce td { padding: .15em .9em .15em 0; text-align: left; }
.sottovoce th { border-bottom: 1px solid currentColor; }
.sottovoce th.number, .sottovoce td.number { text-align: right; }
.sottovoce .bar {
  display: inline-block; width: 6em; height: .7em; outline: 1px solid currentColor;
}
.sottovoce .bar span { display: block; height: 100%; background: currentColor; opacity: .55; }
.sottovoce .hundred { line-height: 1.15; letter-spacing: .15em; }
"""
"""For a notebook: every colour is the notebook's own."""

REPORT_STYLE = """
body { max-width: 76rem; }
main > p, main > dl, main > h3 { max-width: 50rem; }
main > h2 {
  margin-top: 4rem; padding-top: 1rem; border-top: 3px solid var(--line); font-size: 1.6rem;
}
h1 + h2 { margin-top: 2rem; }
main > h3 { margin-top: 3.25rem; font-size: 1.25rem; }
h2, h3 { scroll-margin-top: 1rem; }
dl, main > details { font-size: .95rem; }
.figures {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 27rem), 1fr));
  gap: 1.25rem; align-items: start; margin: 1.25rem 0;
}
.figures figure { max-width: 42rem; margin: 0; }
.wide table { width: auto; min-width: min(100%, 24rem); font-size: .875rem; }
@media (min-width: 30rem) { .wide th, .wide td { padding: .28rem 1rem .28rem 0; } }
td[rowspan] { vertical-align: top; }
main > details {
  margin: 1rem 0; background: var(--card); border: 1px solid var(--line); border-radius: 14px;
}
@media (max-width: 30rem) {
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin: 0 0 .6rem; }
  .figures { margin-inline: -.75rem; }
  .wide table { font-size: .8125rem; }
}
@media print {
  .figures { grid-template-columns: 1fr 1fr; }
  main > details > summary { display: block; }
  main > details::details-content { content-visibility: visible; }
  .badge { background: none; }
}
"""
"""In addition for a report: wide tables, figures side by side, lines no longer than they read."""
