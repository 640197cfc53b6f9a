"""Study `p4-figure-4`: the change of the MAE against sparsity on large synthetic data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sottovoce_studies.cells import Cell
from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.p4.factorization import OPEN
from sottovoce_studies.p4.sparse_tables import (
    GRID_TEXT,
    OURS,
    THREE,
    VALUES,
    Curves,
    Found,
    Judged,
    Place,
    along_sparsity,
    changes,
    chart,
    errors,
    gathered,
    guarantee_rows,
    judged_choice,
    mae_rows,
    not_better,
    refused,
    same_guarantee,
    statement_rows,
    step_rows,
    step_sentence,
    words_of,
)
from sottovoce_studies.p4.sparse_trials import maes_with_memory, ours
from sottovoce_studies.rulings import Ruling, Rulings, Statement, ruling_on
from sottovoce_studies.study import Outcome, Row, Size, Study, Work

__all__ = ["RANGE", "STUDY", "judge", "judged"]

EPSILONS: Mapping[Size, tuple[float, ...]] = {"quick": (0.1, 3.0), "full": (0.1, 1.0, 3.0)}
SPARSITIES: Mapping[Size, tuple[float, ...]] = {"quick": (0.5, 0.9), "full": (0.1, 0.5, 0.9)}
LARGE: Mapping[Size, tuple[int, int]] = {"quick": (1_000, 200), "full": (10_000, 1_000)}
SMALL: Mapping[Size, tuple[int, int]] = {"quick": (500, 200), "full": (2_000, 200)}
TRIALS: Mapping[Size, int] = {"quick": 2, "full": 3}
SMALL_TRIALS: Mapping[Size, int] = {"quick": 2, "full": 10}
OURS_IN = 1

NOISY = 0.1
"""P4: at this epsilon LP changes less on large data; for others the text names no difference."""
RANGE = 0.25
"""The largest difference of changes in the same range; all of them span about 4."""

LESS = "LP at epsilon 0.1 changes less"
SAME, MF_SAME = (f"{who} in the same range as on small data" for who in ("LP, RR", "MF"))
SMALLEST = "MF changes least on large and small data"
TEXT = "as on the small data, but at epsilon 0.1 LP changes less"


def plan(size: Size, seed: int) -> Work:
    """Every trial on large data, and on small data for comparison."""
    axes = [(s, e) for e in EPSILONS[size] for s in SPARSITIES[size]]
    large, small = ([Place(*sizes[size], s, e) for s, e in axes] for sizes in (LARGE, SMALL))
    cells = [
        Cell(maes_with_memory, cell.arguments)
        for place in large
        for cell in place.cells(
            size, TRIALS[size], seed, with_ours=place.trials_of_ours(size, OURS_IN), grid_in=0
        )
    ]
    first = len(cells)
    for place in small:
        cells += place.cells(size, SMALL_TRIALS[size], seed, with_ours=0, grid_in=0)

    def judged(results: Sequence[Any]) -> Outcome:
        measured = gathered(large, [each["maes"] for each in results[:first]])
        peaks = [each["peak"] for each in results[:first] if each["peak"] is not None]
        return judge(measured, gathered(small, results[first:]), peaks)

    return Work(cells, judged)


def judge(large: Found, small: Found, peaks: Sequence[float]) -> Outcome:
    """Rule on the text's comparison with small data, under the choice of MF that meets most."""
    choice = judged(large, small)
    curves = {epsilon: along_sparsity(large, epsilon) for epsilon in _epsilons(large)}
    rows: list[Row] = []
    for epsilon, each in curves.items():
        rows += mae_rows(f"Figure 4, epsilon {epsilon:g}", "sparsity", each, choice.name)
        beside = along_sparsity(small, epsilon)
        rows += mae_rows(f"Small data, epsilon {epsilon:g}", "sparsity", beside, choice.name)
    tasks = next(iter(large)).tasks
    rows += statement_rows("Figure 4: statements of the text", choice)
    rows += guarantee_rows((*THREE, ours()), VALUES, tasks)
    rows += step_rows(list(large.values()))
    rows += _memory(large, peaks)
    shape = ruling_on(choice.statements)
    charts = tuple(
        chart(
            f"Change of the MAE at epsilon {epsilon:g}, large data (P4 Figure 4)",
            "sparsity, share of NULLs",
            each,
            f"P4 §VI-C: {TEXT}. Here all of this: {shape.verdict}, with {choice.name}.",
            choice.name,
        )
        for epsilon, each in curves.items()
    )
    rulings = Rulings(
        shape=Ruling(shape.verdict, shape.reason or f"with {choice.name}"),
        guarantee=same_guarantee(THREE, VALUES, tasks),
    )
    words = " ".join((*words_of(choice), *_sentences(large, curves, choice)))
    return Outcome(tuple(rows), rulings, words, charts, (), _claims(choice), choice.choices)


def judged(large: Found, small: Found) -> Judged:
    """The statements of P4 §VI-C about Figure 4 compared with Figure 3, under the best choice."""

    def said(found: Found, name: str) -> list[Statement]:
        big, little = ({place: found[place] for place in each} for each in (large, small))
        common = [
            _less(along_sparsity(big, NOISY), along_sparsity(little, NOISY)),
            _similar(SAME, big, little, ("LP", "RR")),
        ]
        if not all(name in trials[0] for trials in found.values()):
            return [*common, *(refused(text, name) for text in (MF_SAME, SMALLEST))]
        own = [_similar(MF_SAME, big, little, (name,)), _smallest(big, little, name)]
        return [*common, *own]

    return judged_choice({**large, **small}, said)


def _claims(choice: Judged) -> dict[str, Ruling]:
    ranges = [choice.of(SAME), choice.of(MF_SAME)]
    seen = "; ".join(f"{each.text}: {each.seen}" for each in ranges)
    alike = ruling_on(choice.statements)
    return {
        "P4-VI.C-10": Ruling(alike.verdict, alike.reason or seen),
        "P4-VI.C-11": _smaller(choice.of(LESS)),
        "P4-VI.C-12": Ruling(ruling_on(ranges).verdict, seen),
    }


def _smaller(less: Statement) -> Ruling:
    """The claim has a reason: noise falls in inverse proportion to the number of answers."""
    if not less.true:
        return less.ruling
    return Ruling("partly", f"{less.seen}; but mean noise falls with the root of the number")


def _less(large: Curves, small: Curves) -> Statement:
    """Over all sparsities, because single ones are within the noise of the small data."""
    gains = [changes(small[s])["LP"].mean - changes(large[s])["LP"].mean for s in large]
    seen = f"less by {min(gains):.2f} to {max(gains):.2f}"
    return Statement(LESS, sum(gains) > 0, seen)


def _similar(says: str, large: Found, small: Found, names: Sequence[str]) -> Statement:
    """Whether changes are similar at the epsilons for which the text names no difference."""
    moves = [
        abs(changes(large[one])[name].mean - changes(small[other])[name].mean)
        for one, other in _beside(large, small)
        for name in names
        if one.epsilon > NOISY
    ]
    return Statement(says, max(moves) <= RANGE, f"apart by up to {max(moves):.2f}")


def _smallest(large: Found, small: Found, name: str) -> Statement:
    """Whether MF has the smallest mean change on both sizes."""
    beaten = [
        place
        for found in (large, small)
        for place, trials in found.items()
        if _best(trials, ("LP", "RR", name)) != name
    ]
    seen = "everywhere" if not beaten else f"not {_where(beaten[0])}"
    return Statement(SMALLEST, not beaten, seen)


def _best(trials: Sequence[Mapping[str, float]], names: Sequence[str]) -> str:
    seen = changes(trials)
    return min(names, key=lambda name: seen[name].mean)


def _where(place: Place) -> str:
    size = f"{place.workers:,} x {place.tasks:,}"
    return f"on {size} at epsilon {place.epsilon:g}, sparsity {place.sparsity:g}"


def _beside(large: Found, small: Found) -> list[tuple[Place, Place]]:
    others = {(place.sparsity, place.epsilon): place for place in small}
    return [(place, others[place.sparsity, place.epsilon]) for place in large]


def _epsilons(found: Found) -> list[float]:
    return list(dict.fromkeys(place.epsilon for place in found))


def _memory(large: Found, peaks: Sequence[float]) -> Iterator[Row]:
    if peaks:
        place = next(iter(large))
        yield {
            "part": "Memory of a process",
            "reports": place.workers * place.tasks,
            "peak GiB": max(peaks),
        }


def _sentences(large: Found, curves: Mapping[float, Curves], choice: Judged) -> Iterator[str]:
    last = max(curves)
    sparse = max(curves[last])
    seen = errors(curves[last][sparse])
    words = ", ".join(f"{seen[name].mean:.2f} with {name}" for name in ("LP", "RR", "MF d 2", OURS))
    place = next(iter(large))
    yield (
        f"On {place.workers:,} x {place.tasks:,} cells at epsilon {last:g} and sparsity "
        f"{sparse:g} the MAE to the truth is {words} and {seen[CONSTANT].mean:.2f} with the best "
        "constant."
    )
    if not_better(list(curves.values()), [choice.name]):
        yield f"{choice.name} is never better than the best constant."
    yield (
        "The text's reason for the smaller change of LP is inexact: the mean of a task's noise "
        "falls with the square root of the number of its answers."
    )
    yield step_sentence(list(large.values()))


STUDY = Study(
    "p4-figure-4",
    "On 10,000 workers and 1,000 tasks the observations are very similar to those on the small "
    "data, and changes are in the same range; at epsilon 0.1 LP changes less when the data are "
    "larger",
    "P4 §VI-C, Figure 4",
    "10,000 workers and 1,000 tasks compared with 2,000 and 200, otherwise as for Figure 3: "
    "every worker reports on every task, 10 million reports; sparsities 0.1, 0.5 and 0.9; our "
    "definition of very similar: MF changes least on both, and from epsilon 1 on changes differ "
    f"by no more than {RANGE:g}; {GRID_TEXT}; four of "
    "the choices at the minimum are run here, and the one with which most statements hold is "
    "judged; truths are real numbers, so there are no ties",
    plan,
    f"{LARGE['quick'][0]:,} x {LARGE['quick'][1]} cells for large data and {SMALL['quick'][0]} x "
    f"{SMALL['quick'][1]} for small ones, {len(SPARSITIES['quick'])} sparsities, "
    f"{len(EPSILONS['quick'])} epsilons, ours at the last epsilon only",
    recorded=("not claimed", "holds", "partly"),
    items=("P4 Figure 4",),
    open=OPEN,
)
