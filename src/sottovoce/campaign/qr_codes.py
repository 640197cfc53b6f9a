"""Links as QR codes, as paths that any drawing program fills."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from sottovoce.errors import NotInstalled

__all__ = ["MOST_CODES", "QrCode", "qr_code"]

MOST_CODES = 1000
"""Codes that can be asked for at once: each takes some milliseconds."""


@dataclass(frozen=True, slots=True)
class QrCode:
    """A square of so many modules a side, and its dark ones as an SVG path in module units.

    The quiet zone is not in it: leave four modules of light around.
    """

    size: int
    path: str


def qr_code(text: str) -> QrCode:
    """The QR code of a text, with error correction M: read with up to 15 % of it damaged.

    >>> code = qr_code("https://answers.example/c/k7f3q2mzab#svi_secret")
    >>> code.size, code.path[:20]
    (33, 'M0 0h7v1h-7zM8 0h1v1')
    """
    try:
        import segno
    except ModuleNotFoundError:
        raise NotInstalled("segno", purpose="a QR code", extra="server") from None

    matrix = segno.make_qr(text, error="m", boost_error=False).matrix
    rows = (_runs(y, row) for y, row in enumerate(matrix))
    return QrCode(len(matrix), "".join(path for row in rows for path in row))


def _runs(y: int, row: Sequence[int]) -> Iterator[str]:
    """Each run of dark modules in a row as a rectangle."""
    x = 0
    for is_dark, run in groupby(row):
        length = len(list(run))
        if is_dark:
            yield f"M{x} {y}h{length}v1h-{length}z"
        x += length
