"""Study `p4-figure-5`: the change of the MAE against epsilon on the real datasets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from types import MappingProxyType
from typing import Any

from sottovoce_studies.cells import Cell
from sottovoce_studies.choices import Choice, best
from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.p4.crowds import DATASETS, SCORES, GoldAnswers, Scored, public
from sottovoce_studies.p4.factorization import OPEN as OPEN_OF_MF
from sottovoce_studies.p4.factorization import variant_named
from sottovoce_studies.p4.sparse_tables import (
    GRID_TEXT,
    OURS,
    THREE,
    Curves,
    Trials,
    changes,
    chart,
    errors,
    guarantee_rows,
    mae_rows,
    methods,
    not_better,
    refused,
    same_guarantee,
    step_rows,
    step_sentence,
    tried_in,
    with_grid,
)
from sottovoce_studies.p4.sparse_trials import (
    CLEAN,
    NARROW,
    TWO_LAYER,
    Method,
    maes_and_means,
    ours,
)
from sottovoce_studies.paper_tables import printed
from sottovoce_studies.rulings import Ruling, Rulings, Statement, Verdict, ruling_on
from sottovoce_studies.study import Outcome, Row, Size, Study, Work
from sottovoce_studies.theorems.sparse_numbers import keep_probability

__all__ = ["ABSENT", "COMPARABLE", "STUDY", "Found", "judge", "statements"]

EPSILONS: Mapping[Size, tuple[float, ...]] = {
    "quick": (0.1, 3.0, 5.0),
    "full": (0.1, 1.0, 2.0, 3.0, 4.0, 5.0),
}
LETTERS = {"Web": "5a", "AdultContent": "5b"}
TRIALS: Mapping[str, int] = {"Web": 40, "AdultContent": 2}
QUICK_TRIALS: Mapping[str, int] = {"Web": 20, "AdultContent": 1}
GRID_IN: Mapping[str, int] = {"Web": 40, "AdultContent": 1}
OURS_IN = 1
WEB_TASKS = 177
"""The number of tasks of a worker of Web; 2-Layer's true epsilon grows with it."""

SHARP = 3.0
"""P4: RR drops sharply above this epsilon, since it keeps about 80 % of NULLs."""
KEPT = printed("P4 claims").number("figure", "share of NULLs that RR keeps at epsilon 3, about")
COMPARABLE = 0.25
"""The largest mean difference of changes, on a scale of 4, that counts as comparable."""
CLOSE = 0.25
"""The largest change above epsilon 3, or move of a mean, at which truths are close."""
MIDDLE = (SCORES - 1) / 2

ABSENT = "the datasets are not in the cache"
RANGES: Mapping[str, Method] = MappingProxyType({"0 to 2": TWO_LAYER, "0.5 to 1.5": NARROW})
OPEN: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {**OPEN_OF_MF, "2-Layer's budgets over epsilon": tuple(RANGES)}
)
"""P4 gives the mean of 2-Layer's uniform budgets, not their range."""
TEXTS = {
    "Web": "MF has the lowest change for most of the cases, 2-Layer is comparable to RR",
    "AdultContent": "MF has the lowest change for most of the cases, 2-Layer is comparable to RR, "
    "and RR drops sharply from epsilon 3",
}
LOWEST, ALIKE = "MF has the lowest change in most cases", "2-Layer is comparable to RR"
DROPS = "RR drops sharply from epsilon 3"

Found = Mapping[str, Curves]
"""The trials by dataset and epsilon."""
Means = Mapping[str, Curves]
"""The means of the inferred truths by dataset and epsilon."""


def plan(size: Size, seed: int) -> Work:
    """Every trial on every dataset in the cache, at every epsilon."""
    places: list[tuple[str, float, int]] = []
    cells: list[Cell] = []
    for name, dataset in public().items():
        source = Scored(dataset if size == "full" else GoldAnswers(dataset))
        for epsilon in EPSILONS[size]:
            trials = TRIALS[name] if size == "full" else QUICK_TRIALS[name]
            places.append((name, epsilon, trials))
            with_ours = OURS_IN if size == "full" else int(epsilon == max(EPSILONS[size]))
            for trial in range(trials):
                own = (ours(),) if trial < with_ours else ()
                pairs = (*methods(size, trial, GRID_IN[name]), *RANGES.values(), *own)
                arguments = (source, SCORES, epsilon, pairs, trial, seed)
                cells.append(Cell(maes_and_means, arguments))

    def judged(results: Sequence[Mapping[str, Any]]) -> Outcome:
        return judge(*(_by_place(places, [each[key] for each in results]) for key in PARTS))

    return Work(cells, judged)


PARTS = ("maes", "means")


def _by_place(
    places: Sequence[tuple[str, float, int]], results: Sequence[Mapping[str, float]]
) -> Found:
    rest, found = iter(results), dict[str, dict[float, Trials]]()
    for name, epsilon, trials in places:
        found.setdefault(name, {})[epsilon] = [next(rest) for _ in range(trials)]
    return found


def statements(found: Found, mf: str, which: str) -> list[Statement]:
    """The statements of P4 §VI-D, with a variant of MF and a range of 2-Layer's budgets."""
    two_layer = RANGES[which].name
    said: list[Statement] = []
    for name, curve in found.items():
        said += [_lowest(name, curve, mf, two_layer), _comparable(name, curve, two_layer)]
    return [*said, _drops("AdultContent", found["AdultContent"])]


def judge(found: Found, means: Means) -> Outcome:
    """Rule on both datasets, under the choices that meet most statements."""
    if set(found) != set(DATASETS):
        return _absent(found)
    places = [trials for curve in found.values() for trials in curve.values()]
    alike = {
        name: {x: with_grid(trials) for x, trials in curve.items()} for name, curve in found.items()
    }
    pairs = list(product(tried_in(places), RANGES))
    choices = [_choice(mf, which, statements(alike, mf, which)) for mf, which in pairs]
    mf, which = pairs[choices.index(best(choices))]
    said, two_layer = statements(found, mf, which), RANGES[which].name
    rows = list(_rows(found, mf, said))
    rows += step_rows(places)
    shape = ruling_on(said)
    rulings = Rulings(
        _kept(),
        Ruling(shape.verdict, shape.reason or f"on both, with {mf}, {two_layer}"),
        same_guarantee((*THREE, TWO_LAYER), SCORES, WEB_TASKS),
    )
    charts = tuple(_charts(found, said, mf))
    words = " ".join((*_sentences(found, said, mf, which), step_sentence(places)))
    claims = _claims(found, means, said, (mf, two_layer))
    return Outcome(tuple(rows), rulings, words, charts, (), claims, tuple(choices))


def _absent(found: Found) -> Outcome:
    missing = [name for name in DATASETS if name not in found]
    reason = f"{ABSENT}: {', '.join(DATASETS[name] for name in missing)}"
    rows: list[Row] = [{"part": "Figure 5", "data": name, "seen": ABSENT} for name in missing]
    rows += guarantee_rows((*THREE, TWO_LAYER, ours()), SCORES, WEB_TASKS)
    unchecked = Ruling("cannot be checked", reason)
    claims = dict.fromkeys(CLAIMED, unchecked)
    choice = Choice({point: values[0] for point, values in OPEN.items()}, 0, 0)
    charts = tuple(_charts(found, (), THREE[2].name))
    guarantee = same_guarantee((*THREE, TWO_LAYER), SCORES, WEB_TASKS)
    rulings = Rulings(_kept(), unchecked, guarantee)
    words = f"{reason[0].upper()}{reason[1:]}."
    return Outcome(tuple(rows), rulings, words, charts, (), claims, (choice,))


def _choice(mf: str, which: str, said: Sequence[Statement]) -> Choice:
    values = (*variant_named(mf).values.values(), which)
    return Choice(dict(zip(OPEN, values, strict=True)), sum(one.true for one in said), len(said))


def _rows(found: Found, mf: str, said: Sequence[Statement]) -> Iterator[Row]:
    for name, curve in found.items():
        yield from mae_rows(f"Figure {LETTERS[name]}: {name}", "epsilon", curve, mf)
    for one in said:
        truth = "yes" if one.true else "no"
        row: Row = {"part": "Figure 5: statements of the text", "the text says": one.text}
        yield {**row, "true": truth, "seen": one.seen}
    yield from guarantee_rows((*THREE, TWO_LAYER, ours()), SCORES, WEB_TASKS)


def _lowest(name: str, curve: Curves, mf: str, two_layer: str) -> Statement:
    text = f"{LOWEST} ({name})"
    if not all(mf in trials[0] for trials in curve.values()):
        return refused(text, mf)
    rivals = ("LP", "RR", two_layer)
    cases = [
        x for x in curve if _mean(curve, x, mf) < min(_mean(curve, x, rival) for rival in rivals)
    ]
    seen = f"in {len(cases)} of {len(curve)}, at epsilon {', '.join(f'{x:g}' for x in cases)}"
    return Statement(text, 2 * len(cases) > len(curve), seen if cases else "in none")


def _comparable(name: str, curve: Curves, two_layer: str) -> Statement:
    gaps = [abs(_mean(curve, x, two_layer) - _mean(curve, x, "RR")) for x in curve]
    seen = f"apart by {sum(gaps) / len(gaps):.2f} on average, {max(gaps):.2f} at most"
    return Statement(f"{ALIKE} ({name})", sum(gaps) / len(gaps) <= COMPARABLE, seen)


def _drops(name: str, curve: Curves) -> Statement:
    """Whether RR drops by more after epsilon 3 than up to it."""
    before = _mean(curve, min(curve), "RR") - _mean(curve, SHARP, "RR")
    after = _mean(curve, SHARP, "RR") - _mean(curve, max(curve), "RR")
    seen = f"by {before:.2f} up to epsilon 3, then by {after:.2f}"
    return Statement(f"{DROPS} ({name})", after > max(before, 0.0), seen)


def _mean(curve: Curves, x: float, name: str) -> float:
    return changes(curve[x])[name].mean


CLAIMED = (*(f"P4-VI.D-{number}" for number in range(1, 7)), "P4-slides-10")


def _claims(
    found: Found,
    means: Means,
    said: Sequence[Statement],
    chosen: tuple[str, str],
) -> dict[str, Ruling]:
    def about(text: str) -> Ruling:
        of = [one for one in said if one.text.startswith(text)]
        return Ruling(ruling_on(of).verdict, "; ".join(f"{one.text}: {one.seen}" for one in of))

    rulings = (
        about(LOWEST),
        _follows(means, chosen[0]),
        _pulled(found, means, chosen[1]),
        about(ALIKE),
        about(DROPS),
        _near(found["AdultContent"]),
        _better(found, chosen[0], chosen[1]),
    )
    return dict(zip(CLAIMED, rulings, strict=True))


def _follows(means: Means, mf: str) -> Ruling:
    """Whether truths inferred from MF's reports are near those without noise on average."""
    apart = {
        name: max(abs(_at(curve, x, mf) - _at(curve, x, CLEAN)) for x in curve)
        for name, curve in means.items()
    }
    clean = {name: _at(curve, min(curve), CLEAN) for name, curve in means.items()}
    words = "; ".join(
        f"{name}: inferred truths have a mean of {clean[name]:.2f} without noise, and differ by up "
        f"to {apart[name]:.2f} under {mf}"
        for name in means
    )
    near = [apart[name] <= CLOSE for name in means]
    verdict: Verdict = "holds" if all(near) else "partly" if any(near) else "fails"
    return Ruling(verdict, f"{words}; close means up to {CLOSE:g} on the scale of 4")


def _pulled(found: Found, means: Means, two_layer: str) -> Ruling:
    """Whether LP, RR and 2-Layer move the mean of inferred truths towards 2 at every epsilon."""
    moved = [
        abs(_at(curve, x, name) - MIDDLE) < abs(_at(curve, x, CLEAN) - MIDDLE)
        for curve in means.values()
        for x in curve
        for name in ("LP", "RR", two_layer)
    ]
    web = means["Web"]
    low, high = min(web), max(web)
    words = (
        f"nearer to {MIDDLE:g} in {sum(moved)} of {len(moved)} cases; Web, RR: "
        f"{_at(web, low, CLEAN):.2f} becomes {_at(web, low, 'RR'):.2f} at epsilon {low:g} and "
        f"{_at(web, high, 'RR'):.2f} at {high:g}"
    )
    share = sum(moved) / len(moved)
    return Ruling("holds" if share == 1 else "partly" if share >= 0.5 else "fails", words)


def _kept() -> Ruling:
    """The share of NULLs that RR keeps at epsilon 3 (P4 Eq. 8)."""
    share = keep_probability(SHARP, SCORES)
    text = f"RR keeps about {KEPT:g} of NULLs at epsilon 3"
    statement = Statement(text, abs(share - KEPT) < 0.01, f"{share:.4f}")
    return Ruling(statement.ruling.verdict, str(statement))


def _near(curve: Curves) -> Ruling:
    """RR keeps 80 % of NULLs, and truths above epsilon 3 are close to those without noise."""
    last = max(curve)
    change = _mean(curve, last, "RR")
    true = (_kept().verdict == "holds", change <= CLOSE)
    words = (
        f"{_kept().reason}; the change at epsilon {last:g} is {change:.2f}, and close means up to "
        f"{CLOSE:g}"
    )
    return Ruling("holds" if all(true) else "partly" if any(true) else "fails", words)


def _better(found: Found, mf: str, two_layer: str) -> Ruling:
    """MF against its rivals, and against the best constant, over all datasets and epsilons."""
    every = [_lowest(name, curve, mf, two_layer) for name, curve in found.items()]
    constant = not_better(list(found.values()), [mf])
    words = "; ".join(f"{one.text}: {one.seen}" for one in every)
    if not all(one.true for one in every):
        return Ruling(ruling_on(every).verdict, words)
    if constant:
        return Ruling("partly", f"{words}; but never better than the best constant")
    return Ruling("holds", words)


def _at(curve: Curves, x: float, name: str) -> float:
    seen = [trial[name] for trial in curve[x] if name in trial]
    return sum(seen) / len(seen)


def _charts(found: Found, said: Sequence[Statement], mf: str) -> Iterator[Any]:
    verdict = ruling_on(said).verdict
    for name, curve in found.items():
        yield chart(
            f"Change of the MAE on {name} (P4 Figure {LETTERS[name]})",
            "epsilon per answer, nominal",
            curve,
            f"P4 §VI-D: {TEXTS[name]}. Here all of this on both datasets: {verdict}, with {mf}.",
            mf,
        )


def _sentences(found: Found, said: Sequence[Statement], mf: str, which: str) -> Iterator[str]:
    facts = "; ".join(f"{'true' if one.true else 'false'}: {one.text} ({one.seen})" for one in said)
    yield (
        f"Judged with {mf} and budgets of 2-Layer from {which} times epsilon. "
        f"{facts[0].upper()}{facts[1:]}."
    )
    for name, curve in found.items():
        last = max(curve)
        seen = errors(curve[last])
        shown = [each for each in (mf, "RR", OURS) if each in seen]
        words = ", ".join(f"{seen[each].mean:.2f} with {each}" for each in shown)
        yield (
            f"{name} at epsilon {last:g}: the MAE to the truth is {words}, "
            f"{seen[CLEAN].mean:.2f} without noise and {seen[CONSTANT].mean:.2f} with the best "
            "constant."
        )
        if not_better([curve], [mf]):
            yield f"On {name} {mf} is never better than the best constant."
    yield (
        "Web is the dataset wsd, which has the sizes that P4 prints; an earlier version of this "
        "study ran another dataset, web, and judged AdultContent alone."
    )


STUDY = Study(
    "p4-figure-5",
    "MF has the lowest change of the MAE for most of the cases; 2-Layer is comparable to RR; on "
    "AdultContent RR drops sharply where epsilon gets larger than 3, since it keeps about 80 % of "
    "the NULLs",
    "P4 §VI-D, Figure 5",
    "P4's Web is the dataset wsd (34 workers, 177 tasks, 1,770 answers, 129 truths of 177 the "
    "first label), AdultContent is adult2 (825 workers, 11,040 tasks, 89,799 answers, gold for 333 "
    "tasks, of which 56 % are 0); labels in their order are the scores 0 to 4 as in P4; epsilons "
    f"are ours; {GRID_TEXT}; 2-Layer draws each worker's epsilon uniformly with mean epsilon, over "
    f"two ranges, of which P4 prints none; comparable means a mean difference up to {COMPARABLE:g} "
    f"and close one up to {CLOSE:g} on the scale of 4 (our choices); truths are means of numbers, "
    "so there are no ties",
    plan,
    f"only the tasks with gold, {len(EPSILONS['quick'])} epsilons, 4 choices of MF, ours at the "
    f"last epsilon only, {QUICK_TRIALS['Web']} trials instead of {TRIALS['Web']} on Web and 1 "
    "instead of 2 on AdultContent",
    recorded=("holds", "holds", "partly"),
    items=("P4 Figure 5",),
    open=OPEN,
)
