"""Study `p3-figure-4`: the pattern of Figure 1 with GTM in place of CRH."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from sottovoce_studies.p3.epsilon_sweep import TENTH, Seen, falls, surely_below
from sottovoce_studies.p3.figure_1 import ANSWERS, ERRORS, LIMIT, NEAR_ONE, SETTING, sweep
from sottovoce_studies.p3.pipeline import true_epsilon
from sottovoce_studies.study import Outcome, Row, Size, Study, Verdict, Work

__all__ = ["ALIKE", "STUDY", "judge"]

ALIKE = 1.5
"""The largest ratio of losses at which patterns count as similar."""


def plan(size: Size, seed: int) -> Work:
    """The sweep of Figure 1 with both methods."""
    gtm, crh = sweep(size, "gtm"), replace(sweep(size, "crh"), ours=())
    cells = gtm.cells(seed)

    def judged(results: Sequence[Any]) -> Outcome:
        return judge(gtm.seen(results[: len(cells)]), crh.seen(results[len(cells) :]))

    return Work([*cells, *crh.cells(seed)], judged)


def judge(gtm: Seen, crh: Seen) -> Outcome:
    """Holds in shape if the loss falls, is below 0.1 at noise 1, and similar to CRH's."""
    fault = next(_faults(gtm, crh), None)
    verdict: Verdict = "fails" if fault else "holds in shape"
    at = gtm.theirs[NEAR_ONE]
    reason = fault or (
        f"the loss is {at['change'].mean:.3f} at noise 1, with CRH "
        f"{crh.theirs[NEAR_ONE]['change'].mean:.3f}"
    )
    rows = (*gtm.rows("4"), *_beside(gtm, crh))
    charts = gtm.charts("P3 Figure 4", "", _notes(gtm, crh), LIMIT)
    return Outcome(rows, verdict, reason, _words(gtm, crh), charts)


def ratios(gtm: Seen, crh: Seen) -> list[float]:
    """The ratio of the losses of GTM and CRH at every epsilon."""
    pairs = zip(gtm.of("change"), crh.of("change"), strict=True)
    return [ours.mean / other.mean for ours, other in pairs]


def _faults(gtm: Seen, crh: Seen) -> Iterator[str]:
    if not falls(gtm.of("change")):
        yield "the loss of GTM does not fall as epsilon grows"
    lost = gtm.theirs[NEAR_ONE]["change"]
    if not surely_below(lost, TENTH):
        yield f"the loss is {lost.mean:.3f} at noise 1, not less than 0.1"
    if not all(1 / ALIKE < ratio < ALIKE for ratio in ratios(gtm, crh)):
        yield f"GTM and CRH differ by more than a factor of {ALIKE:g}"


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
    recorded="holds in shape",
    items=("P3 Figure 4",),
)
