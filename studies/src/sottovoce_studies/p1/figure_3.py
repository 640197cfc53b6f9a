"""Study `p1-figure-3`: utility against privacy, from the trials of Tables 2 and 3."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sottovoce.figures import Chart
from sottovoce.planning.trials import Spread
from sottovoce_studies.crowds import Dataset
from sottovoce_studies.p1.crowds import PeerGrades
from sottovoce_studies.p1.error_changes import (
    EPSILONS,
    EQUAL,
    PAPER_TRIALS,
    Answered,
    Grid,
    Seen,
    chart,
    lower_at,
)
from sottovoce_studies.p1.layers import PUBLISHED, drawn
from sottovoce_studies.p1.table_2 import ANSWERED
from sottovoce_studies.paper_tables import BAND
from sottovoce_studies.study import Outcome, Row, Size, Study, Verdict, Work

__all__ = ["STUDY", "Panel", "judge", "pooled", "reversals"]

TRIALS: Mapping[Size, int] = {"quick": 3, "full": PAPER_TRIALS}
MANY = 3.0
"""The number of standard errors that counts as more than chance."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One half of the figure: the data, the table with its numbers and the trials."""

    name: str
    figure: str
    table: str
    answered: Answered
    seen: Mapping[float, Seen]


def plan(size: Size, seed: int) -> Work:
    """The cells of Table 2, and of Table 3 if Duchenne is in the cache."""
    grids = [Grid(PeerGrades(), EPSILONS[size], TRIALS[size])]
    heads: list[tuple[str, str, str, Answered]] = [
        ("a stand-in for the peer grades", "3a", "Table 2", ANSWERED)
    ]
    source = Dataset.of("duchenne")
    if source is not None:
        grids.append(Grid(source, EPSILONS[size], TRIALS[size]))
        answered = Answered.of(drawn(source, 0, seed)[0])
        heads.append(("Duchenne smiles", "3b", "Table 3", answered))
    cells = [cell for grid in grids for cell in grid.cells(seed)]

    def judged(results: Sequence[Any]) -> Outcome:
        rest = iter(results)
        parts = [list(itertools.islice(rest, len(g.epsilons) * g.trials)) for g in grids]
        found = zip(heads, grids, parts, strict=True)
        return judge([Panel(*head, grid.seen(part)) for head, grid, part in found])

    return Work(cells, judged)


def judge(panels: Sequence[Panel]) -> Outcome:
    """Judge the last panel, which is Duchenne if it is available.

    Fails if a curve is not monotone beyond noise, if another method changes less than two-layer TD
    over all epsilons by two standard errors, or if the true epsilon of two layers is above the
    nominal one and one layer is not worse at their true guarantee. Else holds in shape: the numbers
    of the curves are compared in the tables.
    """
    panel = panels[-1]
    faults = list(_faults(panel))
    verdict: Verdict = "fails" if faults else "holds in shape"
    reason = faults[0] if faults else f"on {panel.name}; numbers are compared in the tables"
    rows = tuple(row for each in panels for row in _rows(each))
    words = " ".join(word for each in panels for word in _words(each))
    return Outcome(rows, verdict, reason, words, tuple(map(_chart, panels)))


def reversals(seen: Mapping[float, Seen], method: str) -> list[tuple[float, float]]:
    """Steps to a smaller epsilon at which the change falls by more than 3 standard errors."""
    order = sorted(seen, reverse=True)
    found = []
    for larger, smaller in itertools.pairwise(order):
        before, after = seen[larger].change(method), seen[smaller].change(method)
        noise = math.hypot(before.standard_error, after.standard_error)
        if after.mean < before.mean - MANY * noise:
            found.append((larger, smaller))
    return found


def pooled(seen: Mapping[float, Seen], first: str, second: str) -> Spread:
    """The mean excess of the first method's change over the second's, over trials and epsilons."""
    gaps = [at.apart(first, second) for at in seen.values()]
    mean = sum(gap.mean for gap in gaps) / len(gaps)
    error = math.sqrt(sum(gap.standard_error**2 for gap in gaps)) / len(gaps)
    low, high = min(gap.low for gap in gaps), max(gap.high for gap in gaps)
    return Spread(sum(gap.trials for gap in gaps), mean, error, low, high)


def _faults(panel: Panel) -> Iterator[str]:
    seen, top = panel.seen, max(panel.seen)
    for method in PUBLISHED:
        for larger, smaller in reversals(seen, method):
            yield f"{method} changes less at epsilon {smaller:g} than at {larger:g}"
    for method in PUBLISHED[:-1]:
        gap = pooled(seen, "two-layer TD", method)
        if gap.mean > BAND * gap.standard_error:
            yield f"{method} tolerates more than two-layer TD"
    equal = pooled(seen, EQUAL, "two-layer TD")
    if panel.answered.more_than(top) and equal.mean <= BAND * equal.standard_error:
        true = panel.answered.true_epsilon(top)
        better = "better" if equal.mean < -BAND * equal.standard_error else "no worse"
        yield (
            f"two layers have epsilon {true:.1f}, not {top:g}; one layer at that epsilon is "
            f"{better}"
        )


def _rows(panel: Panel) -> Iterator[Row]:
    """Comparison of two-layer TD with each other method, over all epsilons."""
    for method in (*PUBLISHED[:-1], EQUAL):
        gap = pooled(panel.seen, "two-layer TD", method)
        less, more = lower_at(panel.seen, "two-layer TD", method)
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
    gap, equal = pooled(seen, "two-layer TD", "one-layer TD"), pooled(seen, EQUAL, "two-layer TD")
    yield (
        f"On {panel.name} changes grow as epsilon falls, except for {back} steps beyond 3 "
        f"standard errors. Two-layer TD changes less than one-layer TD at {len(less)} of "
        f"{len(seen)} nominal epsilons and more at {len(more)}, by {gap.mean:+.3f} ± "
        f"{gap.standard_error:.3f} on average; but for {panel.answered.median} answers per worker "
        f"the true epsilon of the nominal {top:g} is {panel.answered.true_epsilon(top):.2f}. One "
        "layer at the true (epsilon, delta) of two layers changes TD's error by "
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
    return chart(title, panel.table, note, panel.seen)


STUDY = Study(
    "p1-figure-3",
    "For every method strong privacy (small epsilon) costs utility, and truth discovery with the "
    "two-layer mechanism tolerates more perturbation than the others",
    "P1 §7.2 (4), Figure 3",
    "the trials of Tables 2 and 3: a stand-in for the peer grades, which are not public, and "
    "Duchenne smiles, on which the verdict is based; ties are broken at random",
    plan,
    "3 epsilons and 3 trials instead of 13 and 100",
    recorded="fails",
    items=("P1 Figure 3",),
)
