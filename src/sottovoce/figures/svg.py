"""A chart as a picture: SVG text that needs nothing beside it, or a file."""

from __future__ import annotations

import io
import re
from pathlib import Path

from sottovoce.errors import UsageError
from sottovoce.figures.canvas import check_matplotlib
from sottovoce.figures.chart import Chart
from sottovoce.figures.drawing import drawn
from sottovoce.files.atomic_output import check_target, new_file

__all__ = ["check_picture", "save", "svg"]

ENDINGS = (".svg", ".png")

# Neither a date nor a version of matplotlib: the same chart is the same text.
_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))


def svg(chart: Chart) -> str:
    """One `<svg>` element, the same for the same chart; letters are shapes, no font is needed."""
    text = io.StringIO()
    with drawn(chart) as figure:
        figure.savefig(text, format="svg", metadata=_NO_METADATA, facecolor="white")
    element = text.getvalue().partition("<svg")[1:]
    # Comments repeat every text that is drawn; they would only repeat it unseen.
    return re.sub(r"<!--.*?-->\s*", "", "".join(element), flags=re.DOTALL).strip() + "\n"


def check_picture(path: Path, *, force: bool = False) -> None:
    """Refuse before the work a picture that could not be drawn or saved after it."""
    if path.suffix.lower() not in ENDINGS:
        raise UsageError(f"{path} is no picture: end its name in {' or '.join(ENDINGS)}")
    check_matplotlib()
    check_target(path, force=force)


def save(chart: Chart, path: Path, *, force: bool = False) -> None:
    """Draw the chart into a file, SVG or PNG by its ending; whole or not at all."""
    check_picture(path, force=force)
    with new_file(path, force=force) as temporary:
        if path.suffix.lower() == ".svg":
            temporary.write_text(svg(chart), encoding="utf-8")
            return
        with drawn(chart) as figure:
            figure.savefig(temporary, format="png", dpi=200, metadata={"Software": None})
