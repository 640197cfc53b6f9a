"""Study `p4-figure-5`: the change of the MAE against epsilon on the real datasets."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from sottovoce.planning.pipelines import Pipeline
from sottovoce_studies.cells import Cell
from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.p4.crowds import GoldAnswers, public
from sottovoce_studies.p4.sparse_tables import (
    OURS,
    Curves,
    Finding,
    Trials,
    broken,
    changes,
    chart,
    errors,
    finding_rows,
    guarantee_rows,
    mae_rows,
    not_better,
    with_which,
)
from sottovoce_studies.p4.sparse_trials import CLEAN, MF, PAPERS, TWO_LAYER, maes, ours
from sottovoce_studies.paper_tables import printed
from sottovoce_studies.study import Outcome, Row, Size, Study, Verdict, Work

__all__ = ["ABSENT", "COMPARABLE", "STUDY", "findings", "judge"]

VALUES = 5
"""|Γ|: P4 has scores from 0 to 4 in both; the public ones of AdultContent end at 3."""
EPSILONS: Mapping[Size, tuple[float, ...]] = {
    "quick": (0.1, 3.0, 5.0),
    "full": (0.1, 1.0, 2.0, 3.0, 4.0, 5.0),
}
LETTERS = {"Web": "5a", "AdultContent": "5b"}
TRIALS: Mapping[str, int] = {"Web": 10, "AdultContent": 2}
QUICK_TRIALS = 1
OURS_IN = 1
WEB_TASKS = 177
"""The number of tasks of a worker of Web in P4; 2-Layer's true epsilon grows with it."""
SAME = "AdultContent"
"""The public data are P4's except for three answers; P4's part of Web is not public."""

SHARP = 3.0
"""P4: RR drops sharply above this epsilon, since it keeps about 80 % of NULLs."""
KEPT = printed("P4 claims").number("figure", "share of NULLs that RR keeps at epsilon 3, about")
COMPARABLE = 0.25
"""The largest mean difference of changes, on a scale of 4, that counts as comparable."""

NAMES = [pair.name for pair in MF.values()]
RIVALS = ("LP", "RR", TWO_LAYER.name)
ABSENT = "the dataset is not in the cache"
TEXTS = {
    "Web": "MF has the lowest change for most of the cases, 2-Layer is comparable to RR",
    "AdultContent": "MF has the lowest change for most of the cases, 2-Layer is comparable to RR, "
    "and RR drops sharply from epsilon 3",
}
Found = Mapping[str, Curves]
"""The trials by dataset and epsilon."""


def plan(size: Size, seed: int) -> Work:
    """Every trial on every dataset in the cache, at every epsilon."""
    places: list[tuple[str, float, int]] = []
    cells: list[Cell] = []
    for name, dataset in public().items():
        source = dataset if size == "full" else GoldAnswers(dataset)
        for epsilon in EPSILONS[size]:
            trials = TRIALS[name] if size == "full" else QUICK_TRIALS
            places.append((name, epsilon, trials))
            with_ours = OURS_IN if size == "full" else int(epsilon == max(EPSILONS[size]))
            cells += [
                Cell(maes, (source, VALUES, epsilon, _pairs(trial < with_ours), trial, seed))
                for trial in range(trials)
            ]

    def judged(results: Sequence[Mapping[str, float]]) -> Outcome:
        rest, found = iter(results), dict[str, dict[float, Trials]]()
        for name, epsilon, trials in places:
            found.setdefault(name, {})[epsilon] = [next(rest) for _ in range(trials)]
        return judge(found)

    return Work(cells, judged)


def _pairs(with_ours: bool) -> tuple[Pipeline, ...]:
    return (*PAPERS, TWO_LAYER, *((ours(),) if with_ours else ()))


def judge(found: Found) -> Outcome:
    """Judge the dataset that P4 had; the public part of Web, which is not P4's, is only shown."""
    said = {name: findings(name, curve) for name, curve in found.items()}
    rows: list[Row] = []
    for name, curve in found.items():
        rows += mae_rows(f"Figure {LETTERS[name]}: {name}", "epsilon", curve)
    for name in found:
        rows += finding_rows(f"Figure {LETTERS[name]}: statements of the text", said[name])
    rows += guarantee_rows((*PAPERS, TWO_LAYER, ours()), VALUES, WEB_TASKS)
    charts = tuple(
        chart(
            f"Change of the MAE on the public {name} (P4 Figure {LETTERS[name]})",
            "epsilon per answer, nominal",
            curve,
            f"P4 §VI-D: {TEXTS[name]}. Here {with_which(said[name], NAMES)}.",
        )
        for name, curve in found.items()
    )
    if SAME not in found:
        words = f"Nothing can be checked without {SAME}: {ABSENT}."
        return Outcome(tuple(rows), "cannot be checked", ABSENT, words, charts)
    verdict, reason = _ruling(found, said)
    return Outcome(tuple(rows), verdict, reason, " ".join(_sentences(found, said)), charts)


def _ruling(found: Found, said: Mapping[str, Sequence[Finding]]) -> tuple[Verdict, str]:
    good = [name for name in NAMES if not broken(said[SAME], name)]
    if not good:
        fault = min((broken(said[SAME], name) for name in NAMES), key=len)[0]
        return "fails", f"{SAME}: {fault.says}: {fault.seen}"
    elsewhere = [
        name for name, each in said.items() if all(broken(each, variant) for variant in good)
    ]
    constant = ", no better than a constant" if not_better([found[SAME]], good) else ""
    but = f"; not on the public {' and '.join(elsewhere)}" if elsewhere else ""
    return "holds in shape", f"on {SAME} with {' and '.join(good)}{constant}{but}"


def findings(dataset: str, curve: Curves) -> list[Finding]:
    """The statements of P4 §VI-D about Figure 5; the drop of RR is only for AdultContent."""
    drop = [_drops(curve)] if dataset == SAME else []
    return [_keeps(), _comparable(curve), *drop, *(_lowest(curve, name) for name in NAMES)]


def _keeps() -> Finding:
    """P4 Eq. 8: e^epsilon / (e^epsilon + |Γ|)."""
    share = math.exp(SHARP) / (math.exp(SHARP) + VALUES)
    seen = f"{share:.4f}"
    return Finding(f"RR keeps about {KEPT:g} of NULLs at epsilon 3", abs(share - KEPT) < 0.01, seen)


def _comparable(curve: Curves) -> Finding:
    gaps = [abs(_mean(curve, x, TWO_LAYER.name) - _mean(curve, x, "RR")) for x in curve]
    seen = f"apart by {sum(gaps) / len(gaps):.2f} on average, {max(gaps):.2f} at most"
    return Finding("2-Layer is comparable to RR", sum(gaps) / len(gaps) <= COMPARABLE, seen)


def _drops(curve: Curves) -> Finding:
    """Whether RR drops by more after epsilon 3 than up to it."""
    before = _mean(curve, min(curve), "RR") - _mean(curve, SHARP, "RR")
    after = _mean(curve, SHARP, "RR") - _mean(curve, max(curve), "RR")
    seen = f"by {before:.2f} up to epsilon 3, then by {after:.2f}"
    return Finding("RR drops sharply from epsilon 3", after > max(before, 0.0), seen)


def _lowest(curve: Curves, name: str) -> Finding:
    cases = [_mean(curve, x, name) < min(_mean(curve, x, rival) for rival in RIVALS) for x in curve]
    seen = f"in {sum(cases)} of {len(cases)}"
    return Finding(
        "MF has the lowest change in most cases", 2 * sum(cases) > len(cases), seen, name
    )


def _mean(curve: Curves, x: float, name: str) -> float:
    return changes(curve[x])[name].mean


def _sentences(found: Found, said: Mapping[str, Sequence[Finding]]) -> Iterator[str]:
    for name, curve in found.items():
        for each in said[name]:
            of = f" with {each.of}" if each.of else ""
            yield f"{name}: {'holds' if each.holds else 'fails'}{of}: {each.says} ({each.seen})."
        last = max(curve)
        seen = errors(curve[last])
        words = ", ".join(
            f"{seen[method].mean:.2f} with {method}" for method in (*NAMES, "RR", OURS)
        )
        yield (
            f"At epsilon {last:g} the MAE to the truth is {words}, {seen[CLEAN].mean:.2f} without "
            f"noise and {seen[CONSTANT].mean:.2f} with the best constant."
        )


STUDY = Study(
    "p4-figure-5",
    "MF has the lowest change of the MAE for most of the cases; 2-Layer is comparable to RR; on "
    "AdultContent RR drops sharply where epsilon gets larger than 3, since it keeps about 80 % of "
    "the NULLs",
    "P4 §VI-D, Figure 5",
    "the public adult2 (825 workers, 11,040 tasks, 89,799 answers, gold for 333 tasks, of which "
    "56 % are 0), and the public web (177 workers, 2,665 tasks, 15,567 answers, 12 % of truths "
    "0), of which P4 had a part that is not public (34 x 177, 770 answers, 72 % of truths 0); "
    "scores 0 to 4 as in P4; the verdict is that of adult2; 2-Layer draws each worker's epsilon "
    "from U(0, 2 epsilon), a range that is ours, as are the epsilons and MF's dimensions, 2 and "
    "10; truths are means of numbers, so there are no ties",
    plan,
    f"only the tasks with gold, {len(EPSILONS['quick'])} epsilons, ours at the last only, "
    "one trial instead of 10 on Web and 2 on AdultContent",
    recorded="holds in shape",
    items=("P4 Figure 5",),
)
