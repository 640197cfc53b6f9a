"""Study `p3-figure-2`: less noise for better data, and what it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sottovoce.planning.pipelines import P3_DELTA
from sottovoce.planning.trials import Spread
from sottovoce.studies.cells import Cell
from sottovoce.studies.comparing import spread_by
from sottovoce.studies.p3.by_lambda import (
    ANSWERS,
    MAIN,
    Point,
    SeenByLambda,
    charts,
    line_of,
    rows,
)
from sottovoce.studies.p3.lemma import ETA, B, coverage
from sottovoce.studies.p3.noising import (
    crowd,
    ours_at,
    published,
    read_aware,
    true_epsilon,
)
from sottovoce.studies.p3.tradeoff import falls
from sottovoce.studies.study import Outcome, Size, Study, Verdict, Work

__all__ = ["LAMBDAS", "STUDY", "judge"]

LAMBDAS: Mapping[Size, tuple[float, ...]] = {
    "quick": (1.0, 5.0, 25.0),
    "full": (1.0, 2.0, 5.0, 10.0, 25.0),
}
EPSILONS: Mapping[Size, tuple[float, ...]] = {"quick": (1.0,), "full": (0.5, 1.0, 2.0)}
TRIALS: Mapping[Size, tuple[int, int]] = {"quick": (5, 1), "full": (20, 20)}


def plan(size: Size, seed: int) -> Work:
    """Every lambda1 with Lemma 4.7's noise and with the public range's, then ours at the latter."""
    trials, few = TRIALS[size]
    points = [Point(lambda1, epsilon, public=False)
              for epsilon in EPSILONS[size] for lambda1 in LAMBDAS[size]]  # fmt: skip
    points += [Point(lambda1, MAIN, public=True) for lambda1 in LAMBDAS[size]]
    ours = LAMBDAS[size] if size == "full" else LAMBDAS[size][:1]
    cells = [Cell(published, (crowd(lambda1=each.lambda1), "crh", each.nominal, trials, seed))
             for each in points]  # fmt: skip
    spent = ours_at(true_epsilon(MAIN, ANSWERS))[1]
    read = [Cell(read_aware, (crowd(lambda1=each), spent, few, seed)) for each in ours]

    def judged(results: Sequence[Any]) -> Outcome:
        theirs, aware = results[: len(points)], results[len(points) :]
        return judge(
            {point: spread_by(each) for point, each in zip(points, theirs, strict=True)},
            {at: spread_by(each)["error"] for at, each in zip(ours, aware, strict=True)},
        )

    return Work([*cells, *read], judged)


def judge(seen: SeenByLambda, ours: Mapping[float, Spread]) -> Outcome:
    """Both curves must fall with lambda1, and the smaller noise must keep the epsilon it is for."""
    fault = next(_faults(seen), None)
    verdict: Verdict = "fails" if fault else "holds in shape"
    reason = fault or "both curves fall with lambda1, and the noise keeps its epsilon"
    return Outcome(
        tuple(rows(seen, ours)), verdict, reason, _words(seen, ours), tuple(charts(seen, ours))
    )


def _faults(seen: SeenByLambda) -> Iterator[str]:
    for epsilon in dict.fromkeys(point.epsilon for point in seen):
        points = line_of(seen, epsilon, public=False)
        for name, what in (("noise", "noise"), ("change", "loss")):
            if not falls([seen[point][name] for point in points]):
                yield f"at epsilon {epsilon:g} the {what} does not fall as lambda1 grows"
    worst = max((point for point in seen if point.epsilon == MAIN), key=lambda each: each.kept)
    if worst.kept > worst.epsilon:
        yield (
            f"curves fall, but at lambda1 {worst.lambda1:g} epsilon {MAIN:g} is {worst.kept:.0f} "
            f"over the public range"
        )


def _words(seen: SeenByLambda, ours: Mapping[float, Spread]) -> str:
    lemma, public = line_of(seen, MAIN, public=False), line_of(seen, MAIN, public=True)
    low, high = lemma[0], lemma[-1]
    wide = [seen[point]["change"].mean for point in public]
    said = coverage(high.lambda1)
    first = public[0].lambda1
    return (
        f"With the Delta of Lemma 4.7 the curves are as P3 says: from lambda1 {low.lambda1:g} to "
        f"{high.lambda1:g} the mean noise for epsilon {MAIN:g} falls from "
        f"{seen[low]['noise'].mean:.2f} to {seen[high]['noise'].mean:.2f}, what is lost from "
        f"{seen[low]['change'].mean:.3f} to {seen[high]['change'].mean:.3f}. But this Delta is a "
        f"quantile of honest answers, not a bound: over the public range the noise keeps "
        f"{low.kept:.1f} at lambda1 {low.lambda1:g} and {high.kept:.0f} at {high.lambda1:g}, not "
        f"{MAIN:g}, and at lambda1 {high.lambda1:g} it covers {said.sound:.3f} of the pairs, where "
        f"the lemma claims {said.value:.3f} (it takes 1/sqrt(lambda1) <= 1/lambda1, which is "
        f"reversed above 1). With the public range the noise is "
        f"{seen[public[0]]['noise'].mean:.1f} whatever lambda1 is, and {min(wide):.3f} to "
        f"{max(wide):.3f} is lost. Ours at the same true epsilon, "
        f"{public[0].kept:.2f} per answer without delta, has an MAE to the truth of "
        f"{ours[first].mean:.2f} at lambda1 {first:g}, CRH {seen[public[0]]['error'].mean:.2f}, "
        f"the best constant {seen[public[0]]['best constant'].mean:.2f}. Per "
        f"worker that noise keeps {true_epsilon(MAIN, ANSWERS, ANSWERS**-0.5):.1f} at delta "
        f"{P3_DELTA:g}."
    )


STUDY = Study(
    "p3-figure-2",
    "When lambda1 is big (good data) small noise can hide users' information; when it is small, "
    "only large noise preserves privacy, and utility is affected more",
    "P3 §V-A, Figure 2; Lemma 4.7",
    f"150 users x 30 objects as in Figure 1; Delta = gamma / lambda1 by Lemma 4.7 with b = {B:g}, "
    f"eta = {ETA:g} (ours, P3 prints none), delta 0.1; beside it Delta = 10, the public range. It "
    "holds if noise and loss fall with lambda1 and the noise keeps the epsilon it is for, over the "
    "public range; CRH as printed by its authors; numbers do not tie",
    plan,
    "3 lambda1 instead of 5, epsilon 1 alone, 5 trials instead of 20, ours at one lambda1",
    recorded="fails",
    items=("P3 Figure 2",),
)
