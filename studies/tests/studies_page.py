"""Write the verdicts on docs/explanation/studies.md from the record of a run of all studies.

`python studies/tests/studies_page.py build/studies/verdicts.json` rewrites them between the
comments `<!-- verdicts -->` and `<!-- end -->`. The text around them is written by hand. This is
the last step of `make studies`.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sottovoce_studies.catalogue import STUDIES
from sottovoce_studies.report import MEANINGS
from sottovoce_studies.verdicts import PAPERS, count_words, short_items

__all__ = ["PAGE", "verdicts_on", "with_verdicts"]

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "studies.md"
HEADS = ("table or figure", "study", "claim", "verdict")
_BLOCK = re.compile(r"(<!-- verdicts -->\n).*?(<!-- end -->)", re.DOTALL)
_ROW = re.compile(r"^\| .*? \| `(\S+)` \| .*? \| \*\*(.+?)\*\*.* \|$", re.MULTILINE)


def with_verdicts(page: str, record: Mapping[str, Any]) -> str:
    """The page with the verdicts of a record, which must contain all studies."""
    missing = sorted(STUDIES.keys() - {study["name"] for study in record["studies"]})
    if missing:
        sys.exit(f"the record lacks {', '.join(missing)}: run all studies")
    text = "\n".join(_lines(record))
    return _BLOCK.sub(lambda block: f"{block[1]}\n{text}\n{block[2]}", page)


def verdicts_on(page: str) -> dict[str, str]:
    """The verdict of each study on the page."""
    return dict(_ROW.findall(page))


def _lines(record: Mapping[str, Any]) -> Iterator[str]:
    yield from (_summary(record), "")
    for paper, title in PAPERS.items():
        studies = [study for study in record["studies"] if study["paper"] == paper]
        if studies:
            yield from (f"### {title}", "", *_table(studies), "")
            for study in studies:
                yield from (f"- `{study['name']}`: {_plain(study['explanation'])}", "")


def _summary(record: Mapping[str, Any]) -> str:
    seen = Counter(study["verdict"] for study in record["studies"])
    counts = ", ".join(count_words(verdict, seen[verdict]) for verdict in MEANINGS)
    seed = "each study's default seed" if record["seed"] is None else f"seed {record['seed']}"
    return (
        f"Of {len(record['studies'])} claims: {counts} "
        f"(Sottovoce {record['version']}, {record['size']} run, {seed})."
    )


def _table(studies: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield f"| {' | '.join(HEADS)} |"
    yield f"|{'---|' * len(HEADS)}"
    for study in studies:
        items = ", ".join(short_items(STUDIES[study["name"]])) or "–"
        why = f": {_plain(study['reason'])}" if study["reason"] else ""
        claim = _plain(study["claim"])
        yield f"| {items} | `{study['name']}` | {claim} | **{study['verdict']}**{why} |"


def _plain(text: str) -> str:
    """Text with Markdown's special characters escaped, also for a table."""
    return re.sub(r"([\\|*_`\[\]])", r"\\\1", text).replace("<", "&lt;")


if __name__ == "__main__":
    found = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    PAGE.write_text(with_verdicts(PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")
