"""Study `audit`: stated guarantees pass the audit, and overstated claims of the papers fail it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any, TypeAlias

from sottovoce.figures import Chart, Series
from sottovoce.mechanisms.registry import RELEASES
from sottovoce.model import Unit
from sottovoce.planning.trials import trial_seed
from sottovoce_studies.beyond.audit_trials import Audited, audited, published_cases, sound_cases
from sottovoce_studies.cells import Cell
from sottovoce_studies.rulings import Ruling, Rulings
from sottovoce_studies.study import Outcome, Row, Size, Study, Work

__all__ = ["DOUBT", "QUICK_PUBLISHED", "STUDY", "Seen", "cases", "judge", "overstated"]

DOUBT = 5e-4
"""The probability that any bound of a run exceeds the true epsilon, divided among its audits."""
MARGIN = 1e-3
"""The excess of the stated epsilon from which a paper's claim counts as overstated."""

EPSILONS: Mapping[Size, tuple[float, ...]] = {"quick": (1.0, 2.0), "full": (0.5, 1.0, 2.0)}
SAMPLES: Mapping[Size, int] = {"quick": 6_000, "full": 100_000}
MECHANISMS: Mapping[Size, tuple[str, ...]] = {
    "quick": ("randomized-response", "laplace"),
    "full": tuple(RELEASES),
}
DIGITS = 4
"""Integer weights miss a target by less than this; charts show the target."""
HARMLESS = "P4 LP, values 0 … 9"
QUICK_PUBLISHED = ("P1 two-layer", "P4 LP, values 0, 20", "P4 MF")
"""Cases for which a few thousand samples are enough."""

SOUND, PUBLISHED = "Sound calibrations", "As published"

Seen: TypeAlias = tuple[Audited, Mapping[str, Any]]


def cases(size: Size) -> list[Audited]:
    """Every mechanism at every epsilon; quick runs have two, and three as published at one."""
    sound = [
        case
        for name in MECHANISMS[size]
        for epsilon in EPSILONS[size]
        for case in sound_cases(name, epsilon)
    ]
    if size == "quick":
        return sound + [case for case in published_cases(1.0) if case.name in QUICK_PUBLISHED]
    return sound + [case for epsilon in EPSILONS[size] for case in published_cases(epsilon)]


def plan(size: Size, seed: int) -> Work:
    """One cell per audit."""
    every, samples = cases(size), SAMPLES[size]
    confidence = 1 - DOUBT / len(every)
    cells = [
        Cell(audited, (case, samples, confidence, trial_seed(seed, place)))
        for place, case in enumerate(every)
    ]
    return Work(cells, lambda results: judge(list(zip(every, results, strict=True)), samples))


def overstated(seen: Seen) -> bool:
    """Whether a paper claims a smaller epsilon than the stated one of its mechanism."""
    case, result = seen
    if case.form == "sound":
        return False
    return result["stated"] is None or result["stated"] > result["claimed"] + MARGIN


def judge(found: Sequence[Seen], samples: int) -> Outcome:
    """Holds if no bound is above the stated epsilon and every overstated claim is refuted once.

    A claim is refuted by a bound above it at any of the epsilons: the power of samples differs, and
    one refutation is enough.
    """
    broken = [case for case, result in found if _exceeds(result, "stated")]
    claims = [seen for seen in found if overstated(seen)]
    refuted = [case.name for case, result in claims if _exceeds(result, "claimed")]
    missed = [
        name for name in dict.fromkeys(case.name for case, _ in claims) if name not in refuted
    ]
    rows = tuple(_row(case, result, samples) for case, result in found)
    charts = (*_sound_chart(found), *_published_chart(found))
    words = _words(found, samples, broken, f"{len(refuted)} of {len(claims)}")
    return Outcome(rows, Rulings(guarantee=_ruling(broken, missed)), words, charts)


def _exceeds(result: Mapping[str, Any], column: str) -> bool:
    return result[column] is not None and result["bound"] > result[column]


def _ruling(broken: Sequence[Audited], missed: Sequence[str]) -> Ruling:
    if broken:
        return Ruling("fails", f"{broken[0].name} exceeds its stated guarantee")
    if missed:
        return Ruling("fails", f"the audit does not refute the claim of {missed[0]}")
    return Ruling("holds")


def _words(found: Sequence[Seen], samples: int, broken: Sequence[Audited], refuted: str) -> str:
    names = {case.name for case, _ in found}
    sentences = [
        f"{len(found)} audits of {len(names)} forms of mechanisms, {samples:,} samples of each "
        f"neighbour; {len(broken)} bounds are above the stated epsilon"
        + (f": {', '.join(_place(case) for case in broken)}" if broken else ""),
        f"{refuted} overstated claims of the papers are refuted",
        *(
            _exposure(case, result)
            for case, result in found
            if case.target.epsilon == 1 and overstated((case, result))
        ),
        "the probability that any bound of this run is above the true epsilon is at most "
        f"{DOUBT:g}",
    ]
    last = (
        "A bound below the stated epsilon proves nothing: it is only what these samples can show."
    )
    return f"{'; '.join(sentences)}. {last}"


def _place(case: Audited) -> str:
    return f"{case.name} at epsilon {case.target.epsilon:g} per {case.target.unit}"


def _exposure(case: Audited, result: Mapping[str, Any]) -> str:
    stated = "none" if result["stated"] is None else f"{result['stated']:.3g}"
    return (
        f"{case.name}, {case.target.answers} answers: claimed {result['claimed']:.3g}, true "
        f"{stated}, at least {result['bound']:.3g} by the audit"
    )


def _row(case: Audited, result: Mapping[str, Any], samples: int) -> Row:
    within = "above stated" if _exceeds(result, "stated") else "within"
    if case.form != "sound" and _exceeds(result, "claimed"):
        within += ", claim refuted"
    return {
        "part": SOUND if case.form == "sound" else PUBLISHED,
        "mechanism": case.name,
        "answers": case.target.answers,
        "per": str(case.target.unit),
        "delta": case.target.delta or None,
        "claimed": result["claimed"],
        "true": "none" if result["stated"] is None else result["stated"],
        "at least": result["bound"],
        "seen": within,
        "samples": samples,
    }


def _sound_chart(found: Sequence[Seen]) -> Iterator[Chart]:
    """The median of the mechanisms' bounds at each epsilon, with their range."""
    sound = [(case, result) for case, result in found if case.form == "sound"]
    if not sound:
        return
    by_unit = {
        unit: [(case, result) for case, result in sound if case.target.unit is unit]
        for unit in Unit
    }
    series = [_range(unit, seen) for unit, seen in by_unit.items() if seen]
    places = tuple(sorted({case.target.epsilon for case, _ in sound}))
    yield Chart(
        "Audited and stated epsilon of sound mechanisms",
        "stated epsilon",
        "audited lower bound",
        (*series, Series("stated", places, places, role="reference")),
        note="No mechanism may be above the line. Lines are medians over mechanisms, bands go "
        "from the smallest to the largest bound; a bound below the line proves nothing.",
        better="neither",
    )


def _range(unit: Unit, seen: Sequence[Seen]) -> Series:
    places = tuple(sorted({case.target.epsilon for case, _ in seen}))
    bounds = [
        [result["bound"] for case, result in seen if case.target.epsilon == place]
        for place in places
    ]
    return Series(
        f"per {unit}",
        places,
        tuple(median(each) for each in bounds),
        tuple(min(each) for each in bounds),
        tuple(max(each) for each in bounds),
        "ours",
    )


def _published_chart(found: Sequence[Seen]) -> Iterator[Chart]:
    """Each of the papers' mechanisms by its claim; LP only where its claim is false."""
    every: dict[str, list[tuple[float, float]]] = {}
    for case, result in found:
        if case.form != "sound" and case.name != HARMLESS:
            point = (round(result["claimed"], DIGITS), result["bound"])
            every.setdefault(case.name, []).append(point)
    if not every:
        return
    ends = sorted({place for each in every.values() for place, _ in each})
    yield Chart(
        "Audited and claimed epsilon of mechanisms as published",
        "claimed epsilon per answer",
        "audited lower bound",
        (
            *(
                Series(name, tuple(place for place, _ in each), tuple(bound for _, bound in each))
                for name, each in every.items()
            ),
            Series("claimed", tuple(ends), tuple(ends), role="reference"),
        ),
        note="P1 Thm. 6.3, P3 Thm. 4.8 and P4 Thms. 1 and 4 claim epsilon per answer. A "
        "mechanism above the line exceeds its claimed epsilon.",
        better="neither",
    )


STUDY = Study(
    "audit",
    "Every sound mechanism keeps its stated guarantee for all reports of a worker; the audit "
    "refutes the claims of the published ones that do not",
    "the guarantees that the mechanisms state; P1 Thm. 6.3, P3 Thm. 4.8, P4 Thms. 1 and 4",
    "workers with 5 answers (as published: 20 under two-layer, 8 under MF with 3 dimensions); 4 "
    "labels, or numbers 0 … 10 in steps of 1; delta 0.1 for the Gaussian of random variance, 0 "
    "else; neighbours differ in one answer, or in all of a worker, and in NULL where it is "
    "hidden; bounds are Clopper and Pearson's, wrong in a whole run with probability at most "
    "0.0005; for a sealed sum the view of colluding keyholders is audited; no ties",
    plan,
    "two mechanisms at two epsilons and three of the papers' at one, 6,000 samples instead of "
    "100,000",
    recorded=("not claimed", "not claimed", "holds"),
)
