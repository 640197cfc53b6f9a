"""Write the verdicts on the pages of the studies from the record of a run of all studies.

`python studies/tests/studies_page.py build/studies/verdicts.json` rewrites them between the
comments `<!-- verdicts -->` and `<!-- end -->` of docs/explanation/studies.md and claims.md. The
text around them is written by hand. This is the last step of `make studies`.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from sottovoce_studies.catalogue import STUDIES
from sottovoce_studies.claims import CLAIMS
from sottovoce_studies.rulings import ASPECTS, Verdict
from sottovoce_studies.verdicts import PAPERS, counts, short_items

__all__ = ["CLAIMS_PAGE", "PAGE", "claims_on", "verdicts_on", "with_claims", "with_verdicts"]

DOCS = Path(__file__).parents[2] / "docs" / "explanation"
PAGE, CLAIMS_PAGE = DOCS / "studies.md", DOCS / "claims.md"
HEADS = ("table or figure", "study", "claim", *ASPECTS)
CLAIM_HEADS = ("claim", "about", "statement", "verdict", "judged by")
NONE = "–"
_BLOCK = re.compile(r"(<!-- verdicts -->\n).*?(<!-- end -->)", re.DOTALL)
_CELL = r" (?:\*\*)?([a-z ]+?|–)(?:\*\*)? "
_ROW = re.compile(rf"^\| .*? \| `(\S+)` \| .*? \|{_CELL}\|{_CELL}\|{_CELL}\|$", re.MULTILINE)
_CLAIM = re.compile(r"^\| (P\d-\S+) \| .*? \| .*? \| \*\*([a-z ]+)\*\*.* \|$", re.MULTILINE)


def with_verdicts(page: str, record: Mapping[str, Any]) -> str:
    """The page with the verdicts of a record, which must contain all studies."""
    missing = sorted(STUDIES.keys() - {study["name"] for study in record["studies"]})
    if missing:
        sys.exit(f"the record lacks {', '.join(missing)}: run all studies")
    return _between(page, _study_lines(record))


def with_claims(page: str, record: Mapping[str, Any]) -> str:
    """The page of claims with the verdicts of a record, which must contain all claims."""
    missing = sorted(CLAIMS.keys() - {claim["claim"] for claim in record["claims"]})
    if missing:
        sys.exit(f"the record lacks {', '.join(missing)}: a study must judge each")
    return _between(page, _claim_lines(record))


def verdicts_on(page: str) -> dict[str, tuple[str, ...]]:
    """The verdicts of each study on the page."""
    rows = _ROW.findall(page)
    return {name: tuple(_word(verdict) for verdict in verdicts) for name, *verdicts in rows}


def claims_on(page: str) -> dict[str, str]:
    """The verdict of each claim on its page."""
    return dict(_CLAIM.findall(page))


def _word(cell: str) -> str:
    return "not claimed" if cell == NONE else cell


def _between(page: str, lines: Iterator[str]) -> str:
    text = "\n".join(lines)
    return _BLOCK.sub(lambda block: f"{block[1]}\n{text}\n{block[2]}", page)


def _study_lines(record: Mapping[str, Any]) -> Iterator[str]:
    yield from (*_summary(record), "")
    for paper, title in PAPERS.items():
        studies = [study for study in record["studies"] if study["paper"] == paper]
        if studies:
            yield from (f"### {title}", "", *_table(studies), "")
            for study in studies:
                yield from (f"- `{study['name']}`: {' '.join(_sentences(study))}", "")


def _summary(record: Mapping[str, Any]) -> Iterator[str]:
    studies = record["studies"]
    seed = "each study's default seed" if record["seed"] is None else f"seed {record['seed']}"
    run = f"Sottovoce {record['version']}, {record['size']} run, {seed}"
    yield from (f"Verdicts of {len(studies)} studies ({run}):", "")
    for aspect, question in ASPECTS.items():
        seen = Counter(study["verdicts"][aspect]["verdict"] for study in studies)
        yield f"- *{aspect}* ({question}): {_counted(seen)}."


def _counted(seen: Mapping[str, int]) -> str:
    return counts({verdict: seen.get(verdict, 0) for verdict in get_args(Verdict)})


def _table(studies: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield f"| {' | '.join(HEADS)} |"
    yield f"|{'---|' * len(HEADS)}"
    for study in studies:
        items = ", ".join(short_items(STUDIES[study["name"]])) or NONE
        verdicts = (_cell(study["verdicts"][aspect]["verdict"]) for aspect in ASPECTS)
        claim = _plain(study["claim"])
        yield f"| {items} | `{study['name']}` | {claim} | {' | '.join(verdicts)} |"


def _cell(verdict: str) -> str:
    return NONE if verdict == "not claimed" else f"**{verdict}**"


def _sentences(study: Mapping[str, Any]) -> Iterator[str]:
    """The reasons of the verdicts, the explanation, and the choices tried."""
    for aspect in ASPECTS:
        ruling = study["verdicts"][aspect]
        if ruling["reason"]:
            yield f"*{aspect.capitalize()}* {ruling['verdict']}: {_plain(ruling['reason'])}."
    yield _plain(study["explanation"])
    if study["choices"]:
        yield f"Choices tried: {'; '.join(map(_tried, study['choices']))}."


def _tried(choice: Mapping[str, Any]) -> str:
    values = ", ".join(f"{point} {value}" for point, value in choice["values"].items())
    rms = "" if choice["distance"] is None else f", rms z {choice['distance']:.3g}"
    return _plain(f"{values} ({choice['met']} of {choice['of']}{rms})")


def _claim_lines(record: Mapping[str, Any]) -> Iterator[str]:
    seen = Counter(claim["verdict"] for claim in record["claims"])
    yield from (f"Of {len(record['claims'])} claims: {_counted(seen)}.", "")
    for paper, title in PAPERS.items():
        own = [claim for claim in record["claims"] if claim["claim"].startswith(f"{paper}-")]
        if own:
            yield from (f"### {title}", "", f"| {' | '.join(CLAIM_HEADS)} |")
            yield f"|{'---|' * len(CLAIM_HEADS)}"
            yield from map(_claim_row, own)
            yield ""


def _claim_row(claim: Mapping[str, Any]) -> str:
    place = claim["place"] if claim["place"] != "text" else f"section {claim['section']}"
    why = f": {_plain(claim['reason'])}" if claim["reason"] else ""
    judge = claim["judge"]
    shown = f"`{judge}`" if judge in STUDIES or judge.startswith("sottovoce ") else judge or NONE
    cells = (claim["claim"], _plain(place), _plain(claim["text"]))
    return f"| {' | '.join(cells)} | **{claim['verdict']}**{why} | {shown} |"


def _plain(text: str) -> str:
    """Text with Markdown's special characters escaped, also for a table."""
    return re.sub(r"([\\|*_`\[\]])", r"\\\1", text).replace("<", "&lt;")


if __name__ == "__main__":
    found = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    PAGE.write_text(with_verdicts(PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")
    CLAIMS_PAGE.write_text(
        with_claims(CLAIMS_PAGE.read_text(encoding="utf-8"), found), encoding="utf-8"
    )
