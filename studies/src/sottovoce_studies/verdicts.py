"""Outcomes as CSV columns, as a record of verdicts, and as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Any, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from sottovoce.figures import Table
from sottovoce.version import __version__
from sottovoce_studies.catalogue import GROUPS
from sottovoce_studies.claims import CLAIMS, Claim
from sottovoce_studies.rulings import ASPECTS, Ruling, Verdict
from sottovoce_studies.study import Outcome, Size, Study, Value

__all__ = [
    "PAPERS",
    "Done",
    "Run",
    "by_paper",
    "count_words",
    "counts",
    "csv_columns",
    "merged",
    "record",
    "ruled_claims",
    "short_items",
    "tally",
    "unrepeated",
    "verdict_words",
]

Done: TypeAlias = Sequence[tuple[Study, Outcome]]
"""Studies with their outcomes."""

PAPERS: Mapping[str, str] = MappingProxyType(
    {
        "P1": "P1, the two-layer mechanism (Li et al., KDD 2018)",
        "P2": "P2, the worker-private EM (Kajino, Arai and Kashima)",
        "P3": "P3, Gaussian noise of random variance (Li et al., ICDCS 2020)",
        "P4": "P4, sparse answers with private NULLs (Sun et al., IEEE Big Data 2018)",
        "beyond the papers": "Beyond the papers",
    }
)
"""Headings of the papers and of the further studies."""

KEYS = 3
"""The largest number of leading columns that identify a row."""


@dataclass(frozen=True, slots=True)
class Run:
    """Settings shared by the studies of one command; `seed` None means each study's default."""

    size: Size
    seed: int | None = None
    day: str = ""

    def seed_of(self, study: Study) -> int:
        """The seed of a study's run."""
        return study.seed if self.seed is None else self.seed


def by_paper(studies: Sequence[Study]) -> dict[str, tuple[Study, ...]]:
    """These studies by paper, in the order of the papers."""
    wanted = {study.name for study in studies}
    found = {
        paper: tuple(study for study in group if study.name in wanted)
        for paper, group in GROUPS.items()
    }
    return {paper: group for paper, group in found.items() if group}


def short_items(study: Study) -> tuple[str, ...]:
    """The tables and figures of a study, without the name of their paper.

    >>> from sottovoce_studies.catalogue import study_named
    >>> short_items(study_named("worker-private-em"))
    ('Table 1', 'Figure 2', 'Figure 3')
    """
    return tuple(item.partition(" ")[2] for item in study.items)


def verdict_words(study: Study, outcome: Outcome, size: Size) -> str:
    """The three verdicts with their reasons; for a quick run also what it leaves out."""
    words = f"verdict: {outcome.rulings}"
    if size == "quick":
        words += f" (quick run: {study.quick})"
    return f"{words}. {outcome.explanation[0].upper()}{outcome.explanation[1:]}"


def tally(done: Done, aspect: str) -> dict[Verdict, int]:
    """The number of studies with each verdict on one aspect."""
    seen = Counter(outcome.rulings.by_aspect()[aspect].verdict for _, outcome in done)
    return {verdict: seen[verdict] for verdict in get_args(Verdict)}


def counts(seen: Mapping[Verdict, int]) -> str:
    """The number of each verdict that occurs, in words.

    >>> counts({"holds": 2, "partly": 0, "fails": 1, "cannot be checked": 0, "not claimed": 4})
    '2 hold, 1 fails, 4 not claimed'
    """
    return ", ".join(count_words(verdict, count) for verdict, count in seen.items() if count)


def count_words(verdict: Verdict, count: int) -> str:
    """The number of studies with a verdict, in words.

    >>> count_words("fails", 1), count_words("partly", 2), count_words("holds", 0)
    ('1 fails', '2 partly', '0 hold')
    """
    verb, _, rest = verdict.partition(" ")
    plural = {"holds": "hold", "fails": "fail"}.get(verb, verb)
    return f"{count} {verb if count == 1 else plural} {rest}".rstrip()


def ruled_claims(done: Done) -> dict[str, tuple[Claim, Ruling]]:
    """The claims of the papers' texts that these studies judge, and those that need no run.

    Claims without a run are included for every paper of these studies.
    """
    papers = by_paper([study for study, _ in done])
    judged = {name: ruling for _, outcome in done for name, ruling in outcome.claims.items()}
    fixed = {name: claim.fixed for name, claim in CLAIMS.items() if claim.paper in papers}
    found = {name: judged.get(name) or fixed.get(name) for name in CLAIMS}
    return {name: (CLAIMS[name], ruling) for name, ruling in found.items() if ruling is not None}


def record(done: Done, run: Run) -> dict[str, Any]:
    """Every verdict with its claim and source, as in `verdicts.json`."""
    outcomes = {study.name: outcome for study, outcome in done}
    papers = by_paper([study for study, _ in done])
    return {
        "version": __version__,
        "size": run.size,
        "seed": run.seed,
        "studies": [
            _recorded(study, outcomes[study.name], run, paper)
            for paper, studies in papers.items()
            for study in studies
        ],
        "claims": [
            {
                "claim": name,
                "section": claim.section,
                "place": claim.place,
                "text": claim.text,
                "judge": claim.judge,
                "verdict": ruling.verdict,
                "reason": ruling.reason,
            }
            for name, (claim, ruling) in ruled_claims(done).items()
        ],
    }


def _recorded(study: Study, outcome: Outcome, run: Run, paper: str) -> dict[str, Any]:
    return {
        "name": study.name,
        "paper": paper,
        "items": list(study.items),
        "claim": study.claim,
        "source": study.source,
        "setting": study.setting,
        "seed": run.seed_of(study),
        "recorded": dict(zip(ASPECTS, study.recorded, strict=True)),
        "verdicts": {
            aspect: {"verdict": ruling.verdict, "reason": ruling.reason}
            for aspect, ruling in outcome.rulings.by_aspect().items()
        },
        "choices": [
            {
                "values": dict(choice.values),
                "met": choice.met,
                "of": choice.of,
                "distance": choice.distance,
            }
            for choice in outcome.choices
        ],
        "explanation": outcome.explanation,
    }


def merged(table: Table) -> int:
    """The number of leading columns that repeat the row above and can be left blank.

    >>> merged(Table(("data", "epsilon", "error"), (("a", 1, 0.2), ("a", 2, 0.1), ("b", 1, 0.1))))
    1
    """
    for columns in range(min(KEYS, len(table.columns) - 1), 0, -1):
        starts = [row[:columns] for row in table.rows]
        if any(above == below for above, below in pairwise(starts)):
            return columns
    return 0


def unrepeated(table: Table) -> list[list[str]]:
    """The rows as text for a terminal, without leading cells that repeat the row above."""
    once = Table(table.columns, table.rows, merged=merged(table))
    return [
        [str(cell) if once.run_length(i, j) else "" for j, cell in enumerate(row)]
        for i, row in enumerate(once.rows)
    ]


def csv_columns(outcome: Outcome) -> dict[str, npt.NDArray[Any]]:
    """The rows as columns of one type each; missing values are empty."""
    return {
        column: _column([row.get(column) for row in outcome.rows]) for column in outcome.columns()
    }


def _column(values: Sequence[Value]) -> npt.NDArray[Any]:
    if any(isinstance(value, str) for value in values):
        return np.array([None if value is None else str(value) for value in values], object)
    if None not in values and all(isinstance(value, int) for value in values):
        return np.array(values, np.int64)
    return np.array([np.nan if value is None else value for value in values], np.float64)
