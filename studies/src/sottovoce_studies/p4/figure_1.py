"""Study `p4-figure-1`: the distribution of answers and truths in P4's real datasets."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sottovoce.figures import Chart, Level, Series
from sottovoce_studies.cells import Cell
from sottovoce_studies.p4.crowds import DATASETS, public, summary
from sottovoce_studies.paper_tables import printed
from sottovoce_studies.study import Outcome, Row, Size, Study, Verdict, Work

__all__ = ["SKEWED", "STUDY", "Finding", "findings", "judge"]

SKEWED = 1.5
"""The frequency of an answer, relative to a uniform one, from which answers count as skewed."""
ERRORS = 3.0
"""The number of standard errors from which a share counts as above or below a figure."""

ZEROS = printed("P4 claims").number("figure", "share of truths that are 0, at least")
SAME = "AdultContent"
"""The public data are P4's except for three answers; P4's part of Web is not public."""

CLAIMS, SHARES = "Figure 1: statements of the text", "Figure 1: shares"
ABSENT = "the dataset is not in the cache"

Holds = Literal["yes", "no", "unsure"]
Found = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Finding:
    """A share of some public answers or tasks, and the figure that it must exceed."""

    dataset: str
    claim: str
    share: float
    count: int
    figure: float

    @property
    def error(self) -> float:
        """The standard error of a random sample of this size at the claimed share."""
        return math.sqrt(self.figure * (1 - self.figure) / self.count)

    @property
    def holds(self) -> Holds:
        """Whether the share is above the figure, beyond chance.

        >>> [Finding("x", "y", share, 100, 0.5).holds for share in (0.2, 0.6, 0.9)]
        ['no', 'unsure', 'yes']
        """
        if abs(self.share - self.figure) <= ERRORS * self.error:
            return "unsure"
        return "yes" if self.share > self.figure else "no"


def plan(size: Size, seed: int) -> Work:
    """One summary of each public dataset; nothing is drawn."""
    there = public()
    cells = [Cell(summary, (dataset,)) for dataset in there.values()]
    return Work(cells, lambda results: judge(dict(zip(there, results, strict=True))))


def findings(name: str, seen: Mapping[str, Any]) -> tuple[Finding, Finding, Finding]:
    """The three claims of P4 §VI-B on a dataset: skewed answers, truths of 0, right answers."""
    shares = seen["answer shares"]
    return (
        Finding(name, "answers are skewed", max(shares), seen["answers"], SKEWED / len(shares)),
        Finding(name, "truth is 0", seen["truth shares"][0], seen["truths"], ZEROS),
        Finding(name, "answers are right", seen["correct"] / seen["checked"], seen["checked"], 0.5),
    )


def judge(found: Found) -> Outcome:
    """Fails if a claim is refuted on the paper's data; other data are only shown."""
    every = [one for name, seen in found.items() for one in findings(name, seen)]
    verdict, reason = _ruling([one for one in every if one.dataset == SAME])
    missing = [name for name in DATASETS if name not in found]
    sentences = [_sentence(name, seen) for name, seen in found.items()]
    sentences += [f"{name}: {ABSENT}" for name in missing]
    sentences.append("P4's part of Web is not public: statements about it cannot be checked")
    rows = (
        *map(_row, every),
        *({"part": CLAIMS, "data": name, "claim": ABSENT} for name in missing),
        *(row for name, seen in found.items() for row in _shares(name, seen)),
    )
    charts = tuple(_chart(name, seen) for name, seen in found.items()) or (_claimed(),)
    return Outcome(rows, verdict, reason, f"{'. '.join(sentences)}.", charts)


def _ruling(same: Sequence[Finding]) -> tuple[Verdict, str]:
    refuted = [one for one in same if one.holds == "no"]
    if not same:
        return "cannot be checked", ABSENT
    if refuted:
        one = refuted[0]
        share, figure = _percent(one.share), _percent(one.figure)
        return "fails", (
            f"{one.claim}: {share} of the known ones of {one.dataset}, not over {figure}"
        )
    unsure = [one.claim for one in same if one.holds == "unsure"]
    if unsure:
        return "cannot be checked", f"too few public data for: {', '.join(unsure)}"
    return "holds in shape", "on the public AdultContent; P4's part of Web is not public"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _sentence(name: str, seen: Mapping[str, Any]) -> str:
    skewed, zeros, right = findings(name, seen)
    most = max(range(len(seen["answer shares"])), key=lambda label: seen["answer shares"][label])
    return (
        f"The public {name}: the most frequent answer is {most} ({_percent(skewed.share)} of "
        f"{seen['answers']:,}; a uniform share would be "
        f"{_percent(1 / len(seen['answer shares']))}); the truth is 0 in {_percent(zeros.share)} "
        f"of the {zeros.count:,} tasks of {seen['tasks']:,} whose truth is known; "
        f"{_percent(right.share)} of the {right.count:,} answers to these are right; of all tasks "
        f"{_percent(seen['vote shares'][0])} have 0 as their most frequent answer"
    )


def _row(one: Finding) -> Row:
    return {
        "part": CLAIMS,
        "data": one.dataset,
        "claim": one.claim,
        "ours": one.share,
        "of": one.count,
        "must exceed": one.figure,
        "holds": one.holds,
        "the paper's data": "yes" if one.dataset == SAME else "no",
    }


def _shares(name: str, seen: Mapping[str, Any]) -> Iterator[Row]:
    for value, share in enumerate(seen["answer shares"]):
        yield {
            "part": SHARES,
            "data": name,
            "value": value,
            "answers": share,
            "truths": seen["truth shares"][value],
            "votes": seen["vote shares"][value],
        }


def _chart(name: str, seen: Mapping[str, Any]) -> Chart:
    values = tuple(float(value) for value in range(len(seen["answer shares"])))
    panel = "a" if name == next(iter(DATASETS)) else "b"
    _, zeros, right = findings(name, seen)
    return Chart(
        f"Answers and truths of the public {name} (P4 Figure 1{panel})",
        "value",
        "share",
        (
            Series("answers", values, tuple(seen["answer shares"]), role="ours"),
            Series("truths", values, tuple(seen["truth shares"]), role="reference"),
            Series("majority votes", values, tuple(seen["vote shares"])),
        ),
        (Level("P4: truths that are 0", ZEROS),),
        note=f"P4 §VI-B: answers are skewed, over {_percent(ZEROS)} of the truths are 0 and most "
        f"answers are right. Here {_percent(zeros.share)} of {zeros.count:,} truths are 0, and "
        f"{_percent(right.share)} of the answers are right.",
        better="neither",
    )


def _claimed() -> Chart:
    """The chart without a dataset: the claim alone."""
    return Chart(
        "Truths that are 0 (P4 §VI-B)",
        "value",
        "share",
        (Series("as claimed, at least", (0.0,), (ZEROS,), role="reference"),),
        note=f"P4 §VI-B: over {_percent(ZEROS)} of the truths are 0. No dataset is in the cache.",
        better="neither",
    )


STUDY = Study(
    "p4-figure-1",
    "Answers of both datasets are skewed, the truth of more than 72 % of the tasks is 0, and the "
    "majority of answers are right",
    "P4 §VI-B, Figure 1",
    "the public Web (a different part from the paper's, which is not public) and the public "
    "AdultContent (the paper's except for three answers; four grades occur, not five, and the "
    "truth of 333 of its 11,040 tasks is known, not a random sample); skewed means that one "
    "answer is 1.5 times as frequent as under a uniform distribution; a share counts as above or "
    "below a figure from three standard errors on; of tied answers the smallest is the vote",
    plan,
    "nothing",
    recorded="fails",
    items=("P4 Figure 1",),
)
