"""Study `p4-figure-3`: the change of the MAE against sparsity on small synthetic data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sottovoce.figures import Chart
from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.p4.sparse_tables import (
    OURS,
    VALUES,
    Curves,
    Finding,
    Found,
    Place,
    along_sparsity,
    broken,
    changes,
    chart,
    errors,
    finding_rows,
    gathered,
    guarantee_rows,
    is_above,
    mae_rows,
    with_which,
)
from sottovoce_studies.p4.sparse_trials import MF, PAPERS, Truths, ours
from sottovoce_studies.paper_tables import printed
from sottovoce_studies.study import Outcome, Size, Study, Verdict, Work

__all__ = ["ALIKE", "MOST", "STUDY", "findings", "judge"]

EPSILONS: Mapping[str, float] = {"3a": 0.1, "3b": 1.0, "3c": 3.0}
"""The slides print the first two, and the text names the third."""
SPARSITIES: Mapping[Size, tuple[float, ...]] = {
    "quick": (0.3, 0.9),
    "full": (0.1, 0.3, 0.5, 0.7, 0.9),
}
OTHER: Truths = "U(1, 8)"
OTHER_EPSILON = 3.0
WORKERS: Mapping[Size, int] = {"quick": 500, "full": 2_000}
TASKS = 200
TRIALS: Mapping[Size, int] = {"quick": 2, "full": 10}
OURS_IN = 4

MOST = printed("P4 claims").number("figure", "change of the MAE under MF, at most")
ALIKE = 0.1
"""The largest difference of changes that look like one line in a figure."""

NAMES = [pair.name for pair in MF.values()]
PREDICTS = "MF predicts missing answers accurately"
AXIS = "sparsity, share of NULLs"
TEXT = "MF is insensitive to sparsity and never above 0.5, LP and RR grow with sparsity"


def plan(size: Size, seed: int) -> Work:
    """Every trial at every epsilon and sparsity, also with truths that are not around 0."""
    axes: list[tuple[float, Truths]] = [*((e, "N(0, 1)") for e in EPSILONS.values())]
    axes.append((OTHER_EPSILON, OTHER))
    places = [
        Place(WORKERS[size], TASKS, sparsity, epsilon, truths)
        for epsilon, truths in axes
        for sparsity in SPARSITIES[size]
    ]
    cells = [
        cell
        for place in places
        for cell in place.cells(TRIALS[size], seed, with_ours=place.trials_of_ours(size, OURS_IN))
    ]
    return Work(cells, lambda results: judge(gathered(places, results)))


def judge(found: Found) -> Outcome:
    """Holds in shape if all statements hold with one dimension of MF, for both kinds of truths."""
    said = findings(found)
    good = [name for name in NAMES if not broken(said, name)]
    curves = {letter: along_sparsity(found, e) for letter, e in EPSILONS.items()}
    other = along_sparsity(found, OTHER_EPSILON, OTHER)
    rows = [
        row
        for letter, curve in curves.items()
        for row in mae_rows(f"Figure {letter}: epsilon {EPSILONS[letter]:g}", "sparsity", curve)
    ]
    rows += mae_rows(f"Truths {OTHER}, epsilon {OTHER_EPSILON:g}", "sparsity", other)
    rows += finding_rows("Figure 3: statements of the text", said)
    rows += guarantee_rows((*PAPERS, ours()), VALUES, TASKS)
    verdict: Verdict = "holds in shape" if good else "fails"
    reason = f"with {' and '.join(good)}" if good else _reason(said, other)
    words = " ".join(_sentences(curves, other, said))
    return Outcome(tuple(rows), verdict, reason, words, tuple(_charts(curves, other, said)))


def findings(found: Found) -> list[Finding]:
    """The statements of P4 §VI-C about Figure 3, and one that follows if MF predicts answers."""
    curves = {epsilon: along_sparsity(found, epsilon) for epsilon in EPSILONS.values()}
    other = along_sparsity(found, OTHER_EPSILON, OTHER)
    return [
        *(_grows(curves, name) for name in ("LP", "RR")),
        *(_small(curves, name) for name in NAMES),
        *(_insensitive(curves, name) for name in NAMES),
        *(_predicts(other, name) for name in NAMES),
    ]


def _grows(curves: Mapping[float, Curves], name: str) -> Finding:
    """Growth from the smallest to the largest sparsity, over all epsilons as the text says."""
    rises = [
        _mean(each, max(each), name) - _mean(each, min(each), name) for each in curves.values()
    ]
    seen = ", ".join(
        f"by {rise:.2f} at epsilon {e:g}" for e, rise in zip(curves, rises, strict=True)
    )
    return Finding(f"{name} grows with sparsity", sum(rises) / len(rises) > ALIKE, seen)


def _small(curves: Mapping[float, Curves], name: str) -> Finding:
    top, epsilon, sparsity = max(
        (_mean(curve, s, name), e, s) for e, curve in curves.items() for s in curve
    )
    above = is_above(changes(curves[epsilon][sparsity])[name], MOST)
    seen = f"{top:.2f} at epsilon {epsilon:g}, sparsity {sparsity:g}"
    return Finding(f"MF is never above {MOST:g}", not above, seen, name)


def _insensitive(curves: Mapping[float, Curves], name: str) -> Finding:
    spans = {e: [_mean(curve, s, name) for s in curve] for e, curve in curves.items()}
    epsilon = max(spans, key=lambda e: max(spans[e]) - min(spans[e]))
    span = max(spans[epsilon]) - min(spans[epsilon])
    seen = f"spans {span:.2f} at epsilon {epsilon:g}"
    return Finding("MF is insensitive to sparsity", span <= ALIKE, seen, name)


def _predicts(other: Curves, name: str) -> Finding:
    """A method that predicts missing answers does so for any truths."""
    seen = {sparsity: changes(trials)[name] for sparsity, trials in other.items()}
    at = max(seen, key=lambda sparsity: seen[sparsity].mean)
    holds = not is_above(seen[at], MOST)
    return Finding(
        PREDICTS,
        holds,
        f"with truths {OTHER} up to {seen[at].mean:.2f}",
        name,
    )


def _mean(curve: Curves, x: float, name: str) -> float:
    return changes(curve[x])[name].mean


def _reason(said: Sequence[Finding], other: Curves) -> str:
    """The reason: no dimension of MF predicts answers, or else a fault of the best one."""
    if any(each.holds for each in said if each.says == PREDICTS):
        fault = min((broken(said, name) for name in NAMES), key=len)[0]
        return f"{fault.says}: {fault.seen}"
    least = min(_mean(other, s, name) for s in other for name in NAMES)
    return f"small only because truths are around 0: with truths {OTHER} at least {least:.1f}"


def _sentences(
    curves: Mapping[str, Curves], other: Curves, said: Sequence[Finding]
) -> Iterator[str]:
    for each in said:
        if each.of:
            yield (
                f"{'Holds' if each.holds else 'Fails'} with {each.of}: {each.says} ({each.seen})."
            )
    sparse = max(other)
    yield (
        f"At sparsity {sparse:g} and epsilon {OTHER_EPSILON:g} the MAE to the truth is "
        f"{_level(curves['3c'], sparse)}; with truths {OTHER} it is {_level(other, sparse)}. P4 "
        "prints no dimension for its figures."
    )


def _level(curve: Curves, sparsity: float) -> str:
    seen = errors(curve[sparsity])
    words = [f"{seen[name].mean:.2f} with {name}" for name in (*NAMES, OURS)]
    return f"{', '.join(words)} and {seen[CONSTANT].mean:.2f} with the best constant"


def _charts(
    curves: Mapping[str, Curves], other: Curves, said: Sequence[Finding]
) -> Iterator[Chart]:
    text = [each for each in said if each.says != PREDICTS]
    for letter, curve in curves.items():
        yield chart(
            f"Change of the MAE at epsilon {EPSILONS[letter]:g} (P4 Figure {letter})",
            AXIS,
            curve,
            f"P4 §VI-C: {TEXT}. Here {with_which(text, NAMES)}.",
        )
    predicted = [each for each in said if each.says == PREDICTS]
    why = "" if any(each.holds for each in predicted) else ": its reports are still around 0"
    yield chart(
        f"The same with truths {OTHER}, epsilon {OTHER_EPSILON:g} (compare P4 Figure 3c)",
        AXIS,
        other,
        "P4 §VI-C: the change is small because MF predicts missing answers accurately. Here "
        f"{with_which(predicted, NAMES)}{why}.",
    )


STUDY = Study(
    "p4-figure-3",
    "The change of the MAE under MF is very small in all settings, insensitive to sparsity and "
    "never above 0.5, even at sparsity 0.9, because MF predicts the missing answers accurately; "
    "under LP and RR it grows with sparsity",
    "P4 §VI-C, Figure 3",
    "2,000 workers, 200 tasks, answers 0..9, truths N(0, 1), half of the workers with sigma 1 "
    "and half with 5; sparsities from 0.1 to 0.9 are ours, and so are MF's dimensions, 2 and 10, "
    "its ridge of 0.01 and its 200 gradient steps, of which P4 prints none; LP replaces NULL by "
    f"a uniform value; for comparison the same with truths {OTHER} at epsilon 3; truths are real "
    "numbers, so there are no ties",
    plan,
    f"{WORKERS['quick']:,} workers, {len(SPARSITIES['quick'])} sparsities, ours at epsilon 3 only, "
    f"{TRIALS['quick']} trials instead of {TRIALS['full']}",
    recorded="fails",
    items=("P4 Figure 3",),
)
