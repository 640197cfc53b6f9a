"""Files of a run: a report, verdicts as JSON, one table per study, one picture per chart.

The report has a summary of all verdicts, then one section per study, by paper.
"""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.figures import (
    Badge,
    Block,
    Details,
    Facts,
    Figure,
    Figures,
    Heading,
    Link,
    Paragraph,
    Table,
    Tone,
    page,
    svg,
)
from sottovoce.figures.canvas import check_matplotlib
from sottovoce.files.atomic_output import check_target, new_file
from sottovoce.tables.writers import write_tables
from sottovoce.version import __version__
from sottovoce_studies.catalogue import ITEMS, slug
from sottovoce_studies.rulings import ASPECTS, MEANINGS, Ruling, Verdict
from sottovoce_studies.study import Outcome, Study
from sottovoce_studies.verdicts import (
    PAPERS,
    Done,
    Run,
    by_paper,
    count_words,
    csv_columns,
    merged,
    record,
    ruled_claims,
    tally,
)

__all__ = ["blocks", "check_folder", "write_files"]


TITLE = "Claims of four papers, checked"
SUMMARY = "summary"
HEADS = ("", "table or figure", *ASPECTS, "claim")
CLAIM_HEADS = ("section", "claim", "verdict", "why", "judged by")

TONES: Mapping[Verdict, Tone] = MappingProxyType(
    {
        "holds": "good",
        "partly": "partly",
        "fails": "bad",
        "cannot be checked": "open",
        "not claimed": "open",
    }
)

FOLDED = 12
"""Tables with more rows are collapsed, because figures show the same data."""

REPORT, VERDICTS = "report.html", "verdicts.json"


def blocks(done: Done, run: Run) -> list[Block]:
    """The whole page, which depends only on the arguments and the software versions."""
    outcomes = {study.name: outcome for study, outcome in done}
    papers = by_paper([study for study, _ in done])
    found: list[Block] = [*_summary(done, run)]
    lines = tuple(
        (PAPERS[paper].partition(",")[0], *_line(study, outcomes[study.name]))
        for paper, studies in papers.items()
        for study in studies
    )
    found.append(Table(HEADS, lines, merged=1, stacks=True))
    for paper, studies in papers.items():
        found.append(Heading(PAPERS[paper]))
        for study in studies:
            found += _section(study, outcomes[study.name], run)
        found += _claims(done, paper)
    return [*found, Heading("Software and settings"), _made(run)]


def _summary(done: Done, run: Run) -> Iterator[Block]:
    yield Heading("Summary", anchor=SUMMARY)
    for aspect, question in ASPECTS.items():
        counted = [
            Badge(count_words(verdict, count), TONES[verdict])
            for verdict, count in tally(done, aspect).items()
            if count
        ]
        asked = f"{aspect.capitalize()} ({question}): "
        yield Paragraph((asked, *(part for badge in counted for part in (badge, " "))))
    yield Paragraph(
        "Each study first repeats the paper's experiment, then runs Sottovoce on the same "
        "answers. Its verdicts are computed from the numbers of its run by fixed rules that "
        "allow either result."
    )
    if run.size == "quick":
        yield Paragraph(
            "This is a quick run, which covers less than the cited one: each study says what it "
            "leaves out. The cited run is sottovoce reproduce --full."
        )
    yield Details("Meaning of the verdicts", (Facts(tuple(MEANINGS.items())),))


def _line(study: Study, outcome: Outcome) -> tuple[str | Link | Badge, ...]:
    return (
        Link(", ".join(study.items) or study.name, study.name),
        *map(_badge, outcome.rulings.by_aspect().values()),
        study.claim,
    )


def _badge(ruling: Ruling) -> Badge | str:
    if ruling.verdict == "not claimed":
        return "–"
    return Badge(ruling.verdict, TONES[ruling.verdict])


def _section(study: Study, outcome: Outcome, run: Run) -> Iterator[Block]:
    yield Heading(_title(study), 3, study.name)
    for aspect, ruling in outcome.rulings.by_aspect().items():
        if ruling.verdict != "not claimed":
            why = f" {ruling.reason}" if ruling.reason else ""
            yield Paragraph((f"{aspect.capitalize()}: ", _badge(ruling), why))
    yield Facts(tuple(_facts(study, outcome, run)))
    if outcome.charts:
        yield Figures(tuple(map(Figure, outcome.charts)))
    for table in outcome.tables():
        yield _shown(table, folded=len(table.rows) > FOLDED)
    for table in outcome.details:
        yield _shown(table, folded=True)
    yield Paragraph((Link("Back to the summary", SUMMARY),))


def _claims(done: Done, paper: str) -> Iterator[Block]:
    """Every claim of the paper's text with its verdict."""
    own = [pair for pair in ruled_claims(done).values() if pair[0].paper == paper]
    if own:
        yield Heading(f"Claims in the text of {paper}", 3, f"claims-{paper.lower()}")
        rows = tuple(
            (claim.section, claim.text, _badge(ruling), ruling.reason, claim.judge)
            for claim, ruling in own
        )
        yield Table(CLAIM_HEADS, rows, merged=1, stacks=True)


def _title(study: Study) -> str:
    if [slug(item) for item in study.items] == [study.name]:
        return study.items[0]
    return f"{', '.join(study.items)}: {study.name}" if study.items else study.name


def _facts(study: Study, outcome: Outcome, run: Run) -> Iterator[tuple[str, str]]:
    yield "Claim", f"{study.claim}."
    yield "Source", f"{_capital(study.source)}."
    if study.items:
        yield "In the paper", f"{'; '.join(f'{item}: {ITEMS[item]}' for item in study.items)}."
    yield "Results", _capital(outcome.explanation)
    yield "Setting", f"{_capital(study.setting)}."
    if study.open:
        tried = (f"{point}: {' or '.join(values)}" for point, values in study.open.items())
        yield "Left open by the paper", f"{_capital('; '.join(tried))}."
    left_out = f"quick: {study.quick}" if run.size == "quick" else "full, as cited"
    yield "Run", f"{_capital(left_out)}; seed {run.seed_of(study)}."
    if outcome.rulings.verdicts != study.recorded:
        cited = ", ".join(map(" ".join, zip(ASPECTS, study.recorded, strict=True)))
        yield "Cited run", f"The cited run reached other verdicts: {cited}."


def _capital(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"


def _shown(table: Table, *, folded: bool) -> Block:
    once = replace(table, merged=merged(table))
    if not folded:
        return once
    caption = table.caption or "Table"
    return Details(f"{caption} ({len(table.rows)} rows)", (replace(once, caption=""),))


def _made(run: Run) -> Facts:
    seed = "each study's default" if run.seed is None else str(run.seed)
    rows = [
        (
            "Software",
            f"Sottovoce {__version__}, Python {platform.python_version()}, NumPy {np.__version__}",
        ),
        ("Command", f"sottovoce reproduce{' --full' if run.size == 'full' else ''}"),
        ("Size", run.size),
        ("Seed", seed),
    ]
    return Facts((*rows, ("Day", run.day)) if run.day else tuple(rows))


def check_folder(folder: Path, studies: Sequence[Study], *, force: bool) -> None:
    """Raise before the run if its files could not be written afterwards."""
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
    """Write all files or none, and return how many were written.

    With `force`, pictures of an earlier run that a study no longer has are deleted.
    """
    texts = dict(_texts(done, run))
    folder.mkdir(parents=True, exist_ok=True)
    tables: dict[str | os.PathLike[str], dict[str, npt.NDArray[Any]]] = {
        folder / f"{study.name}.csv": csv_columns(outcome)
        for study, outcome in done
        if outcome.rows
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
    """The numbered pictures of these studies in a folder."""
    names = "|".join(re.escape(study.name) for study in studies)
    numbered = re.compile(rf"({names})-\d+\.svg")
    return [path for path in sorted(folder.iterdir()) if numbered.fullmatch(path.name)]
