"""Study `p1-figure-3`: utility against privacy, from the trials of Tables 2 and 3."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sottovoce.figures import Chart
from sottovoce_studies.claims import unchecked_claims
from sottovoce_studies.crowds import Dataset
from sottovoce_studies.p1.crowds import PeerGrades
from sottovoce_studies.p1.error_changes import (
    ABSENT,
    EPSILONS,
    EQUAL,
    PAPER_TRIALS,
    Answered,
    Grid,
    Seen,
    SettingsGrid,
    better_throughout,
    chart,
    grows_as_epsilon_falls,
    lower_at,
    pooled,
    reversals,
)
from sottovoce_studies.p1.layers import AS_PRINTED, PUBLISHED, Setting, drawn
from sottovoce_studies.p1.table_2 import ANSWERED
from sottovoce_studies.p1.table_3 import SETTING_TRIALS, SETTINGS, nearest
from sottovoce_studies.rulings import Ruling, Rulings, Statement, ruling_on
from sottovoce_studies.study import Outcome, Row, Size, Study, Work

__all__ = ["STUDY", "Panel", "judge"]

NAME = "p1-figure-3"
TRIALS: Mapping[Size, int] = {"quick": 2, "full": PAPER_TRIALS}
TRIED: Mapping[Size, tuple[Setting, ...]] = {"quick": (AS_PRINTED,), "full": SETTINGS["full"]}
"""Settings of what P1 leaves open; the nearest to the print of Table 3 is judged."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One half of the figure: the data, the table with its numbers and the trials."""

    name: str
    figure: str
    table: str
    answered: Answered
    seen: Mapping[float, Seen]
    """P1's methods."""
    ours: Mapping[float, Seen]
    """Our methods on the same answers."""


def plan(size: Size, seed: int) -> Work:
    """The cells of Table 2, and of Table 3 if Duchenne is in the cache."""
    grades = Grid(PeerGrades(), EPSILONS[size], TRIALS[size])
    source = Dataset.of("duchenne")
    if source is None:
        return Work(grades.cells(seed), lambda found: judge([_grades(grades, found)]))
    whole = Grid(source, EPSILONS[size], TRIALS[size])
    tried = SettingsGrid(source, EPSILONS[size], SETTING_TRIALS[size], TRIED[size])
    answered = Answered.of(drawn(source, 0, seed)[0])
    parts = [each.cells(seed) for each in (grades, whole, tried)]

    def judged(results: Sequence[Any]) -> Outcome:
        rest = iter(results)
        first, second, third = (list(itertools.islice(rest, len(part))) for part in parts)
        ours = whole.seen(second)
        seen = nearest(tried.seen(third))
        smiles = Panel("Duchenne smiles", "3b", "Table 3", answered, seen, ours)
        return judge([_grades(grades, first), smiles])

    return Work([cell for part in parts for cell in part], judged)


def _grades(grid: Grid, results: Sequence[Any]) -> Panel:
    seen = grid.seen(results)
    return Panel("a stand-in for the peer grades", "3a", "Table 2", ANSWERED, seen, seen)


def judge(panels: Sequence[Panel]) -> Outcome:
    """Shape by P1's two statements on Duchenne at nominal epsilon; the guarantee apart.

    Without Duchenne the shape cannot be checked: a stand-in is no evidence.
    """
    panel = panels[-1]
    grow = [grows_as_epsilon_falls(panel.seen, method) for method in PUBLISHED]
    tolerate = [better_throughout(panel.seen, "two-layer TD", each) for each in PUBLISHED[:-1]]
    shape = ruling_on([*grow, *tolerate])
    claims = {"P1-7.2-14": _of(grow), "P1-7.2-15": _of(tolerate)}
    if panel.table != "Table 3":
        shape = Ruling("cannot be checked", ABSENT)
        claims = unchecked_claims(NAME, ABSENT)
    guarantee = panel.answered.ruling(max(panel.seen))
    rows = tuple(row for each in panels for row in _rows(each))
    words = " ".join(word for each in panels for word in _words(each))
    pictures = tuple(map(_chart, panels))
    rulings = Rulings(shape=shape, guarantee=guarantee)
    return Outcome(rows, rulings, words, pictures, claims=claims)


def _of(statements: Sequence[Statement]) -> Ruling:
    """The ruling on statements, with what was seen if all are true."""
    ruling = ruling_on(statements)
    last = statements[-1]
    return (
        ruling if ruling.reason else Ruling(ruling.verdict, f"Duchenne: {last.text} ({last.seen})")
    )


def _rows(panel: Panel) -> Iterator[Row]:
    """Comparison of two-layer TD with each other method, over all epsilons."""
    for method in (*PUBLISHED[:-1], EQUAL):
        seen = panel.ours if method == EQUAL else panel.seen
        gap = pooled(seen, "two-layer TD", method)
        less, more = lower_at(seen, "two-layer TD", method)
        equal = "one-layer TD at the true guarantee of two layers"
        yield {
            "part": "Two-layer TD against the other methods",
            "data": panel.name,
            "other": equal if method == EQUAL else method,
            "difference": gap.mean,
            "s.e.": gap.standard_error,
            "changes less at": len(less),
            "more at": len(more),
            "epsilons": len(panel.seen),
        }
    for method in PUBLISHED:
        order = sorted(panel.seen)
        yield {
            "part": "Change by epsilon",
            "data": panel.name,
            "method": method,
            "change at epsilon 0": panel.seen[order[0]].change(method).mean,
            "at epsilon 1": panel.seen[order[-1]].change(method).mean,
            "turns back": len(reversals(panel.seen, method)),
        }


def _words(panel: Panel) -> Iterator[str]:
    seen, top = panel.seen, max(panel.seen)
    back = sum(len(reversals(seen, method)) for method in PUBLISHED)
    less, more = lower_at(seen, "two-layer TD", "one-layer TD")
    gap = pooled(seen, "two-layer TD", "one-layer TD")
    equal = pooled(panel.ours, EQUAL, "two-layer TD")
    yield (
        f"On {panel.name} changes grow as epsilon falls, except for {back} steps beyond 3 "
        f"standard errors. Two-layer TD changes less than one-layer TD at {len(less)} of "
        f"{len(seen)} nominal epsilons and more at {len(more)}, by {gap.mean:+.3f} ± "
        f"{gap.standard_error:.3f} on average. {panel.answered.words(top)} One layer at the true "
        "(epsilon, delta) per answer of two layers changes TD's error by "
        f"{equal.mean:+.3f} ± {equal.standard_error:.3f} relative to two layers."
    )


def _chart(panel: Panel) -> Chart:
    gap = pooled(panel.seen, "two-layer TD", "one-layer TD")
    note = (
        "P1 §7.2: strong privacy costs utility, and truth discovery with two layers tolerates more "
        f"perturbation than the others. Here it changes {gap.mean:+.3f} ± {gap.standard_error:.3f} "
        "against one layer at the same nominal epsilon, which is not the same privacy. Bands are "
        "two standard errors."
    )
    title = f"Utility against privacy on {panel.name} (P1 Figure {panel.figure})"
    return chart(title, panel.table, note, panel.seen, panel.ours)


STUDY = Study(
    NAME,
    "For every method strong privacy (small epsilon) costs utility, and truth discovery with the "
    "two-layer mechanism tolerates more perturbation than the others",
    "P1 §7.2 (4), Figure 3",
    "the trials of Tables 2 and 3: a stand-in for the peer grades, which are not public, and "
    "Duchenne smiles, on which the verdict is based, with the tie rule and rounds of the setting "
    "that study p1-table-3 judges",
    plan,
    "3 epsilons instead of 13; 20 trials of P1's methods on Duchenne, else 2, instead of 100",
    recorded=("not claimed", "holds", "fails"),
    items=("P1 Figure 3",),
)
