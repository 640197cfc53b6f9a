"""Study `true-guarantees`: true and claimed guarantees of the papers' mechanisms.

True values are shown in tables, and in charts over the number of answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from sottovoce.figures import Chart, Level, Role, Series
from sottovoce.planning.trials import trial_seed
from sottovoce_studies.beyond import published_guarantees as published
from sottovoce_studies.beyond.published_guarantees import LENGTHS
from sottovoce_studies.cells import Cell
from sottovoce_studies.rulings import Ruling, Rulings
from sottovoce_studies.study import Outcome, Row, Size, Study, Value, Work

__all__ = ["MANY", "STUDY", "judge", "promises"]


Found: TypeAlias = Mapping[tuple[Any, ...], Any]
"""Results by kind and arguments: "two" and "one" (layers: labels, ε, k), "variance" (δ, k),
"laplace" (values), "response", "2-layer", "mf" (k), "sound" (mechanism).
"""

P1 = "P1, one and two layers: true epsilon, and delta at the claimed epsilon"
P3 = "P3, random variance: the smallest delta at epsilon 1"
P4 = "P4 at a claimed epsilon of 1"
MF = "P4, MF between an answer and NULL, at a claimed epsilon of 1"
OURS = "Sound calibrations of the same mechanisms to epsilon 1"

DIGITS = 9
"""Decimal places of values in tables."""

ANSWERS: Mapping[Size, tuple[int, ...]] = {
    "quick": (1, 2, 10, 30, 100),
    "full": (1, 2, 3, 5, 10, 14, 20, 30, 50, 100, 200, 500, 1000),
}

MANY = 100
"""Answers of a busy worker; claims that do not mention k are judged up to here."""

LAYERS = ((2, 0.0), (2, 0.5), (2, 1.0), (2, 4.0), (5, 0.0), (5, 1.0))
"""Labels and claimed ε; P1's tables go from 0 to 1, 4 is ours."""

VARIANCES = ((1.0, 0.1), (1.0, 0.01))
"""P3 prints no δ: a large one and a small one."""

VARIANCE_ANSWERS = (1, 2, 10, 30, MANY, None)

VALUES: Mapping[str, tuple[int, ...]] = {
    "{0, …, 9}": tuple(range(10)),
    "{0, …, 4}": tuple(range(5)),
    "{0, 100}": (0, 100),
}

TASKS, SPARSE = 200, 20
"""P4's synthetic setting: tasks, and a worker's answers to them at a sparsity of 0.9."""

PROFILE_ANSWERS: Mapping[Size, tuple[int, ...]] = {
    "quick": (12, SPARSE, 30, 60),
    "full": (11, 12, 15, SPARSE, 30, 40, 60, 80),
}

DRAWS: Mapping[Size, int] = {"quick": 20_000, "full": 200_000}

SOUND = (
    ("randomized-response", 0.0, False),
    ("two-layer", 0.0, False),
    ("random-variance-gaussian", 0.1, False),
    ("laplace", 0.0, True),
    ("null-randomized-response", 0.0, True),
    ("matrix-factorization", 0.0, True),
)

SLACK = 1e-6
"""Tolerance for rounding."""

STEEP = 5.0
"""The growth of the loss for a tenfold u from which it counts as linear in u, so unbounded."""

CLAIMS = f"The claims (workers with up to {MANY} answers)"


def finite(value: float) -> Value:
    """A number for a table, or 'no bound'.

    >>> finite(1 / 3), finite(math.inf)
    (0.333333333, 'no bound')
    """
    return round(value, DIGITS) if math.isfinite(value) else "no bound"


def rows_of(found: Found) -> Iterator[Row]:
    """One row per result; one and two layers share a row."""
    for (kind, *place), seen in found.items():
        if kind == "two":
            yield _layers_row(place, seen, found["one", *place])
        elif kind in _ROWS:
            yield _ROWS[kind](place, seen)


def _layers_row(place: Sequence[Any], two: Mapping[str, float], one: Mapping[str, float]) -> Row:
    symbols, epsilon, k = place
    return {
        "part": P1,
        "labels": symbols,
        "claimed": epsilon,
        "answers": k,
        "per answer": finite(two["answer"]),
        "one layer": finite(one["answer"]),
        "delta": finite(two["delta"]),
        "per worker": finite(two["worker"]),
        "one layer, worker": finite(one["worker"]),
    }


def _variance_row(place: Sequence[Any], seen: Mapping[str, Any]) -> Row:
    delta, k = place
    return {
        "part": P3,
        "claimed": delta,
        "answers": "any" if k is None else k,
        "per answer": seen["answer"],
        "per worker": seen["worker"],
        "pure epsilon": "none" if seen["pure"] is None else seen["pure"],
    }


def _laplace_row(place: Sequence[Any], seen: Mapping[str, float]) -> Row:
    return _p4_row(f"LP over {place[0]}", seen["answer"], seen["drawn"])


def _response_row(place: Sequence[Any], seen: Mapping[str, float]) -> Row:
    return _p4_row("RR over {0, …, 9} with NULL", seen["answer"], seen["answer"])


def _sparse_row(place: Sequence[Any], seen: Mapping[str, float]) -> Row:
    name = f"2-Layer over {{0, …, 9}} with NULL, {place[0]} reports"
    return _p4_row(name, seen["answer"], seen["answer"])


def _p4_row(mechanism: str, true: float, drawn: float) -> Row:
    return {
        "part": P4,
        "mechanism": mechanism,
        "true": finite(true),
        "of the sampler's integers": finite(drawn),
    }


def _profile_row(place: Sequence[Any], seen: Mapping[str, Any]) -> Row:
    losses = zip(LENGTHS, seen["losses"], strict=True)
    return {
        "part": MF,
        "answers": place[0],
        "delta, at least": seen["delta"],
        "s.e.": seen["s.e."],
        **{f"loss, |u| {length:,.0f}": loss for length, loss in losses},
    }


def _sound_row(place: Sequence[Any], seen: Mapping[str, Any]) -> Row:
    return {
        "part": OURS,
        "mechanism": place[0],
        "answers": seen["answers"],
        "true": finite(seen["epsilon"]),
        "delta": seen["delta"],
    }


_ROWS: Mapping[str, Callable[[Sequence[Any], Any], Row]] = {
    "variance": _variance_row,
    "laplace": _laplace_row,
    "response": _response_row,
    "2-layer": _sparse_row,
    "mf": _profile_row,
    "sound": _sound_row,
}


def charts_of(found: Found) -> Iterator[Chart]:
    """Charts over answers: true epsilon per answer and per worker, and delta at epsilon 1."""
    few = ((2, 0.0), (2, 1.0), (2, 4.0), (5, 1.0))
    yield Chart(
        "True epsilon per answer of two layers (P1 Thm. 6.3)",
        "answers of a worker",
        "true epsilon per answer",
        (
            *(_layers(found, case, "answer") for case in few),
            _layers(found, (2, 1.0), "answer", "one"),
        ),
        tuple(Level("claimed", epsilon) for epsilon in (1.0, 4.0)),
        "P1 Thm. 6.3 claims the epsilon in a curve's name, for any number of answers. It holds "
        "for one answer; the true epsilon then grows like the logarithm of their number.",
        better="lower",
        x_scale="log",
    )
    yield Chart(
        "True epsilon per worker of two layers (P1 Thm. 6.4)",
        "answers of a worker",
        "true epsilon per worker",
        (
            *(_layers(found, case, "worker", least=2) for case in ((2, 0.0), (2, 1.0), (5, 1.0))),
            _layers(found, (2, 1.0), "worker", "one", least=2),
        ),
        (Level("claimed", 1.0),),
        "P1 Thm. 6.4 claims that two layers are as private as one. The true epsilon of all "
        "answers together is about 0.7 per answer at a claimed 0, where one layer has 0; at a "
        "claimed 1 it is smaller than that of one layer with 2 labels, and larger with 5.",
        better="lower",
        x_scale="log",
        y_scale="log",
    )
    yield _deltas(found)


def _deltas(found: Found) -> Chart:
    known = [key[2] for key in found if key[:2] == ("variance", 0.1) and key[2] is not None]
    mf = {place[0]: seen for (kind, *place), seen in found.items() if kind == "mf"}
    return Chart(
        "Failure probability at a claimed epsilon of 1 (P1 Thm. 6.3, P3 Thm. 4.8, P4 Thm. 4)",
        "answers of a worker",
        "true delta at epsilon 1",
        (
            _layers(found, (2, 1.0), "delta"),
            _layers(found, (5, 1.0), "delta"),
            _series("P3, per answer", known, [found["variance", 0.1, k]["answer"] for k in known]),
            _series("P3, per worker", known, [found["variance", 0.1, k]["worker"] for k in known]),
            _series("P4's MF, NULL or a value", list(mf), [mf[k]["delta"] for k in mf]),
            _layers(found, (2, 1.0), "delta", "one"),
        ),
        (Level("P3 claims", 0.1),),
        "P1 Thm. 6.3 and P4 Thm. 4 claim 0 and P3 Thm. 4.8 claims 0.1 per answer. Only P3's "
        "holds; MF's is for one pair of neighbours, so it is a lower bound.",
        better="lower",
        x_scale="log",
    )


def _layers(
    found: Found, case: tuple[int, float], column: str, kind: str = "two", least: int = 1
) -> Series:
    """One curve over the number of answers."""
    seen = {
        key[3]: value[column]
        for key, value in found.items()
        if key[:3] == (kind, *case) and key[3] >= least
    }
    names = {
        "two": f"{case[0]} labels, claimed {case[1]:g}",
        "one": f"one layer, claimed {case[1]:g}",
    }
    return _series(
        names[kind], list(seen), list(seen.values()), "reference" if kind == "one" else "theirs"
    )


def _series(name: str, x: Sequence[int], y: Sequence[float], role: Role = "theirs") -> Series:
    return Series(name, tuple(map(float, x)), tuple(y), role=role)


@dataclass(frozen=True, slots=True)
class Promise:
    """A claim with its worst true value. `stated` is False for a claim that no paper makes."""

    source: str
    mechanism: str
    quantity: str
    claimed: float
    true: float
    stated: bool = True

    @property
    def kept(self) -> bool:
        """Whether the true value is at most the claimed one, up to rounding."""
        return self.true <= self.claimed + SLACK

    @property
    def words(self) -> str:
        """The verdict on the claim; one that is not stated cannot fail."""
        word = "holds" if self.kept else "fails"
        return word if self.stated else f"{word}, but is not stated"

    def row(self) -> Row:
        """One line of the first table."""
        return {
            "part": CLAIMS,
            "source": self.source,
            "mechanism": self.mechanism,
            "claimed": self.claimed,
            "true": finite(self.true),
            "of": self.quantity,
            "verdict": self.words,
        }


def plan(size: Size, seed: int) -> Work:
    """All values by kind; only draws of MF's noise depend on the seed."""
    drawn = DRAWS[size]
    work: dict[tuple[Any, ...], Cell] = {}
    for symbols, epsilon in LAYERS:
        for k in ANSWERS[size]:
            work["two", symbols, epsilon, k] = Cell(published.two_layer, (symbols, epsilon, k))
            work["one", symbols, epsilon, k] = Cell(published.one_layer, (symbols, epsilon, k))
    for epsilon, delta in VARIANCES:
        for answers in VARIANCE_ANSWERS:
            cell = Cell(published.random_variance, (epsilon, delta, answers))
            work["variance", delta, answers] = cell
    for name, values in VALUES.items():
        work["laplace", name] = Cell(published.laplace, (values, 1.0))
    work["response",] = Cell(published.null_response, (10, 1.0, MANY))
    work["2-layer", TASKS] = Cell(published.sparse_two_layer, (10, 1.0, TASKS))
    for k in PROFILE_ANSWERS[size]:
        work["mf", k] = Cell(published.factorization, (1.0, k, drawn, trial_seed(seed, k)))
    for name, delta, hidden in SOUND:
        work["sound", name] = Cell(published.sound, (name, 1.0, delta, MANY, hidden))
    keys = list(work)
    return Work(list(work.values()), lambda results: judge(dict(zip(keys, results, strict=True))))


def judge(found: Found) -> Outcome:
    """Judge the guarantees that are stated: all, some or none of them may hold."""
    claims = promises(found)
    rulings = Rulings(guarantee=_ruling([claim for claim in claims if claim.stated]))
    rows = (*(claim.row() for claim in claims), *rows_of(found))
    return Outcome(rows, rulings, _explanation(found, claims), tuple(charts_of(found)))


def _ruling(stated: Sequence[Promise]) -> Ruling:
    """The reason names the claim that is exceeded by most."""
    broken = [claim for claim in stated if not claim.kept]
    if not broken:
        return Ruling("holds")
    worst = max(broken, key=lambda claim: claim.true - claim.claimed)
    true = f"{worst.true:.3g}" if math.isfinite(worst.true) else "has no bound"
    return Ruling(
        "partly" if len(broken) < len(stated) else "fails",
        f"{len(broken)} of {len(stated)} claims exceeded; worst {worst.source}: "
        f"{worst.quantity} {true}, claimed {worst.claimed:g}",
    )


def promises(found: Found) -> list[Promise]:
    """The papers' claims about their mechanisms, and two that they do not make."""
    two, one = found["two", 2, 1.0, MANY], found["one", 2, 1.0, MANY]
    zero, single, pair = (
        found["two", 2, 0.0, MANY],
        found["two", 2, 1.0, 1],
        found["two", 2, 1.0, 2],
    )
    variance = [found["variance", 0.1, k] for k in VARIANCE_ANSWERS]
    answer, worker = "epsilon per answer", "epsilon per worker"
    return [
        Promise("P1 Thm. 6.2", "one layer", answer, 1.0, one["answer"]),
        Promise("P1 Thm. 6.3", "two layers, one answer", answer, 1.0, single["answer"]),
        Promise("P1 Thm. 6.3", f"two layers, {MANY} answers", answer, 1.0, two["answer"]),
        Promise(
            "P1 Thm. 6.4",
            "two layers as one, 2 answers",
            answer,
            found["one", 2, 1.0, 2]["answer"],
            pair["answer"],
        ),
        Promise(
            "P1 §7.2", f"epsilon 0 reveals nothing, {MANY} answers", answer, 0.0, zero["answer"]
        ),
        Promise("P1", f"two layers, {MANY} answers together", worker, 1.0, two["worker"], False),
        Promise(
            "P3 Thm. 4.8",
            "(1, 0.1), any number of answers",
            "delta per answer",
            0.1,
            max(seen["answer"] for seen in variance),
        ),
        Promise(
            "P3 Thm. 4.8",
            "(1, 0.1), 30 answers together",
            "delta per worker",
            0.1,
            found["variance", 0.1, 30]["worker"],
            False,
        ),
        Promise(
            "P4 Thm. 1", "LP over {0, …, 9}", answer, 1.0, found["laplace", "{0, …, 9}"]["answer"]
        ),
        Promise(
            "P4 Thm. 1", "LP over {0, 100}", answer, 1.0, found["laplace", "{0, 100}"]["answer"]
        ),
        Promise("P4 Eq. 8", "RR with NULL", answer, 1.0, found["response",]["answer"]),
        Promise("P4 Thm. 4", "MF, value to value", answer, 1.0, found["mf", SPARSE]["value"]),
        Promise(
            "P4 Thm. 4", "MF, NULL to value", answer, 1.0, _bound(found["mf", SPARSE]["losses"])
        ),
    ]


def _bound(losses: Sequence[float]) -> float:
    """The largest loss at increasing u, or infinity if losses keep growing."""
    *_, before, last = losses
    return math.inf if last >= STEEP * before else max(losses)


def _explanation(found: Found, claims: Sequence[Promise]) -> str:
    two, one, zero = (
        found["two", 2, 1.0, MANY],
        found["one", 2, 1.0, MANY],
        found["two", 2, 0.0, MANY],
    )
    variance, mf = found["variance", 0.1, 30], found["mf", SPARSE]
    stated = [claim for claim in claims if claim.stated]
    return (
        f"Exceeded: {_listed(claim for claim in stated if not claim.kept)}. Kept: "
        f"{_listed(claim for claim in stated if claim.kept)}. Two layers share a worker's flip "
        f"probability among its answers: at a claimed epsilon of 1 and {MANY} answers the true "
        f"one is {two['answer']:.2f} per answer and {two['worker']:.0f} per worker (one layer: "
        f"{one['answer']:.2f} and {one['worker']:.0f}), or at epsilon 1 per answer delta is "
        f"{two['delta']:.2f}; at a claimed 0 it is {zero['answer']:.2f} per answer. The true "
        f"value of P3's delta of 0.1 is {variance['answer']:.4f} per answer for 30 answers, and "
        f"{variance['worker']:.2f} per worker; for two or more answers no pure epsilon exists. LP "
        "uses the number of values instead of the range: at a claimed 1 the true epsilon is "
        f"{found['laplace', '{0, …, 9}']['answer']:g} for the values 0 to 9 and "
        f"{found['laplace', '{0, 100}']['answer']:g} for 0 and 100. Under MF the loss between "
        f"NULL and a value is {mf['losses'][-1]:.0f} where u is {published.LENGTHS[-1]:,.0f} "
        f"long; and for a worker with {SPARSE} answers, as in P4's crowd, a claimed epsilon of 1 "
        f"needs a delta of at least {mf['delta']:.2f}."
    )


def _listed(claims: Iterable[Promise]) -> str:
    return ", ".join(f"{claim.source} ({claim.mechanism})" for claim in claims) or "none"


STUDY = Study(
    "true-guarantees",
    "The published mechanisms of P1, P3 and P4 have the guarantees that are claimed for them, "
    "for any number of answers of a worker",
    "P1 Thms. 6.2 to 6.4 and §7.2, P3 Thm. 4.8, P4 Thms. 1 and 4 and Eq. 8",
    "the attacker sees all reports of a worker; per answer, two lists of answers differ in one "
    "of them, per worker in all; P1's and P4's definitions are read per answer, and guarantees "
    "per worker are not judged, since no paper states one; P3 prints no delta, P4 no dimension: "
    f"0.1 and {published.DIMENSION} are ours; a claim is exceeded when the true value is above it "
    f"by more than {SLACK:g}; only MF's noise is drawn, and there are no ties",
    plan,
    "fewer numbers of answers, and a tenth of the draws of MF's noise",
    recorded=("not claimed", "not claimed", "partly"),
)
