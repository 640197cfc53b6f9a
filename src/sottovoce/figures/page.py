"""One HTML document that holds everything it shows: it loads nothing and runs no script."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path

from sottovoce.figures.blocks import Block
from sottovoce.figures.canvas import check_matplotlib
from sottovoce.figures.markup import escaped, marked_up
from sottovoce.figures.style import REPORT_STYLE, STYLE
from sottovoce.files.atomic_output import check_target, new_file
from sottovoce.version import __version__

__all__ = ["check_page", "page", "write_page"]

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


def check_page(path: Path, *, force: bool = False) -> None:
    """Refuse before the work a page with figures that could not be drawn or saved after it."""
    check_matplotlib()
    check_target(path, force=force)


def write_page(title: str, blocks: Sequence[Block], path: Path, *, force: bool = False) -> None:
    """Write the document to a file, whole or not at all."""
    with new_file(path, force=force) as temporary:
        temporary.write_text(page(title, blocks), encoding="utf-8")
