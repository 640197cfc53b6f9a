"""P4's worked examples as tables and charts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sottovoce.figures import Chart, Level, Series
from sottovoce.planning.theorems.sparse_numbers import keep_probability
from sottovoce.studies.comparing import beside, curve
from sottovoce.studies.contests import CONSTANT
from sottovoce.studies.p4.worked import (
    DIMENSIONS,
    OURS,
    TASKS,
    THEOREMS,
    WORKED,
    Case,
    Seen,
    agrees,
    formulas,
    is_above,
    printed_bound,
)
from sottovoce.studies.printed import printed
from sottovoce.studies.study import Row, Value

__all__ = ["example_charts", "simulated_rows", "worked_rows"]

WORDS, SIMULATED = "The worked numbers", "The error of the same settings, simulated"


def worked_rows() -> Iterator[Row]:
    """The printed numbers beside those of their formulas."""
    for name, value in formulas().items():
        yield _arithmetic(f"{THEOREMS[name]} ({name})", printed_bound(name), value)
    share = printed("P4 claims").number(
        "figure", "share of NULLs that RR keeps at epsilon 3, about"
    )
    yield _arithmetic("RR keeps a NULL, epsilon 3, 5 values", share, keep_probability(3, 5))


def _arithmetic(what: str, paper: float, value: float) -> dict[str, Value]:
    return {
        "part": WORDS, "what": what, "paper": paper, "formula": f"{value:.6g}",
        "agree": "yes" if agrees(paper, value) else "no",
    }  # fmt: skip


def simulated_rows(case: Case, seen: Seen) -> Iterator[Row]:
    """Each pair's error in a case, beside its bound where the example has one."""
    crowd = case.crowd
    for name, error in seen.items():
        if name == CONSTANT:
            continue
        place: dict[str, Value] = {
            "part": SIMULATED, "pair": name, "truth": crowd.truth, "sparsity": crowd.sparsity,
        }  # fmt: skip
        row = {**beside(place, error), CONSTANT: seen[CONSTANT].mean}
        if name == "MF" or (name in THEOREMS and crowd.sparsity == WORKED):
            broken = is_above(error, printed_bound(name))
            row |= {"bound": printed_bound(name), "bound holds": "no" if broken else "yes"}
        yield row


def example_charts(found: Sequence[tuple[Case, Seen]]) -> Iterator[Chart]:
    """Errors by sparsity beside their bounds: of LP and RR, and of MF."""
    first = [(case.crowd.sparsity, seen) for case, seen in found if "LP" in seen]
    places = [sparsity for sparsity, _ in first]
    bounds = [formulas(sparsity) for sparsity in places]
    worked = dict(first)[WORKED]
    simulated = [
        curve(name, places, [seen[name] for _, seen in first],
              "ours" if name == OURS.name else "theirs")
        for name in ("LP", "RR", OURS.name)
    ]  # fmt: skip
    stated = [
        Series(f"{THEOREMS[name]} ({name})", tuple(places), tuple(at[name] for at in bounds),
               role="reference")
        for name in ("LP", "RR")
    ]  # fmt: skip
    yield Chart(
        "Errors of LP and RR beside their bounds (P4 Theorems 2, 3)", "sparsity",
        "MAE", (*simulated, *stated), (Level(CONSTANT, 0.0),),
        note=f"P4 §IV: at sparsity {WORKED:g} LP errs by at most {printed_bound('LP'):g} and RR by "
        f"at most {printed_bound('RR'):g}. Here LP errs by {worked['LP'].mean:.3g} and RR by "
        f"{worked['RR'].mean:.3g}.",
        better="lower",
    )  # fmt: skip
    yield _factorization([(case, seen) for case, seen in found if "MF" in seen])


def _factorization(found: Sequence[tuple[Case, Seen]]) -> Chart:
    series = []
    for name in ("MF", OURS.name):
        for truth in (0, 7):
            of = [(case.crowd.sparsity, seen[name]) for case, seen in found
                  if case.crowd.truth == truth and name in seen]  # fmt: skip
            if of:
                series.append(
                    Series(
                        f"{name}, truths {truth}", tuple(place for place, _ in of),
                        tuple(error.mean for _, error in of),
                        role="ours" if name == OURS.name else "theirs",
                    )
                )  # fmt: skip
    broken = sum(is_above(seen["MF"], printed_bound("MF")) for _, seen in found)
    return Chart(
        "Errors of MF beside their bound (P4 Theorem 5)", "sparsity", "MAE",
        tuple(series), (Level("Theorem 5", printed_bound("MF")),),
        note=f"P4 §V: with {TASKS:,} tasks, {DIMENSIONS} dimensions and epsilon 1 MF errs by at "
        f"most {printed_bound('MF'):g}, however sparse answers are. Here it errs by more in "
        f"{broken} of {len(found)} settings.",
        better="lower", y_scale="log",
    )  # fmt: skip
