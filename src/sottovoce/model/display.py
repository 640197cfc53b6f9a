"""How values look in a REPL and in a notebook: a text of one screen, and a table in HTML.

The HTML is written by the figures package, which is above this one: a hook loads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from sottovoce.hooks import filled

SHOWN = 20
"""The most rows of a table in HTML."""

LONGEST = 1000
"""The most characters of a repr."""

_ROWS, _CELL, _LINE, _LONG = 6, 24, 100, 400

Cell: TypeAlias = str | int | float


@dataclass(frozen=True, slots=True)
class Display:
    """A title, facts as pairs of name and text, and the first rows of a table of `total` rows.

    The column `share` holds numbers from 0 to 1, which HTML shows as bars too. `odds` are how many
    of 100, and a sentence that says what they are.
    """

    title: str
    facts: tuple[tuple[str, str], ...] = ()
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    total: int = 0
    share: str = ""
    odds: tuple[int, str] | None = None

    def __post_init__(self) -> None:
        facts = tuple((name, _cut(text, _LONG)) for name, text in self.facts)
        object.__setattr__(self, "facts", facts)

    @property
    def more(self) -> int:
        """How many rows of the table are left out of `rows`."""
        return max(0, self.total - len(self.rows))

    def text(self) -> str:
        """The display in plain text, in at most 1,000 characters."""
        head = [_cut(self.title, 2 * _LINE), *_aligned([list(pair) for pair in self.facts], _LINE)]
        cells = [[cell_text(cell) for cell in row] for row in self.rows[:_ROWS]]
        table = _aligned([list(self.columns), *cells], _CELL) if self.columns else []
        while True:
            left = max(self.total, len(self.rows)) - (len(table) - 1)
            end = [f"  {more_words(left)}"] if table and left > 0 else []
            text = "\n".join([*head, *table, *end])
            if len(text) <= LONGEST:
                return text
            if len(table) > 1:
                table.pop()
            else:
                head.pop()


class Displayed:
    """Base of values whose repr is at most one screen, and which notebooks show as HTML.

    A dataclass with this base is declared with `repr=False`, unless its own repr is short.
    """

    __slots__ = ()

    def _display(self) -> Display:
        raise NotImplementedError

    def __repr__(self) -> str:
        return self._display().text()

    def _repr_html_(self) -> str:
        html: str = filled("notebook").html_of(self)
        return html


def first_rows(*columns: Sequence[Any] | np.ndarray[Any, Any]) -> tuple[tuple[Cell, ...], ...]:
    """The first rows of a table given by its columns, as text and numbers.

    >>> first_rows(np.array(["q1", "q2"]), np.array([0.5, 1.0]))
    (('q1', 0.5), ('q2', 1.0))
    """
    return tuple(zip(*(map(_plain, column[:SHOWN]) for column in columns), strict=True))


def more_words(rows: int) -> str:
    """How many more rows there are."""
    return f"… {rows:,} more row{'s' if rows != 1 else ''}"


def cell_text(cell: Cell) -> str:
    """A cell as text: counts with commas, other numbers with four digits."""
    if isinstance(cell, bool | str):
        return str(cell)
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:.4g}"


def _plain(value: Any) -> Cell:
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, int | float) else _cut(str(value), _LINE)


def _aligned(rows: Iterable[list[str]], widest: int) -> list[str]:
    cut = [[_cut(cell, widest) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cut, strict=True)]
    return [
        "  "
        + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cut
    ]


def _cut(text: str, widest: int) -> str:
    """A text in one line that a terminal can print, cut to a width."""
    line = "".join(letter if letter.isprintable() else "\ufffd" for letter in text[: widest + 1])
    return line if len(line) <= widest else line[: widest - 1] + "…"
