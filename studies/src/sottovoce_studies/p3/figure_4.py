"""Study `p3-figure-4`: the pattern of Figure 1 with GTM in place of CRH."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from sottovoce.planning.trials import Spread
from sottovoce_studies.cells import Cell
from sottovoce_studies.choices import Choice, grid
from sottovoce_studies.p3.crowds import crowd
from sottovoce_studies.p3.epsilon_sweep import TENTH, Seen, falls, surely_below, with_numbers
from sottovoce_studies.p3.figure_1 import ANSWERS, ERRORS, FEW, LIMIT, NEAR_ONE, SETTING, sweep
from sottovoce_studies.p3.guarantees import guarantee
from sottovoce_studies.p3.pipeline import published, true_epsilon
from sottovoce_studies.paper_tables import spread_by
from sottovoce_studies.rulings import Rulings, Statement
from sottovoce_studies.study import Outcome, Row, Size, Study, Work

__all__ = ["ALIKE", "OPEN", "STUDY", "judge"]

ALIKE = 1.5
"""The largest ratio of losses at which patterns count as similar."""


OPEN: Mapping[str, tuple[str, ...]] = {"lambda1": ("1", "0.1", "10")}
METHODS = ("gtm", "crh")

Tried: TypeAlias = tuple[Mapping[str, str], Mapping[str, Mapping[str, Spread]]]
"""A setting of the open points, with its spreads at noise 1 by method."""


def plan(size: Size, seed: int) -> Work:
    """The sweep of Figure 1 with both methods, and each lambda1 at noise 1."""
    gtm, crh = sweep(size, "gtm"), replace(sweep(size, "crh"), ours=())
    first, second = gtm.cells(seed), crh.cells(seed)
    settings = list(grid(OPEN))
    tried = [
        Cell(
            published,
            (crowd(lambda1=float(values["lambda1"])), method, NEAR_ONE, FEW[size], seed),
        )
        for values in settings
        for method in METHODS
    ]

    def judged(results: Sequence[Any]) -> Outcome:
        rest = iter(results)
        seen = [
            each.seen([next(rest) for _ in cells]) for each, cells in ((gtm, first), (crh, second))
        ]
        pairs = [
            (values, {method: spread_by(next(rest)) for method in METHODS}) for values in settings
        ]
        return judge(seen[0], seen[1], pairs)

    return Work([*first, *second, *tried], judged)


def judge(gtm: Seen, crh: Seen, tried: Sequence[Tried] = ()) -> Outcome:
    """Judge shape: the loss falls, is below 0.1 at noise 1, and similar to CRH's."""
    shape = statements(gtm, crh)
    charts = gtm.charts("P3 Figure 4", "", _notes(gtm, crh), LIMIT)
    return Outcome(
        (*gtm.rows("4"), *_beside(gtm, crh), *_tried_rows(tried)),
        Rulings(shape=with_numbers(shape), guarantee=guarantee(ANSWERS, 1.0)),
        _words(gtm, crh),
        charts,
        claims={"P3-V.A-11": with_numbers(shape)},
        choices=tuple(map(_choice, tried)),
    )


def statements(gtm: Seen, crh: Seen) -> list[Statement]:
    """The pattern of Figure 1 with GTM, and its likeness to that of CRH."""
    lost = gtm.theirs[NEAR_ONE]["change"]
    both = ratios(gtm, crh)
    return [
        Statement("the loss of GTM falls as epsilon grows", falls(gtm.of("change"))),
        Statement("it is less than 0.1 at noise 1", surely_below(lost, TENTH), f"{lost.mean:.3f}"),
        Statement(
            f"it is within a factor of {ALIKE:g} of CRH's",
            all(1 / ALIKE < ratio < ALIKE for ratio in both),
            f"{min(both):.2f} to {max(both):.2f}",
        ),
    ]


def _choice(tried: Tried) -> Choice:
    """The statements that a setting meets at noise 1, by its means."""
    values, found = tried
    gtm, crh = (found[method]["change"].mean for method in METHODS)
    return Choice(values, (gtm < TENTH) + (1 / ALIKE < gtm / crh < ALIKE), 2)


def _tried_rows(tried: Sequence[Tried]) -> Iterator[Row]:
    for values, found in tried:
        yield {
            "part": "Other lambda1 at noise 1: loss",
            **values,
            **{f"MAE {method.upper()}": found[method]["change"].mean for method in METHODS},
            "trials": found["gtm"]["change"].trials,
        }


def ratios(gtm: Seen, crh: Seen) -> list[float]:
    """The ratio of the losses of GTM and CRH at every epsilon."""
    pairs = zip(gtm.of("change"), crh.of("change"), strict=True)
    return [ours.mean / other.mean for ours, other in pairs]


def _beside(gtm: Seen, crh: Seen) -> Iterator[Row]:
    for epsilon, ratio in zip(gtm.theirs, ratios(gtm, crh), strict=True):
        yield {
            "part": "GTM and CRH: loss",
            "epsilon": epsilon,
            "MAE GTM": gtm.theirs[epsilon]["change"].mean,
            "MAE CRH": crh.theirs[epsilon]["change"].mean,
            "ratio": ratio,
        }


def _words(gtm: Seen, crh: Seen) -> str:
    at, near = gtm.theirs[1.0], gtm.theirs[NEAR_ONE]
    both = ratios(gtm, crh)
    return (
        f"The loss of GTM is {near['change'].mean:.4f} (standard error "
        f"{near['change'].standard_error:.4f}) where the mean noise is 1, and {min(both):.2f} to "
        f"{max(both):.2f} times that of CRH over all epsilons; P3 prints no numbers. The loss of "
        f"the plain mean is {near['change mean'].mean:.4f} at noise 1. At epsilon 1, for one of "
        f"{ANSWERS} answers truly {true_epsilon(1.0, ANSWERS):.2f} at delta 0.1, the MAE to the "
        f"truth is {at['error'].mean:.2f} with GTM, {at['error median'].mean:.2f} with the "
        f"median, {gtm.ours[1.0].mean:.2f} with ours without delta, and "
        f"{at['best constant'].mean:.2f} with the best constant."
    )


def _notes(gtm: Seen, crh: Seen) -> tuple[str, str, str]:
    return (
        "P3 §V-A: with GTM the patterns are similar to those with CRH. Here the loss at noise 1 "
        f"is {gtm.theirs[NEAR_ONE]['change'].mean:.3f} with GTM and "
        f"{crh.theirs[NEAR_ONE]['change'].mean:.3f} with CRH.",
        "The noise is that of Figure 1.",
        ERRORS,
    )


STUDY = Study(
    "p3-figure-4",
    "With GTM in place of CRH the patterns of utility and privacy are similar",
    "P3 §V-A, Figure 4",
    SETTING + "GTM with its authors' priors, inverse-gamma(10, 10) and truth variance 1, tolerance "
    "1e-6; similar: the loss falls with epsilon, is below 0.1 at noise 1, and within a factor of "
    f"{ALIKE:g} of CRH's; numbers do not tie",
    plan,
    "3 epsilons instead of 7, 10 trials instead of 100, ours in 1 instead of 20",
    recorded=("not claimed", "holds", "partly"),
    items=("P3 Figure 4",),
    open=OPEN,
)
