"""Charts as text for terminals, as pictures, and as pages of one file.

It draws what it is given and knows nothing of how the numbers came about. Pictures need matplotlib
(extra `plots`), which is loaded when one is drawn.
"""

from sottovoce.figures.chart import Better, Chart, Level, Point, Role, Scale, Series
from sottovoce.figures.page import (
    Block,
    Cell,
    Figure,
    Heading,
    Paragraph,
    Table,
    check_page,
    page,
    write_page,
)
from sottovoce.figures.svg import check_picture, save, svg
from sottovoce.figures.terminal import text_chart

__all__ = [
    "Better",
    "Block",
    "Cell",
    "Chart",
    "Figure",
    "Heading",
    "Level",
    "Paragraph",
    "Point",
    "Role",
    "Scale",
    "Series",
    "Table",
    "check_page",
    "check_picture",
    "page",
    "save",
    "svg",
    "text_chart",
    "write_page",
]
