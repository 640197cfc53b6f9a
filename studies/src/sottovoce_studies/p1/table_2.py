"""Study `p1-table-2`: one and two layers of noise on a stand-in for P1's peer grades."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sottovoce_studies.p1.crowds import PeerGrades
from sottovoce_studies.p1.error_changes import (
    EPSILONS,
    PAPER_TRIALS,
    Answered,
    Grid,
    Seen,
    chart,
    lower_at,
    pooled,
    rows,
)
from sottovoce_studies.paper_tables import printed
from sottovoce_studies.rulings import Ruling, Rulings
from sottovoce_studies.study import Outcome, Size, Study, Work

__all__ = ["ANSWERED", "PRIVATE", "STUDY", "TRIALS", "judge"]

TABLE = "Table 2"
TITLE = "Change of the error rate on a stand-in for the peer grades (P1 Table 2)"
TRIALS: Mapping[Size, int] = {"quick": 3, "full": PAPER_TRIALS}
PRIVATE = "the peer grades are not public; study p1-table-1 has a search by their sizes"

_SIZES = printed("P1 Table 1")
_MEAN = int(
    _SIZES.number("Peer Grading Dataset", "#answers")
    // _SIZES.number("Peer Grading Dataset", "#users")
)
ANSWERED = Answered(_MEAN, _MEAN)
"""360 answers of 72 workers: some worker gave at least 5, and the loss for 5 applies to it."""


def plan(size: Size, seed: int) -> Work:
    """Every trial at every epsilon, on new grades for each trial."""
    grid = Grid(PeerGrades(), EPSILONS[size], TRIALS[size])
    return Work(grid.cells(seed), lambda results: judge(grid.seen(results), ANSWERED))


def judge(seen: Mapping[float, Seen], answered: Answered) -> Outcome:
    """Numbers and shape cannot be checked without the grades; the guarantee needs only sizes."""
    unknown = Ruling("cannot be checked", PRIVATE)
    rulings = Rulings(unknown, unknown, answered.ruling(max(seen)))
    found = (*rows(TABLE, seen, compared=False), *answered.rows(TABLE, list(seen)))
    picture = chart(TITLE, TABLE, _note(seen, answered), seen)
    words = " ".join(_words(seen, answered))
    return Outcome(found, rulings, words, (picture,), claims={"P1-7.2-2": unknown})


def _words(seen: Mapping[float, Seen], answered: Answered) -> Iterator[str]:
    yield (
        "The grades are not public, so no printed number can be compared; in print all numbers are "
        "in the order that the text states."
    )
    yield f"The guarantee does not depend on the grades. {answered.words(max(seen))}"
    figures = printed("P1 Table 2")
    right = printed("P1 accuracy without noise").number("accuracy", "Peer Grading Dataset")
    yield (
        f"At epsilon 0 P1's text expects a change of about {right - 0.5:.2f}, and its table has "
        f"{figures.number('two-layer TD', 0.0):.4f} for two-layer TD and "
        f"{figures.number('two-layer MV', 0.0):.4f} for majority vote. An earlier version of this "
        "study called the former impossible; this is true only of methods that treat labels "
        "alike, and ties to label 0, under which Table 3 comes out, do not."
    )
    at = seen[0.0]
    clean = [at.error(f"clean {reader}").mean for reader in ("MV", "TD", "aware")]
    less, more = lower_at(seen, "two-layer TD", "one-layer TD")
    gap = pooled(seen, "equal TD", "two-layer TD")
    yield (
        f"On the stand-in (errors without noise: majority vote {clean[0]:.2f}, TD {clean[1]:.2f}, "
        f"aware {clean[2]:.2f}) TD changes less with two layers than with one at {len(less)} of "
        f"{len(seen)} nominal epsilons beyond two standard errors, and more at {len(more)}. One "
        "layer at the true (epsilon, delta) per answer of two layers changes TD's error by "
        f"{gap.mean:+.3f} ± {gap.standard_error:.3f} relative to two layers."
    )


def _note(seen: Mapping[float, Seen], answered: Answered) -> str:
    less = lower_at(seen, "two-layer TD", "one-layer TD")[0]
    return (
        "P1 §7.2: TD under two layers performs better than under one at the same epsilon. On the "
        f"stand-in it does so beyond noise at {len(less)} of {len(seen)} nominal epsilons, but "
        f"the true epsilon of the nominal 1 is {answered.true_epsilon(1.0):.2f} for "
        f"{answered.median} answers. The printed curve is from the real grades. Bands are two "
        "standard errors."
    )


STUDY = Study(
    "p1-table-2",
    "On peer grades truth discovery under the two-layer mechanism changes the error rate least of "
    "four methods at the same privacy, at each of 13 epsilons: by .0619 against .0850 with one "
    "layer at epsilon 1, by .1992 against .2212 at epsilon 0",
    "P1 §7.2, Table 2",
    "a stand-in, because the grades are not public: 72 workers answer 5 of 26 tasks each, drawn "
    "for each trial so that TD is right on about .73 without noise; the distributions of ease "
    "and skill are ours; half of the truths are 1; ties go to label 0 and TD makes 20 rounds, as "
    "in study p1-table-3",
    plan,
    "3 epsilons and 3 trials instead of 13 and 100",
    recorded=("cannot be checked", "cannot be checked", "fails"),
    items=("P1 Table 2",),
)
