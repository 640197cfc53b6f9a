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
from sottovoce_studies.rulings import Ruling, Rulings, Verdict
from sottovoce_studies.study import Outcome, Row, Size, Study, Work

__all__ = ["SKEWED", "STUDY", "Finding", "findings", "judge"]

SKEWED = 1.5
"""The frequency of a value, relative to a uniform one, from which values count as skewed."""
ERRORS = 3.0
"""The number of standard errors from which the share of a sample counts as above or below."""

ZEROS = printed("P4 claims").number("figure", "share of truths that are 0, at least")

CLAIMS, SHARES = "Figure 1: statements of the text", "Figure 1: shares"
ABSENT = "the dataset is not in the cache"
SKEW, ZERO, RIGHT, REST = (
    "answers are skewed",
    "truth is 0",
    "answers are right",
    "the other answers are uneven",
)
CLAIMED = {SKEW: "P4-VI.B-2", ZERO: "P4-VI.B-3", RIGHT: "P4-VI.B-4", REST: "P4-VI.B-5"}

Holds = Literal["yes", "no", "unsure"]
Found = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Finding:
    """A share of some answers or tasks, and the figure that it must exceed.

    `whole` says that all of the dataset's are known; others are a sample. `biased` says why a
    sample is not a random one, and so decides nothing.
    """

    dataset: str
    claim: str
    share: float
    count: int
    figure: float
    whole: bool = False
    biased: str = ""

    @property
    def error(self) -> float:
        """The standard error of a random sample of this size at the claimed share."""
        return math.sqrt(self.figure * (1 - self.figure) / self.count)

    @property
    def holds(self) -> Holds:
        """Whether the share is above the figure, for a sample beyond chance.

        >>> [Finding("x", "y", share, 100, 0.5).holds for share in (0.2, 0.6, 0.9)]
        ['no', 'unsure', 'yes']
        """
        near = abs(self.share - self.figure) <= ERRORS * self.error
        if not self.whole and (near or self.biased):
            return "unsure"
        return "yes" if self.share > self.figure else "no"


def plan(size: Size, seed: int) -> Work:
    """One summary of each public dataset; nothing is drawn."""
    there = public()
    cells = [Cell(summary, (dataset,)) for dataset in there.values()]
    return Work(cells, lambda results: judge(dict(zip(there, results, strict=True))))


def findings(name: str, seen: Mapping[str, Any]) -> tuple[Finding, ...]:
    """The claims of P4 §VI-B on a dataset: skewed answers, truths of 0, right answers, the rest."""
    shares, all_known = seen["answer shares"], seen["truths"] == seen["tasks"]
    rest = sorted(shares)[:-1]
    others = round(sum(rest) * seen["answers"])
    return (
        Finding(name, SKEW, max(shares), seen["answers"], SKEWED / len(shares), True),
        Finding(name, ZERO, seen["truth shares"][0], seen["truths"], ZEROS, all_known, _part(seen)),
        Finding(name, RIGHT, seen["correct"] / seen["checked"], seen["checked"], 0.5, all_known),
        Finding(name, REST, max(rest) / sum(rest), others, 1 / len(rest)),
    )


def _part(seen: Mapping[str, Any]) -> str:
    """Why the tasks with gold cannot stand for all tasks."""
    return (
        f"gold for {seen['truths']:,} of {seen['tasks']:,} tasks, not a random sample; "
        f"{_percent(seen['vote shares'][0])} of all tasks have 0 as their most frequent answer"
    )


def judge(found: Found) -> Outcome:
    """Rule on the printed share of truths, and on the text's statements about the figure."""
    every = [one for name, seen in found.items() for one in findings(name, seen)]
    missing = [name for name in DATASETS if name not in found]
    sentences = [_sentence(name, seen) for name, seen in found.items()]
    sentences += [f"{name}: {ABSENT}" for name in missing]
    sentences.append(
        "An earlier version of this study took another dataset, web, for Web, and said that P4's "
        "is not public"
    )
    rows = (
        *map(_row, every),
        *({"part": CLAIMS, "data": name, "claim": ABSENT} for name in missing),
        *(row for name, seen in found.items() for row in _shares(name, seen)),
    )
    charts = tuple(_chart(name, seen) for name, seen in found.items()) or (_claimed(),)
    if missing:
        reason = f"{ABSENT}: {', '.join(DATASETS[name] for name in missing)}"
        numbers = shape = Ruling("cannot be checked", reason)
        claims = dict.fromkeys(CLAIMED.values(), shape)
    else:
        claims = {CLAIMED[text]: _ruling([o for o in every if o.claim == text]) for text in CLAIMED}
        numbers = claims[CLAIMED[ZERO]]
        shape = _ruling([one for one in every if one.claim != ZERO])
    rulings = Rulings(numbers, shape)
    return Outcome(rows, rulings, f"{'. '.join(sentences)}.", charts, claims=claims)


def _ruling(every: Sequence[Finding]) -> Ruling:
    """Holds if all do; a share that a sample leaves open decides nothing."""
    words = "; ".join(map(_words, every))
    seen = {one.holds for one in every}
    verdict: Verdict = "partly"
    if seen == {"yes"}:
        verdict = "holds"
    elif seen == {"no"}:
        verdict = "fails"
    elif "no" not in seen and "yes" not in seen:
        verdict = "cannot be checked"
    return Ruling(verdict, words)


def _words(one: Finding) -> str:
    share = f"{_percent(one.share)} of {one.count:,}"
    if one.holds == "unsure" and one.biased:
        return f"{one.dataset}: {one.claim} cannot be checked ({share}: {one.biased})"
    return f"{one.dataset}: {one.claim} {share}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _sentence(name: str, seen: Mapping[str, Any]) -> str:
    skewed, zeros, right, _ = findings(name, seen)
    most = max(range(len(seen["answer shares"])), key=lambda label: seen["answer shares"][label])
    return (
        f"{name} ({DATASETS[name]}): the most frequent answer is {most} "
        f"({_percent(skewed.share)} of {seen['answers']:,}; a uniform share would be "
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
        "all known": "yes" if one.whole else "no",
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
    _, zeros, right, _ = findings(name, seen)
    return Chart(
        f"Answers and truths of {name} (P4 Figure 1{panel})",
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
    "Answers of both datasets are skewed, the truth of more than 72 % of the tasks is 0, the "
    "majority of answers are right, and the others fall on a few values unevenly",
    "P4 §VI-B, Figure 1",
    "the word-sense data of Snow et al. 2008 (wsd), which P4 calls Web (its first label is value "
    "0, and every truth is known), and the public AdultContent (adult2: the paper's except for "
    "three answers; four grades occur, not five, and the truth of 333 of its 11,040 tasks is "
    "known, not a random sample); skewed means that one value is 1.5 times as frequent as under a "
    "uniform distribution, uneven that it is more frequent; a share of a sample counts as above or "
    "below a figure from three standard errors on, except that the share of truths that are 0 is "
    "not judged on part of the tasks; of tied answers the smallest is the vote",
    plan,
    "nothing",
    recorded=("partly", "holds", "not claimed"),
    items=("P4 Figure 1",),
)
