"""Study `p4-figure-4`: the change of the MAE against sparsity on large synthetic data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sottovoce_studies.cells import Cell
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
    mae_rows,
    not_better,
    with_which,
)
from sottovoce_studies.p4.sparse_trials import MF, PAPERS, maes_with_memory, ours
from sottovoce_studies.study import Outcome, Row, Size, Study, Work

__all__ = ["RANGE", "STUDY", "findings", "judge"]

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

NAMES = [pair.name for pair in MF.values()]
TEXT = "as on the small data, but at epsilon 0.1 LP changes less"


def plan(size: Size, seed: int) -> Work:
    """Every trial on large data, and on small data for comparison."""
    axes = [(s, e) for e in EPSILONS[size] for s in SPARSITIES[size]]
    large, small = ([Place(*sizes[size], s, e) for s, e in axes] for sizes in (LARGE, SMALL))
    cells = [
        Cell(maes_with_memory, cell.arguments)
        for place in large
        for cell in place.cells(TRIALS[size], seed, with_ours=place.trials_of_ours(size, OURS_IN))
    ]
    first = len(cells)
    for place in small:
        cells += place.cells(SMALL_TRIALS[size], seed, with_ours=0)

    def judged(results: Sequence[Any]) -> Outcome:
        measured = gathered(large, [each["maes"] for each in results[:first]])
        peaks = [each["peak"] for each in results[:first] if each["peak"] is not None]
        return judge(measured, gathered(small, results[first:]), peaks)

    return Work(cells, judged)


def judge(large: Found, small: Found, peaks: Sequence[float]) -> Outcome:
    """Holds in shape if the text's comparison with small data holds with one dimension of MF."""
    said = findings(large, small)
    good = [name for name in NAMES if not broken(said, name)]
    curves = {epsilon: along_sparsity(large, epsilon) for epsilon in _epsilons(large)}
    rows: list[Row] = []
    for epsilon, curve in curves.items():
        rows += mae_rows(f"Figure 4, epsilon {epsilon:g}", "sparsity", curve)
        beside = mae_rows(
            f"Small data, epsilon {epsilon:g}", "sparsity", along_sparsity(small, epsilon)
        )
        rows += beside
    rows += finding_rows("Figure 4: statements of the text", said)
    rows += guarantee_rows((*PAPERS, ours()), VALUES, next(iter(large)).tasks)
    rows += _memory(large, peaks)
    charts = tuple(
        chart(
            f"Change of the MAE at epsilon {epsilon:g}, large data (P4 Figure 4)",
            "sparsity, share of NULLs",
            curve,
            f"P4 §VI-C: {TEXT}. Here {with_which(said, NAMES)}.",
        )
        for epsilon, curve in curves.items()
    )
    words = " ".join(_sentences(large, curves, said))
    if not good:
        fault = min((broken(said, name) for name in NAMES), key=len)[0]
        return Outcome(tuple(rows), "fails", f"{fault.says}: {fault.seen}", words, charts)
    constant = not_better(list(curves.values()), good)
    reason = f"with {' and '.join(good)}" + (", no better than a constant" if constant else "")
    return Outcome(tuple(rows), "holds in shape", reason, words, charts)


def findings(large: Found, small: Found) -> list[Finding]:
    """The statements of P4 §VI-C about Figure 4 compared with Figure 3."""
    return [
        _less(along_sparsity(large, NOISY), along_sparsity(small, NOISY)),
        _similar(large, small, ("LP", "RR")),
        *(_similar(large, small, (name,), name) for name in NAMES),
        *(_smallest(large, small, name) for name in NAMES),
    ]


def _less(large: Curves, small: Curves) -> Finding:
    """Over all sparsities, because single ones are within the noise of the small data."""
    gains = [changes(small[s])["LP"].mean - changes(large[s])["LP"].mean for s in large]
    seen = f"less by {min(gains):.2f} to {max(gains):.2f}"
    return Finding("LP at epsilon 0.1 changes less", sum(gains) > 0, seen)


def _similar(large: Found, small: Found, names: Sequence[str], of: str = "") -> Finding:
    """Whether changes are similar at the epsilons for which the text names no difference."""
    moves = [
        abs(changes(large[one])[name].mean - changes(small[other])[name].mean)
        for one, other in _beside(large, small)
        for name in names
        if one.epsilon > NOISY
    ]
    says = f"{'MF is' if of else 'LP and RR are'} in the same range as on small data"
    return Finding(says, max(moves) <= RANGE, f"apart by up to {max(moves):.2f}", of)


def _smallest(large: Found, small: Found, name: str) -> Finding:
    """Whether MF has the smallest mean change on both sizes."""
    beaten = [
        place
        for found in (large, small)
        for place, trials in found.items()
        if _best(trials, ("LP", "RR", name)) != name
    ]
    seen = "everywhere" if not beaten else f"not {_where(beaten[0])}"
    return Finding("MF changes least on large and small data", not beaten, seen, name)


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


def _sentences(
    large: Found, curves: Mapping[float, Curves], said: Sequence[Finding]
) -> Iterator[str]:
    for each in said:
        of = f" with {each.of}" if each.of else ""
        yield f"{'Holds' if each.holds else 'Fails'}{of}: {each.says} ({each.seen})."
    last = max(curves)
    sparse = max(curves[last])
    seen = errors(curves[last][sparse])
    words = ", ".join(f"{seen[name].mean:.2f} with {name}" for name in ("LP", "RR", *NAMES, OURS))
    place = next(iter(large))
    yield (
        f"On {place.workers:,} x {place.tasks:,} cells at epsilon {last:g} and sparsity "
        f"{sparse:g} the MAE to the truth is {words} and {seen[CONSTANT].mean:.2f} with the best "
        "constant. P4 prints no dimension of MF for its figures."
    )


STUDY = Study(
    "p4-figure-4",
    "On 10,000 workers and 1,000 tasks the observations are very similar to those on the small "
    "data, and changes are in the same range; at epsilon 0.1 LP changes less when the data are "
    "larger",
    "P4 §VI-C, Figure 4",
    "10,000 workers and 1,000 tasks compared with 2,000 and 200, otherwise as for Figure 3: "
    "every worker reports on every task, 10 million reports; sparsities 0.1, 0.5 and 0.9; our "
    "definition of very similar: MF changes least on both, and from epsilon 1 on changes differ "
    f"by no more than {RANGE:g}; truths are real numbers, so there are no ties",
    plan,
    f"{LARGE['quick'][0]:,} x {LARGE['quick'][1]} cells for large data and {SMALL['quick'][0]} x "
    f"{SMALL['quick'][1]} for small ones, {len(SPARSITIES['quick'])} sparsities, "
    f"{len(EPSILONS['quick'])} epsilons, ours at the last only",
    recorded="holds in shape",
    items=("P4 Figure 4",),
)
