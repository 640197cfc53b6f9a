"""What studies leave in a folder: a report, verdicts, a table each, a picture for each chart."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.figures import page, svg
from sottovoce.figures.canvas import check_matplotlib
from sottovoce.files.atomic_output import check_target, new_file
from sottovoce.studies import Study
from sottovoce.studies.report_page import TITLE, blocks
from sottovoce.studies.reporting import Done, Run, csv_columns, record
from sottovoce.tables.writers import write_tables

__all__ = ["check_folder", "write_files"]

REPORT, VERDICTS = "report.html", "verdicts.json"


def check_folder(folder: Path, studies: Sequence[Study], *, force: bool) -> None:
    """Refuse before the work what could not be written after it."""
    nearest = next(place for place in (folder, *folder.parents) if place.exists())
    if not nearest.is_dir():
        raise UsageError(f"{nearest} is a file: name a folder")
    if not os.access(nearest, os.W_OK):
        raise UsageError(f"cannot write in {nearest}: name another folder")
    check_matplotlib()
    if nearest != folder:
        return
    for name in (REPORT, VERDICTS, *(f"{study.name}.csv" for study in studies)):
        check_target(folder / name, force=force)
    for picture in _pictures_in(folder, studies):
        check_target(picture, force=force)


def write_files(folder: Path, done: Done, run: Run, *, force: bool) -> int:
    """Write everything or nothing, and say how many files it was.

    With `force`, pictures that a study had before and has no longer go.
    """
    texts = dict(_texts(done, run))
    folder.mkdir(parents=True, exist_ok=True)
    tables: dict[str | os.PathLike[str], dict[str, npt.NDArray[Any]]] = {
        folder / f"{study.name}.csv": csv_columns(outcome) for study, outcome in done
    }
    with ExitStack() as stack:
        for name, text in texts.items():
            place = stack.enter_context(new_file(folder / name, force=force))
            place.write_text(text, encoding="utf-8")
        write_tables(tables, force=force)
    for picture in _pictures_in(folder, [study for study, _ in done]):
        if picture.name not in texts:
            picture.unlink()
    return len(texts) + len(tables)


def _texts(done: Done, run: Run) -> Iterator[tuple[str, str]]:
    yield REPORT, page(TITLE, blocks(done, run), report=True)
    yield VERDICTS, json.dumps(record(done, run), indent=2, ensure_ascii=False) + "\n"
    for study, outcome in done:
        for number, chart in enumerate(outcome.charts, 1):
            yield f"{study.name}-{number}.svg", svg(chart)


def _pictures_in(folder: Path, studies: Sequence[Study]) -> list[Path]:
    """The numbered pictures of these studies that are in a folder."""
    names = "|".join(re.escape(study.name) for study in studies)
    numbered = re.compile(rf"({names})-\d+\.svg")
    return [path for path in sorted(folder.iterdir()) if numbered.fullmatch(path.name)]
