"""Recorded samples: a text file with one submission per row, for the audit."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.errors import DataError

Rows = list[list[str]]

AT_ONCE = 1 << 16
NOTHING = frozenset({"", "NULL"})
"""Cells that say that nothing is reported."""


def read_samples(
    first: str | os.PathLike[str], second: str | os.PathLike[str]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The samples of two inputs from CSV files without, or with, a row of names.

    Numbers where all cells are numbers or say that nothing is reported (which is NaN), else texts.
    A first row is names if it alone has no numbers, or, among texts, if both files begin with it
    and none of its cells comes again.
    """
    paths = (Path(first), Path(second))
    found = [_numbers(path) for path in paths]
    if found[0] is not None and found[1] is not None:
        return found[0], found[1]
    one, other = (_texts(path) for path in paths)
    named = one.shape[1] == other.shape[1] and not any(
        (texts[1:] == one[0]).any() or (texts[0] != one[0]).any() for texts in (one, other)
    )
    return (one[1:], other[1:]) if named else (one, other)


def _numbers(path: Path) -> npt.NDArray[np.float64] | None:
    """The file as numbers, or None if it has others than a first row of names."""
    rows = _rows(path)
    head = next(rows)
    parts = [] if _parsed([head]) is None else [[head]]
    blocks = []
    while block := list(islice(chain(*parts, rows), AT_ONCE)):
        parts, numbers = [], _parsed(block)
        if numbers is None:
            return None
        blocks.append(numbers)
    return np.concatenate(blocks) if blocks else None


def _parsed(rows: Rows) -> npt.NDArray[np.float64] | None:
    cells = [["nan" if cell in NOTHING else cell for cell in row] for row in rows]
    try:
        return np.array(cells, np.str_).astype(np.float64)
    except ValueError:
        return None


def _texts(path: Path) -> npt.NDArray[np.str_]:
    rows = _rows(path)
    blocks = []
    while block := list(islice(rows, AT_ONCE)):
        blocks.append(np.array(block, np.str_))
    return np.concatenate(blocks)


def _rows(path: Path) -> Iterator[list[str]]:
    """The rows of a file, all of one length; what is wrong is said with its place."""
    width = None
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            for row in reader:
                width = len(row) if width is None else width
                if not row or len(row) != width:
                    raise DataError(
                        f"has {len(row)} cells where the first row has {width}",
                        file=str(path),
                        row=reader.line_num,
                    )
                yield row
    except FileNotFoundError:
        raise DataError("there is no such file", file=str(path)) from None
    except IsADirectoryError:
        raise DataError("is a folder: name a file of samples", file=str(path)) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"is no CSV file: {error}", file=str(path)) from None
    if width is None:
        raise DataError("is empty", file=str(path))
