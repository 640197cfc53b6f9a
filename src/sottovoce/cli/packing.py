"""`sottovoce pack`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import sottovoce
from sottovoce.cli import screen
from sottovoce.cli.options import (
    AnswersArgument,
    BadRows,
    BadRowsOption,
    ColumnsOption,
    DomainOption,
    ForceOption,
    FormatOption,
    Repeats,
    RepeatsOption,
    output_option,
    reading,
)

__all__ = ["pack"]


def pack(
    answers: AnswersArgument,
    output: Annotated[Path, output_option("The coded copy, a .parquet file.")],
    columns: ColumnsOption = None,
    domain: DomainOption = None,
    repeats: RepeatsOption = Repeats.first,
    bad_rows: BadRowsOption = BadRows.error,
    format: FormatOption = None,
    force: ForceOption = False,
) -> None:
    """Write a coded copy of ANSWERS that reads several times faster.

    The copy holds the same answers: protect it like the original.
    """
    with screen.reading(answers):
        options = reading(columns, domain, repeats, bad_rows, format)
        table = sottovoce.pack(answers, output, force=force, **options)
    screen.notes_of(table.reading)
    screen.note(f"wrote {output}: {len(table):,} answers, {table.domain}")
