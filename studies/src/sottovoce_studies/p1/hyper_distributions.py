"""Study `p1-hyper-distributions`: privacy and utility of other hyper distributions.

It compares the true guarantee and the error of each distribution with the uniform one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from sottovoce.figures import Chart, Level, Series
from sottovoce.model import Unit
from sottovoce.planning.trials import Spread
from sottovoce_studies.cells import Cell
from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.crowds import LabelCrowd
from sottovoce_studies.p1.hyper_trials import LAWS, NONE, UNIFORM, errors_of, kept_by
from sottovoce_studies.paper_tables import BAND, spread_by
from sottovoce_studies.rulings import Ruling, Rulings, Statement, Verdict, ruling_on
from sottovoce_studies.study import Outcome, Row, Size, Study, Work

__all__ = [
    "ANSWERS",
    "STUDY",
    "Kept",
    "applicable",
    "more_private",
    "most_private",
    "theorems",
    "useful",
]


ANSWERS = (1, 10, 100)
"""Numbers k of answers; the crowd has the last one."""
WORSE = 3.0
"""The number of standard errors by which a distribution counts as worse than one layer."""
SAME = 1e-3
"""Nominal epsilons that differ by less count as equal, because levels round the mean."""

Seen: TypeAlias = Mapping[float, Sequence[Mapping[str, float]]]
"""Trials by nominal epsilon."""

CROWD = LabelCrowd(64, 500, 100, 2, "heterogeneous")

EPSILONS: Mapping[Size, tuple[float, ...]] = {"quick": (1.0,), "full": (0.5, 1.0, 2.0)}

REACH: Mapping[Size, tuple[float, ...]] = {"quick": (3.0,), "full": (3.0, 4.0, 5.0)}
"""Additional epsilons of one layer, up to the true epsilons of the others."""

CENTRAL = 1.0
"""The nominal epsilon of the charts of guarantees."""

TRIALS: Mapping[Size, int] = {"quick": 3, "full": 30}

CURVE = (1, 2, 5, 10, 20, 50, 100)


@dataclass(frozen=True, slots=True)
class Kept:
    """True guarantees of one distribution at one nominal epsilon, for each k of `ANSWERS`."""

    law: str
    epsilon: float
    claimed: float
    answer: tuple[float, ...]
    worker: tuple[float, ...]
    delta: tuple[float, ...]

    def losses(self, unit: Unit) -> tuple[float, ...]:
        """The epsilons of a unit."""
        return self.answer if unit is Unit.ANSWER else self.worker


def more_private(kept: Sequence[Kept], unit: Unit) -> dict[str, tuple[float, float, int]]:
    """Distributions with the uniform's claim and a smaller loss for some k > 1 at some epsilon.

    Each has its epsilon, the uniform one's and k, where the ratio is smallest.
    """
    uniform = {each.epsilon: each for each in kept if each.law == UNIFORM}
    found: dict[str, tuple[float, float, int]] = {}
    for each in kept:
        other = uniform[each.epsilon]
        if each.law in (UNIFORM, NONE) or abs(each.claimed - other.claimed) >= SAME:
            continue
        for own, its, k in zip(each.losses(unit), other.losses(unit), ANSWERS, strict=True):
            known = found.get(each.law, (1.0, 1.0, 1))
            if k > 1 and own < its * (1 - SAME) and own / its < known[0] / known[1]:
                found[each.law] = (own, its, k)
    return found


def most_private(kept: Sequence[Kept], unit: Unit) -> Statement:
    """P1 §6.1.2: the uniform distribution protects more than any other, for a unit of privacy."""
    less = more_private(kept, unit)
    words = ""
    if less:
        law = min(less, key=lambda name: less[name][0] / less[name][1])
        own, its, k = less[law]
        words = f"{law} has {own:.3g} for {k} answers, uniform {its:.3g}"
    return Statement(f"uniform is the most private per {unit.value}", not less, words)


def theorems(kept: Sequence[Kept]) -> dict[str, Ruling]:
    """Theorems 6.2 to 6.4 at the largest number of answers."""
    last = ANSWERS[-1]
    central = {each.law: each for each in kept if each.epsilon == CENTRAL}
    one, two = central[NONE], central[UNIFORM]
    stays = abs(one.answer[-1] - CENTRAL) < SAME
    exact = abs(two.answer[0] - CENTRAL) < SAME
    grows = two.answer[-1] > CENTRAL + SAME
    per_answer = f"{two.answer[-1]:.2f} per answer"
    true_once = "true for one answer"
    return {
        "P1-6.1.1-1": Ruling(
            "holds" if stays else "fails",
            f"for p <= 1 - 1/s: {one.answer[-1]:.2f} per answer for {last} answers; "
            f"{one.worker[-1]:.3g} per worker",
        ),
        "P1-6.1.2-3": Ruling(
            _verdict(exact, not grows), f"{true_once}; for {last} answers {per_answer}, not 1"
        ),
        "P1-6.1.3-1": Ruling(
            _verdict(exact, not grows),
            f"{true_once}; for {last}: {per_answer} against {one.answer[-1]:.2f}, per worker "
            f"{two.worker[-1]:.3g} against {one.worker[-1]:.3g}",
        ),
    }


def _verdict(once: bool, always: bool) -> Verdict:
    return "holds" if once and always else "partly" if once else "fails"


def useful(seen: Seen, epsilons: Sequence[float]) -> list[str]:
    """Distributions with a smaller error of TD than one layer at some nominal epsilon."""
    return [
        law for law in LAWS if law != NONE and any(_better(_apart(seen[e], law)) for e in epsilons)
    ]


def applicable(seen: Seen, epsilons: Sequence[float]) -> list[Statement]:
    """P1 §7.3: other hyper distributions can be applied too.

    None does worse than one layer at a nominal epsilon, by three standard errors, and one other
    than the uniform does better.
    """
    others = [law for law in useful(seen, epsilons) if law != UNIFORM]
    gains = Statement("another than the uniform does better than one layer", bool(others))
    return [gains, *(_no_worse(seen, epsilons, law) for law in LAWS if law != NONE)]


def _no_worse(seen: Seen, epsilons: Sequence[float], law: str) -> Statement:
    apart = {epsilon: _apart(seen[epsilon], law) for epsilon in epsilons}
    worse = [f"{e:g}" for e, each in apart.items() if each.mean > WORSE * each.standard_error]
    words = f"at epsilon {', '.join(worse)}" if worse else ""
    return Statement(f"{law} does no worse than one layer", not worse, words)


def _better(apart: Spread) -> bool:
    return apart.mean < -BAND * apart.standard_error


def _apart(trials: Sequence[Mapping[str, float]], law: str) -> Spread:
    # Trials share answers and noise words, so differences vary less than errors.
    return Spread.of([trial[f"{law} TD"] - trial[f"{NONE} TD"] for trial in trials])


def true_epsilon(kept: Sequence[Kept], law: str, epsilon: float) -> float:
    """The true epsilon per answer of a distribution for the largest k."""
    found = [each for each in kept if each.law == law and each.epsilon == epsilon]
    return (
        found[0].answer[-1] if found else epsilon
    )  # for one layer the nominal epsilon is the true one


def plan(size: Size, seed: int) -> Work:
    """Guarantees of every distribution at every epsilon, its curve over k, and the errors."""
    epsilons, reach, trials = EPSILONS[size], REACH[size], TRIALS[size]
    cells = [Cell(kept_by, (law, e, ANSWERS)) for e in epsilons for law in LAWS]
    cells += [Cell(kept_by, (law, CENTRAL, CURVE)) for law in LAWS]
    for epsilon in (*epsilons, *reach):
        laws = LAWS if epsilon in epsilons else (NONE,)
        cells += [Cell(errors_of, (CROWD, laws, epsilon, t, seed)) for t in range(trials)]
    return Work(cells, lambda results: judge(epsilons, reach, trials, results))


def judge(
    epsilons: Sequence[float], reach: Sequence[float], trials: int, results: Sequence[Any]
) -> Outcome:
    """Shape by utility at nominal epsilon; the guarantee per answer and per worker apart."""
    rest = iter(results)
    kept = [_kept(law, e, next(rest)) for e in epsilons for law in LAWS]
    curves = {law: next(rest)["answer"] for law in LAWS}
    seen = {e: [next(rest) for _ in range(trials)] for e in (*epsilons, *reach)}
    applied = useful(seen, epsilons)
    private = [most_private(kept, unit) for unit in (Unit.ANSWER, Unit.WORKER)]
    rulings = Rulings(shape=ruling_on(applicable(seen, epsilons)), guarantee=ruling_on(private))
    rows = [*map(_guarantee_row, kept), *_error_rows(epsilons, reach, seen, kept)]
    charts = (_privacy_chart(curves), _utility_chart(kept, seen, epsilons, reach))
    claims = {
        **theorems(kept),
        "P1-6.1.2-2": rulings.guarantee,
        "P1-7.3-3": rulings.shape,
    }
    words = _words(kept, applied, seen)
    return Outcome(tuple(rows), rulings, words, charts, claims=claims)


def _kept(law: str, epsilon: float, result: Mapping[str, Any]) -> Kept:
    columns = (tuple(result[name]) for name in ("answer", "worker", "delta"))
    return Kept(law, epsilon, result["claimed"], *columns)


def _guarantee_row(kept: Kept) -> Row:
    return {
        "part": "Guarantees: epsilon per answer for k answers, and per worker for 100",
        "law": kept.law,
        "nominal": kept.epsilon,
        "claimed": kept.claimed,
        **{f"k = {k}": held for k, held in zip(ANSWERS, kept.answer, strict=True)},
        "per worker": kept.worker[-1],
        "delta at nominal": round(kept.delta[-1], 9),
    }


def _error_rows(
    epsilons: Sequence[float],
    reach: Sequence[float],
    seen: Seen,
    kept: Sequence[Kept],
) -> Iterator[Row]:
    for epsilon in (*epsilons, *reach):
        spread = spread_by(seen[epsilon])
        for law in LAWS if epsilon in epsilons else (NONE,):
            yield {
                "part": "Error rate, k = 100",
                "law": law,
                "nominal": epsilon,
                "true epsilon": true_epsilon(kept, law, epsilon),
                "TD": spread[f"{law} TD"].mean,
                "s.e.": spread[f"{law} TD"].standard_error,
                "aware": spread[f"{law} aware"].mean,
                CONSTANT: spread[CONSTANT].mean,
                "trials": len(seen[epsilon]),
            }


def _words(
    kept: Sequence[Kept],
    applied: Sequence[str],
    seen: Seen,
) -> str:
    central = {each.law: each for each in kept if each.epsilon == CENTRAL}
    held = ", ".join(
        f"{central[law].answer[1]:.2f} and {central[law].answer[2]:.2f} ({law})" for law in LAWS
    )
    workers = ", ".join(f"{central[law].worker[-1]:.3g} ({law})" for law in LAWS)
    spread = spread_by(seen[CENTRAL])
    errors = ", ".join(f"{spread[f'{law} TD'].mean:.3f} ({law})" for law in LAWS)
    beat = ", ".join(applied) or "none of them"
    least = min(LAWS, key=lambda law: central[law].worker[-1])
    return (
        "The nominal epsilon depends only on the mean flip probability, so all distributions "
        f"claim {CENTRAL:g}; for 10 and 100 answers the true epsilons are {held} per answer. The "
        "smaller the spread of the draws, the smaller the privacy loss per answer, and one layer "
        f"is the most private. Per worker and for 100 answers epsilon is {workers} at delta 0, "
        f"smallest for {least} at the nominal {CENTRAL:g}{_per_worker(kept)}; the uniform "
        "distribution is not the most private there either. Other distributions can be applied: "
        f"the error of TD is {errors} at nominal epsilon {CENTRAL:g}, smaller than with one layer "
        f"at some epsilon for {beat}; the gain in utility is a loss in privacy per answer."
    )


def _per_worker(kept: Sequence[Kept]) -> str:
    """The guarantees per worker of one layer and the uniform distribution at other epsilons."""
    others = {(each.law, each.epsilon): each.worker[-1] for each in kept}
    nominal = [epsilon for law, epsilon in others if law == NONE and epsilon != CENTRAL]
    return "".join(
        f"; at {e:g} it is {others[NONE, e]:.3g} with {NONE} and {others[UNIFORM, e]:.3g} with "
        f"{UNIFORM} draws"
        for e in nominal
    )


def _privacy_chart(curves: Mapping[str, Sequence[float]]) -> Chart:
    xs = tuple(map(float, CURVE))
    series = tuple(
        Series(law, xs, tuple(values), role="ours" if law == NONE else "theirs")
        for law, values in curves.items()
    )
    return Chart(
        f"True epsilon of distributions with the same nominal epsilon {CENTRAL:g} (P1 §6.1.2)",
        "answers k of a worker",
        "epsilon per answer, true",
        series,
        (Level("claimed", CENTRAL),),
        note="P1 §6.1.2: the uniform distribution can provide stronger privacy protection than "
        "any other. All distributions here have the same claim; the wider ones have a "
        "larger privacy loss.",
        better="lower",
        x_scale="log",
    )


def _utility_chart(
    kept: Sequence[Kept],
    seen: Seen,
    epsilons: Sequence[float],
    reach: Sequence[float],
) -> Chart:
    def line(law: str) -> Series:
        chosen = (*epsilons, *reach) if law == NONE else tuple(epsilons)
        # A wide distribution has nearly the same true epsilon at every nominal one, so places are
        # rounded to distinct values.
        places = [true_epsilon(kept, law, epsilon) for epsilon in chosen]
        spreads = [spread_by(seen[epsilon])[f"{law} TD"] for epsilon in chosen]
        found = {round(x, 6): each for x, each in zip(places, spreads, strict=True)}
        means = tuple(each.mean for each in found.values())
        return Series(law, tuple(found), means, role="ours" if law == NONE else "theirs")

    constant = spread_by(seen[epsilons[0]])[CONSTANT].mean
    return Chart(
        "Error of TD by true epsilon, 100 answers per worker (P1 §7.3)",
        "epsilon per answer, true",
        "error rate",
        tuple(line(law) for law in LAWS),
        (Level(CONSTANT, constant),),
        note="P1 §7.3: other hyper distributions can be applied. Here each point is one nominal "
        f"epsilon ({', '.join(f'{e:g}' for e in epsilons)}), and {_beaten(kept, seen, reach)}.",
        better="lower",
    )


def _beaten(
    kept: Sequence[Kept],
    seen: Seen,
    reach: Sequence[float],
) -> str:
    """The number of points at which one layer has a smaller error at no larger epsilon."""
    points = [each for each in kept if each.law != NONE and each.answer[-1] >= reach[0]]

    def beats(point: Kept) -> bool:
        own = max(epsilon for epsilon in seen if epsilon <= point.answer[-1])
        one = spread_by(seen[own])[f"{NONE} TD"].mean
        return one < spread_by(seen[point.epsilon])[f"{point.law} TD"].mean

    count = sum(map(beats, points))
    return (
        f"one layer of no larger true epsilon has a smaller error in {count} of {len(points)} "
        "of them"
    )


STUDY = Study(
    "p1-hyper-distributions",
    "Other hyper distributions than the uniform can be applied, and the uniform one gives stronger "
    "privacy protection than any other",
    "P1 §6.1.2 and §7.3",
    "P1 names no other distribution: those here have the mean flip probability of the nominal "
    "epsilon, and support [0, 2 p] (normal with deviation 0.05; scaled Beta(2, 2), uniform, "
    "arcsine; one layer is the distribution without spread), binary answers; guarantees are "
    "exact; the second claim is judged per answer and per worker, for 10 and 100 answers, "
    "against the three other distributions of the same nominal epsilon; errors on drawn crowds of "
    "64 workers with 100 answers each to 500 tasks; ties go to label 0 and TD makes 20 rounds, as "
    "in study p1-table-3",
    plan,
    "one nominal epsilon instead of three, 3 trials instead of 30",
    recorded=("not claimed", "holds", "fails"),
    items=("P1 §7.3 hyper",),
)
