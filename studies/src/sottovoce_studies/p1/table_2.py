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
    rows,
)
from sottovoce_studies.paper_tables import printed
from sottovoce_studies.study import Outcome, Size, Study, Verdict, Work

__all__ = ["ANSWERED", "PAPERS_CLEAN", "STUDY", "TRIALS", "judge"]

TABLE = "Table 2"
TITLE = "Change of the error rate on a stand-in for the peer grades (P1 Table 2)"
TRIALS: Mapping[Size, int] = {"quick": 4, "full": PAPER_TRIALS}
MANY = 3.0
"""The number of standard errors that counts as more than chance."""
PAPERS_CLEAN = 1 - printed("P1 accuracy without noise").number("accuracy", "Peer Grading Dataset")
"""The error without noise stated in P1 §7.2."""

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
    """Fails if the printed numbers refute themselves for any grades; else cannot be checked.

    They do if two layers exceed epsilon for a worker with as many answers as the printed sizes
    imply, or if the printed change at epsilon 0 is more than 3 standard errors from the value that
    follows from symmetry and the printed accuracy.
    """
    faults = list(_faults(seen, answered))
    verdict: Verdict = "fails" if faults else "cannot be checked"
    reason = "; ".join(faults) or "the grades are not public; a stand-in is no evidence"
    found = (*rows(TABLE, seen, compared=False), *answered.rows(TABLE, list(seen)))
    picture = chart(TITLE, TABLE, _note(seen, answered), seen)
    return Outcome(found, verdict, reason, " ".join(_words(seen, answered)), (picture,))


def _faults(seen: Mapping[float, Seen], answered: Answered) -> Iterator[str]:
    top = max(seen)
    if answered.more_than(top):
        true = answered.true_epsilon(top)
        yield f"two layers have epsilon {true:.1f} per answer, not {top:g} (grades not public)"
    figure = printed("P1 Table 2").number("two-layer TD", 0.0)
    if seen[0.0].off_symmetry(figure, PAPERS_CLEAN) > MANY:
        yield f"epsilon 0 must be {0.5 - PAPERS_CLEAN:.2f}"


def _words(seen: Mapping[float, Seen], answered: Answered) -> Iterator[str]:
    top, at = max(seen), seen[0.0]
    yield (
        "The grades are not public, so no printed number can be compared. The failure does not "
        f"depend on the grades: with {answered.median} answers per worker, the average of the "
        f"printed sizes, the true epsilon per answer is {answered.true_epsilon(top):.2f} under "
        f"two layers at the nominal {top:g}, and {top:g} under one layer."
    )
    figure = printed("P1 Table 2").number("two-layer TD", 0.0)
    off = at.off_symmetry(figure, PAPERS_CLEAN)
    yield (
        f"At epsilon 0 the change must be {0.5 - PAPERS_CLEAN:.2f} on average, as P1's text says; "
        f"the printed {figure:.4f} is {off:.1f} standard errors of 100 trials of 26 tasks away, "
        f"assuming the spread of the stand-in, which {'is not' if off > MANY else 'may be'} "
        "chance."
    )
    clean = [at.error(f"clean {reader}").mean for reader in ("MV", "TD", "aware")]
    less, more = lower_at(seen, "two-layer TD", "one-layer TD")
    equal = lower_at(seen, "equal TD", "two-layer TD")
    yield (
        f"On the stand-in (errors without noise: majority vote {clean[0]:.2f}, TD {clean[1]:.2f}, "
        f"aware {clean[2]:.2f}) TD changes less with two layers than with one at {len(less)} of "
        f"{len(seen)} nominal epsilons beyond two standard errors, and more at {len(more)}. At "
        f"the true (epsilon, delta) of two layers, one layer changes less at {len(equal[0])} and "
        f"more at {len(equal[1])}."
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
    "and skill are ours; half of the truths are 1; ties are broken at random",
    plan,
    "3 epsilons and 4 trials instead of 13 and 100",
    recorded="fails",
    items=("P1 Table 2",),
)
