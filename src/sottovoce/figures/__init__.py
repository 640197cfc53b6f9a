"""Charts as text for terminals, as pictures, and as pages of one file.

Pictures need matplotlib (extra `plots`), which is loaded when one is drawn.
"""

from sottovoce.figures.chart import Better, Chart, Level, Point, Role, Scale, Series, Style
from sottovoce.figures.html import check_page, fragment, page, write_page
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
from sottovoce.figures.picture import check_picture, save, svg
from sottovoce.figures.terminal import text_chart

__all__ = [
    "Badge", "Bar", "Better", "Block", "Cell", "Chart", "Details", "Facts", "Figure", "Figures",
    "Heading", "Hundred", "Level", "Link", "Paragraph", "Phrase", "Point", "Role", "Scale",
    "Series", "Style", "Table", "Tone", "check_page", "check_picture", "fragment", "page", "save",
    "svg", "text_chart", "write_page",
]  # fmt: skip
