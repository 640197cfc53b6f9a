"""An empty matplotlib figure in the house style (extra `plots`).

No pyplot: a figure of its own touches no global setting, so that drawing one changes nothing for a
program that plots too.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sottovoce.errors import NotInstalled

__all__ = ["ACCENT", "INK", "PALE", "SOFT", "blank_figure", "check_matplotlib"]

INK, SOFT, ACCENT, PALE = "#22303c", "#5d6a74", "#c2553a", "#b8c4cc"

STYLE: dict[Any, Any] = {
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same letters everywhere
    "font.size": 10,
    "svg.fonttype": "path",  # letters as shapes: the picture needs no font to look as drawn
    "svg.hashsalt": "sottovoce",
    "text.color": INK,
    "text.parse_math": False,  # a dollar is a dollar
    "text.usetex": False,
    "xtick.color": INK,
    "ytick.color": INK,
}


def check_matplotlib() -> None:
    """Refuse before the work what could not be drawn after it."""
    try:
        import matplotlib  # noqa: F401 - whether it is there is the question
    except ImportError:
        raise NotInstalled("matplotlib", purpose="a plot", extra="plots") from None


@contextmanager
def blank_figure(width: float, height: float, *, dpi: float = 100) -> Iterator[Any]:
    """A figure of so many inches; draw and save it inside the block."""
    check_matplotlib()
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(), warnings.catch_warnings():
        # A script the font lacks is drawn as boxes; the same words stand beside the picture.
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        yield Figure(figsize=(width, height), dpi=dpi, layout="constrained")
