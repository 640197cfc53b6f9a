"""The blocks of a page, before they are written as HTML."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

from sottovoce.errors import UsageError
from sottovoce.figures.chart import Chart

Tone = Literal["good", "partly", "bad", "open"]

_ANCHOR = re.compile(r"[a-z][a-z0-9.-]*")


@dataclass(frozen=True, slots=True)
class Link:
    """Words that lead to a heading of the same page."""

    text: str
    anchor: str

    def __post_init__(self) -> None:
        _check_anchor(self.anchor)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Badge:
    """A highlighted word with a sign, a frame and a colour."""

    text: str
    tone: Tone

    def __post_init__(self) -> None:
        if self.tone not in get_args(Tone):
            raise UsageError(f"a tone is one of {', '.join(get_args(Tone))}, not {self.tone!r}")

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Bar:
    """A number from 0 to 1, shown as a bar and in digits."""

    share: float

    def __str__(self) -> str:
        return f"{self.share:.3f}"


Phrase = str | Link | Badge
Cell = str | int | float | Link | Badge | Bar


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a part of the page (level 2) or of a subpart (level 3)."""

    text: str
    level: Literal[2, 3] = 2
    anchor: str = ""

    def __post_init__(self) -> None:
        if self.level not in (2, 3):
            raise UsageError(f"a heading has level 2 or 3, not {self.level!r}")
        if self.anchor:
            _check_anchor(self.anchor)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of plain text, or of phrases with links and badges among them."""

    text: str | tuple[Phrase, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """A list of pairs: a name and its value."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table; columns that hold only numbers, with or without their bands, stand to the right.

    In the first `merged` columns what repeats from row to row is written once. On a narrow screen
    the cells of a row stand below each other if the table `stacks`.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    merged: int = 0
    stacks: bool = False

    def __post_init__(self) -> None:
        wrong = next((row for row in self.rows if len(row) != len(self.columns)), None)
        if wrong is not None:
            raise UsageError(
                f"a row of the table has {len(wrong)} cells for {len(self.columns)} columns: "
                "give one for each"
            )

    def run_length(self, row: int, column: int) -> int:
        """How many rows from this one on share a cell; 0 where it is written in a row above.

        Cells are shared where all cells before them are.

        >>> table = Table(("a", "b"), ((1, 1), (1, 2), (2, 2)), merged=1)
        >>> [table.run_length(row, 0) for row in range(3)]
        [2, 0, 1]
        """
        if column >= self.merged:
            return 1
        starts = [seen[: column + 1] for seen in self.rows]
        if row > 0 and starts[row - 1] == starts[row]:
            return 0
        length = 1
        while row + length < len(starts) and starts[row + length] == starts[row]:
            length += 1
        return length


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart as a picture, with the numbers it was drawn from."""

    chart: Chart
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures that belong together: side by side where there is room."""

    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class Hundred:
    """100 dots, of which some are filled, and a sentence that says what the filled ones are."""

    filled: int
    sentence: str


@dataclass(frozen=True, slots=True)
class Details:
    """Blocks that are folded until the reader opens them."""

    summary: str
    blocks: tuple[Block, ...]


Block = Heading | Paragraph | Facts | Table | Figure | Figures | Hundred | Details


def _check_anchor(anchor: str) -> None:
    if _ANCHOR.fullmatch(anchor) is None:
        raise UsageError(
            f"an anchor is a letter and letters, digits, dots or hyphens, all small: not {anchor!r}"
        )
