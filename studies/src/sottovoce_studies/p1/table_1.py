"""Study `p1-table-1`: the sizes of P1's datasets, and the number of answers per worker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from sottovoce.figures import Chart, Series
from sottovoce.model import Domain, Unit
from sottovoce_studies.cells import Cell
from sottovoce_studies.crowds import Dataset
from sottovoce_studies.dataset_searches import search
from sottovoce_studies.p1.layers import two_layer
from sottovoce_studies.paper_tables import printed
from sottovoce_studies.rulings import Ruling, Rulings, Verdict
from sottovoce_studies.study import Outcome, Row, Size, Study, Value, Work

__all__ = ["STUDY", "counted", "judge"]

DUCHENNE, GRADES = "Duchenne Smile Dataset", "Peer Grading Dataset"
ABSENT = "neither dataset is available: Duchenne is not in the cache"
NOMINAL = 1.0

_BINARY = Domain.categorical((0, 1))

_REACH = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)
"""Numbers of answers on the curves."""


def plan(size: Size, seed: int) -> Work:
    """Count Duchenne if it is in the cache; a full run also searches for the peer grades."""
    source = Dataset.of("duchenne")
    counts = [] if source is None else [Cell(counted, (source,))]
    workers, tasks = _paper(GRADES, "#users"), _paper(GRADES, "#question")
    searches = [search(workers, tasks)] if size == "full" else []

    def judged(results: Sequence[Any]) -> Outcome:
        return judge(results[: len(counts)], *results[len(counts) :])

    return Work([*counts, *searches], judged)


def counted(source: Dataset) -> dict[str, Any]:
    """The four statistics, the answers per worker, and the workers who answer tasks with gold."""
    answers, truths = source.draw(0)
    gold = truths >= 0
    on_gold = answers.worker[gold[answers.task]]
    return {
        "#question": len(answers.tasks),
        "#users": len(answers.workers),
        "#answers": len(answers),
        "#groundtruth": int(gold.sum()),
        "per worker": np.bincount(answers.worker).tolist(),
        "gold answers": len(on_gold),
        "gold workers": len(np.unique(on_gold)),
    }


def judge(results: Sequence[Mapping[str, Any]], found_by: str = "") -> Outcome:
    """Numbers hold if Duchenne has the printed sizes; they cannot be checked without Duchenne."""
    rows = tuple(_rows(results))
    if not results:
        words = f"Duchenne is not in the cache. {_unpublished(found_by)}"
        unknown = Ruling("cannot be checked", ABSENT)
        claims = {"P1-7.1.1-1": unknown, "P1-7.1.1-2": _other_students()}
        return Outcome(rows, Rulings(unknown), words, (_betrayed(),), claims=claims)
    found = results[0]
    statistics = printed("P1 Table 1").column("statistic")
    wrong = [name for name in statistics if found[name] != _paper(DUCHENNE, name)]
    verdict: Verdict = "fails" if wrong else "holds"
    reason = (
        f"{', '.join(wrong)} of Duchenne differ"
        if wrong
        else "4 of 4 for Duchenne; the peer grades are not public"
    )
    charts = (_spread(found["per worker"]), _betrayed())
    words = " ".join((*_words(found, len(wrong)), _unpublished(found_by)))
    numbers = Ruling(verdict, reason)
    claims = {"P1-7.1.1-1": numbers, "P1-7.1.1-2": _other_students()}
    return Outcome(rows, Rulings(numbers), words, charts, claims=claims)


def _other_students() -> Ruling:
    """Whether all students of other groups evaluate each group, as the text says."""
    users, groups = _paper(GRADES, "#users"), _paper(GRADES, "#question")
    said, answers = users * (groups - 1), _paper(GRADES, "#answers")
    if answers == said:
        return Ruling("cannot be checked", "the peer grades are not public")
    words = f"{groups} groups and {users} students as in Table 1; but all others' evaluations would"
    return Ruling("partly", f"{words} be {said:,} answers, not {answers}")


def _paper(dataset: str, statistic: str) -> int:
    return int(printed("P1 Table 1").number(dataset, statistic))


def _rows(results: Sequence[Mapping[str, Any]]) -> Iterator[Row]:
    for dataset in (DUCHENNE, GRADES):
        for name in printed("P1 Table 1").column("statistic"):
            paper = _paper(dataset, name)
            row: dict[str, Value] = {"part": "Table 1: statistics", "data": dataset, "of": name}
            if dataset == DUCHENNE and results:
                ours = int(results[0][name])
                yield {**row, "ours": ours, "paper": paper, "difference": ours - paper}
            else:
                yield {**row, "ours": "not available", "paper": paper}
    for found in results:
        yield from _spread_rows(found["per worker"])


def _spread_rows(answers: Sequence[int]) -> Iterator[Row]:
    """Answers per worker, which determine the privacy loss of two layers."""
    noise = two_layer(_BINARY, NOMINAL)
    for name, share in (
        ("fewest", 0),
        ("lower quartile", 0.25),
        ("median", 0.5),
        ("upper quartile", 0.75),
        ("most", 1),
    ):
        count = int(np.quantile(answers, share))
        yield {
            "part": "Duchenne: answers per worker, and true guarantee of two layers at epsilon 1",
            "worker": name,
            "answers": count,
            "per answer": noise.guarantee(count, Unit.ANSWER).epsilon,
            "per worker": noise.guarantee(count, Unit.WORKER).epsilon,
        }


def _words(found: Mapping[str, Any], wrong: int) -> Iterator[str]:
    answers = np.array(found["per worker"])
    yield (
        f"{4 - wrong} of the 4 statistics of Duchenne are as printed; only each worker's first "
        "answer to each task counts."
    )
    yield (
        f"A worker gave {answers.min()} to {answers.max():,} answers, with a median of "
        f"{np.median(answers):g}: enough to make the true epsilon of two layers much larger than "
        "the nominal one. Errors are counted only on tasks with gold, which "
        f"{found['gold workers']} of {found['#users']} workers answered, "
        f"{found['gold answers']:,} times in total."
    )


def _unpublished(found_by: str) -> str:
    """The sentence on the peer grades, with the record of the search for them."""
    words = "The peer grades are not public; 72 workers with 360 answers gave 5 each on average."
    return f"{words} A search by their sizes: {found_by}." if found_by else words


def _spread(answers: Sequence[int]) -> Chart:
    """The share of workers who gave at least a given number of answers."""
    shares = tuple(float(np.mean(np.array(answers) >= count)) for count in _REACH)
    counts = np.sort(answers)[::-1].cumsum()
    few = int(np.searchsorted(counts, counts[-1] / 2)) + 1
    return Chart(
        "Answers of the workers of Duchenne (P1 Table 1)",
        "answers (at least)",
        "share of workers",
        (Series(f"{len(answers)} workers", tuple(map(float, _REACH)), shares, role="ours"),),
        note=f"P1 §7.1: 64 users gave 17,729 answers. Here {len(answers)} gave {counts[-1]:,}, and "
        f"{few} of them half of these.",
        better="neither",
        x_scale="log",
    )


def _betrayed() -> Chart:
    """The true guarantee of two layers by the number of answers."""
    noise = two_layer(_BINARY, NOMINAL)
    xs = tuple(map(float, _REACH))
    true = tuple(noise.guarantee(count, Unit.ANSWER).epsilon for count in _REACH)
    return Chart(
        "True guarantee of two layers by answers per worker",
        "answers of the worker",
        "epsilon per answer",
        (Series("true", xs, true), Series("nominal", xs, (NOMINAL,) * len(xs), role="reference")),
        note="P1 Theorem 6.4: two layers have the same guarantee as one. This is true for one "
        "answer; with a flip probability shared by more answers, the privacy loss of each "
        "is larger.",
        better="lower",
        x_scale="log",
    )


STUDY = Study(
    "p1-table-1",
    "Duchenne has 2,134 questions, 64 users, 17,729 answers and 159 known truths; peer grading "
    "has 26, 72, 360 and 26",
    "P1 §7.1.1, Table 1",
    "Duchenne from the cache, where a worker's first answer to a task counts (the public file "
    "has 30,319 rows); peer grades are not public, and a stand-in with the same sizes would be "
    "no evidence; no votes, no ties",
    plan,
    "no search for the peer grades by their sizes; counting is quick",
    recorded=("holds", "not claimed", "not claimed"),
    items=("P1 Table 1",),
)
